package solvertest

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// twin is enumeration as a solver of the whole program. What it is told to forget it does not see.
type twin struct {
	forget func(inst *solver.Instance, app *solver.App)
	asked  []*solver.Instance
}

func (w *twin) Solve(_ context.Context, inst *solver.Instance) (*solver.Solution, error) {
	w.asked = append(w.asked, inst)
	seen := clone(inst)
	for i := range seen.Apps {
		if w.forget != nil {
			w.forget(seen, &seen.Apps[i])
		}
	}
	best, _ := p2oracle.Best(seen)
	if best == nil {
		return &solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}, nil
	}
	objective := inst.Objective(best)
	return &solver.Solution{Status: solver.Optimal, Proven: solver.ByMoved, Counts: best, Objective: objective, Bound: objective,
		Certificate: solver.Certificate{Searched: true}}, nil
}

// Enumeration itself passes, asked as often as the options say, with instances that can be drawn again.
func TestGeneral(t *testing.T) {
	by := &twin{}
	p := &probe{Solver: by, opts: (&Options{General: 250}).complete(), ctx: context.Background()}
	if err := general(p); err != nil {
		t.Error(err)
	}
	if len(by.asked) != 250 || !reflect.DeepEqual(by.asked[9], General(9)) || *p.busy.Load() != "solvertest.General(249)" {
		t.Errorf("asked %d times, last for %s", len(by.asked), *p.busy.Load())
	}
}

// features are what a solver may forget: each makes the program one without it.
var features = map[string]func(inst *solver.Instance, app *solver.App){
	"classes of servers": func(inst *solver.Instance, _ *solver.App) { inst.Class = nil },
	"classes":            func(_ *solver.Instance, app *solver.App) { app.Classes = nil },
	"step":               func(_ *solver.Instance, app *solver.App) { app.Step = 0 },
	"counts":             func(_ *solver.Instance, app *solver.App) { app.Counts = nil },
	"elective":           func(_ *solver.Instance, app *solver.App) { app.Elective = false },
	"by server":          func(_ *solver.Instance, app *solver.App) { app.PerServer = 0 },
	"servers":            func(_ *solver.Instance, app *solver.App) { app.MaxServers = 0 },
	"pinned":             func(_ *solver.Instance, app *solver.App) { app.Pinned = false },
	"cost":               func(_ *solver.Instance, app *solver.App) { app.Cost = 1 },
	"price of loss":      func(inst *solver.Instance, _ *solver.App) { inst.LossPrice = 0 },
	"what it may keep": func(inst *solver.Instance, app *solver.App) {
		for i := range inst.Apps {
			if app == &inst.Apps[i] && slices.ContainsFunc(app.Previous, func(p apportion.Placement) bool { return !inst.Open(i, p.Server) }) {
				app.Displaced, app.Pinned = true, false
			}
		}
	},
}

// A solver that ignores one of the features is caught, and its instance is named: by the known answers, and by
// random instances alone.
func TestForgottenIsCaught(t *testing.T) {
	for name, forget := range features {
		p := &probe{Solver: &twin{forget: forget}, opts: Options{General: defaultGeneral}, ctx: context.Background()}
		if err := knownWhole(p); err == nil {
			t.Errorf("a solver that forgets %s knows all answers", name)
		}
		if err := general(p); err == nil || !strings.HasPrefix(err.Error(), "solvertest.General(") {
			t.Errorf("a solver that forgets %s: %v", name, err)
		}
	}
}

// worthFeatures are what a solver may forget of worths.
var worthFeatures = map[string]func(app *solver.App){
	"worths": func(app *solver.App) { app.Worth, app.Idle = nil, 0 },
	"none":   func(app *solver.App) { app.Idle = 0 },
	"stay":   func(app *solver.App) { app.Stay = 0 },
	"values": func(app *solver.App) {
		if app.Worth != nil {
			app.Value = 0
		}
	},
	// Only the largest number counts, as if the curve were a line.
	"all but the ends": func(app *solver.App) {
		for at := range app.Worth {
			last := len(app.Worth) - 1
			app.Worth[at] = app.Worth[last] * float64(at+1) / float64(last+1)
		}
	},
}

// A solver that forgets one of these is caught by random instances; most of them by the known ones, too.
func TestForgottenWorthIsCaught(t *testing.T) {
	for name, forget := range worthFeatures {
		p := &probe{Solver: &twin{forget: func(_ *solver.Instance, app *solver.App) { forget(app) }}, opts: Options{General: defaultGeneral}, ctx: context.Background()}
		if err := worths(p); err == nil || !strings.HasPrefix(err.Error(), "solvertest.Worth(") {
			t.Errorf("a solver that forgets %s: %v", name, err)
		}
		if err := knownWorths(p); err == nil && name != "values" {
			t.Errorf("a solver that forgets %s knows all answers", name)
		}
	}
}

// A solver that takes losses by number for the formula of shares, or for a line, is caught by random instances.
func TestForgottenLossIsCaught(t *testing.T) {
	for name, forget := range map[string]func(app *solver.App){
		"all of them": func(app *solver.App) { app.Losses = nil },
		"all but the ends": func(app *solver.App) {
			if last := len(app.Losses) - 1; last > 1 {
				app.Losses = []solver.LossPoint{app.Losses[0], app.Losses[last]}
			}
		},
	} {
		p := &probe{Solver: &twin{forget: func(_ *solver.Instance, app *solver.App) { forget(app) }}, opts: Options{General: defaultGeneral}, ctx: context.Background()}
		if err := losses(p); err == nil || !strings.HasPrefix(err.Error(), "solvertest.Loss(") {
			t.Errorf("a solver that forgets %s: %v", name, err)
		}
	}
}

// Losses come in every shape that their comment says, and bind.
func TestLossShapes(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(400) {
		inst := Loss(seed)
		if err := inst.Validate(); err != nil {
			t.Fatalf("%d: %v", seed, err)
		}
		for i := range inst.Apps {
			points := inst.Apps[i].Losses
			if points == nil {
				seen["by shares"]++
				continue
			}
			last := points[len(points)-1]
			if last.N < inst.Apps[i].Max {
				seen["no point at the end"]++
			}
			if int64(len(points)) < last.N+1 {
				seen["a gap"]++
			}
			for p := 1; p+1 < len(points); p++ {
				before := (points[p].Loss - points[p-1].Loss) / float64(points[p].N-points[p-1].N)
				if after := (points[p+1].Loss - points[p].Loss) / float64(points[p+1].N-points[p].N); after < before {
					seen["not convex"]++
				}
			}
		}
	}
	for _, shape := range []string{"by shares", "no point at the end", "a gap", "not convex"} {
		if seen[shape] < 40 {
			t.Errorf("%q %d times", shape, seen[shape])
		}
	}
}

// Worths come in every shape that their comment says.
func TestWorthShapes(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(400) {
		inst := Worth(seed)
		if err := inst.Validate(); err != nil {
			t.Fatalf("%d: %v", seed, err)
		}
		for i := range inst.Apps {
			shapeOfWorth(seen, &inst.Apps[i])
		}
	}
	for _, shape := range []string{"falls", "below nothing", "concave", "not concave", "beside utilization", "alone", "of a list", "in steps", "worth nothing by being away", "stay"} {
		if seen[shape] < 20 {
			t.Errorf("%s: %d times", shape, seen[shape])
		}
	}
}

// shapeOfWorth counts the shapes of an application's worths.
func shapeOfWorth(seen map[string]int, app *solver.App) {
	note := func(shape string, is bool) {
		if is {
			seen[shape]++
		}
	}
	note("stay", app.Stay > 0)
	if app.Worth == nil {
		return
	}
	concave := true
	for at := 1; at < len(app.Worth); at++ {
		note("falls", app.Worth[at] < app.Worth[at-1])
		concave = concave && (at < 2 || app.Worth[at]-app.Worth[at-1] <= app.Worth[at-1]-app.Worth[at-2])
	}
	note("concave", len(app.Worth) > 2 && concave)
	note("not concave", !concave)
	note("below nothing", slices.ContainsFunc(app.Worth, func(w float64) bool { return w < 0 }))
	note("beside utilization", app.Value > 0)
	note("alone", app.Value == 0)
	note("of a list", app.Counts != nil)
	note("in steps", app.Step > 1 && len(app.Worth) > 1)
	note("worth nothing by being away", app.Idle != 0 && app.Allows(0))
}

// A clone of the whole program shares nothing either.
func TestCloneGeneral(t *testing.T) {
	inst, want := Tiny(), Tiny()
	for _, i := range []*solver.Instance{inst, want} {
		i.Class, i.Apps[0].Counts, i.Apps[1].Classes = []int{0, 1}, []int64{1, 2}, []int{1}
		i.Apps[0].Worth = []float64{1, 2}
	}
	c := clone(inst)
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
	c.Class[0], c.Apps[0].Counts[1], c.Apps[1].Classes[0], c.Apps[0].Worth[0] = 9, 9, 9, 9
	if !reflect.DeepEqual(inst, want) {
		t.Errorf("%+v has changed", inst)
	}
}

// shapesOf adds what an instance has that the paper's have not.
func shapesOf(seen map[string]int, inst *solver.Instance) {
	note := func(shape string, is bool) {
		if is {
			seen[shape]++
		}
	}
	note("classes of servers", inst.Class != nil)
	note("price of loss", inst.LossPrice > 0 && inst.LossPrice < 1)
	note("least loss", inst.LossPrice == 1)
	note("equal servers", len(inst.Capacity) > 1 && inst.Capacity[0].Equal(inst.Capacity[1]))
	for i := range inst.Apps {
		app := &inst.Apps[i]
		note("step", app.Step > 1)
		note("counts", app.Counts != nil)
		note("no number", app.AtLeast(0) < 0)
		note("elective", app.Elective && app.Min > 0)
		note("a gap above none", app.Elective && app.AtLeast(1) > max(1, app.Step))
		note("by server", app.PerServer > 0)
		note("servers", app.MaxServers > 0)
		note("pinned", app.Pinned)
		note("free", app.Running && app.Cost == 0)
		note("dear", app.Running && app.Cost > 1)
		for _, p := range app.Previous {
			note("on a server that is closed to it", !app.Displaced && !inst.Open(i, p.Server))
			note("too many on a server", app.PerServer > 0 && p.Count > app.PerServer)
		}
		note("on too many servers", app.MaxServers > 0 && int64(len(app.Previous)) > app.MaxServers)
	}
}

// General and Medium draw every shape that their comments say, valid instances each, and the same when drawn again.
func TestGeneralShapes(t *testing.T) {
	for name, draw := range map[string]func(uint64) *solver.Instance{"General": General, "Medium": Medium} {
		seen := map[string]int{}
		for seed := range uint64(400) {
			inst := draw(seed)
			if err := inst.Validate(); err != nil || !reflect.DeepEqual(inst, draw(seed)) {
				t.Fatalf("%s(%d): %v", name, seed, err)
			}
			shapesOf(seen, inst)
			for i := range inst.Apps { // as the cap requires
				worth := 0.0
				for k, d := range inst.Apps[i].Demand {
					if d > 0 {
						worth += float64(d) / float64(inst.Total[k]) // infinite for what no server has
					}
				}
				if inst.Apps[i].Value > worth+1e-12 {
					t.Errorf("%s(%d): application %d is worth %g, more than its part %g", name, seed, i, inst.Apps[i].Value, worth)
				}
			}
			if name == "Medium" && (len(inst.Capacity) != 4 || len(inst.Apps) != 5) {
				t.Fatalf("Medium(%d) has %d servers and %d applications", seed, len(inst.Capacity), len(inst.Apps))
			}
		}
		for _, shape := range []string{"classes of servers", "price of loss", "least loss", "equal servers", "step", "counts", "no number", "elective",
			"a gap above none", "by server", "servers", "pinned", "free", "dear", "on a server that is closed to it", "too many on a server", "on too many servers"} {
			if seen[shape] < 10 {
				t.Errorf("%s: %d of 400 have %s", name, seen[shape], shape)
			}
		}
	}
}

// At least a third of the general instances have a solution, and a third have none.
func TestGeneralIsMixed(t *testing.T) {
	solvable := 0
	for seed := range uint64(300) {
		if best, _ := p2oracle.Best(General(seed)); best != nil {
			solvable++
		}
	}
	if solvable < 100 || solvable > 200 {
		t.Errorf("%d of 300 have a solution", solvable)
	}
}

// Everything is valid, the same when drawn again, and in a few hundred instances has each of what others have apart.
func TestEverything(t *testing.T) {
	var worths, losses, ceilings, choices, closed int
	for seed := range uint64(300) {
		inst := Everything(seed)
		if err := inst.Validate(); err != nil {
			t.Fatalf("%d: %v", seed, err)
		}
		if !reflect.DeepEqual(inst, Everything(seed)) {
			t.Fatalf("%d is another one when drawn again", seed)
		}
		has := func(ok func(app solver.App) bool) int {
			if slices.ContainsFunc(inst.Apps, ok) {
				return 1
			}
			return 0
		}
		worths += has(func(app solver.App) bool { return app.Worth != nil })
		losses += has(func(app solver.App) bool { return app.Losses != nil })
		closed += has(func(app solver.App) bool { return app.Classes != nil })
		ceilings += min(1, len(inst.Groups))
		choices += len(inst.Choices)
	}
	for what, n := range map[string]int{"worths": worths, "losses": losses, "closed servers": closed, "ceilings": ceilings, "choices": choices} {
		if n < 60 {
			t.Errorf("%d of 300 have %s", n, what)
		}
	}
}
