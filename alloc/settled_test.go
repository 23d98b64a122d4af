package alloc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// goOn carries d out on p, and hands on what it says.
func goOn(p *alloc.Problem, d *alloc.Decision) {
	moveTo(p, d)
	d.HandOn(p)
}

// owed reports whether d has changed something for another reason than that it is worth more.
func owed(p *alloc.Problem, d *alloc.Decision) bool {
	started := 0
	for _, share := range d.Shares {
		if share.Containers > 0 && p.Previous.Containers(share.ID) == 0 {
			started++
		}
	}
	return started+d.Metrics.Forced+len(d.Draining)+len(d.Yielding)+len(d.Suspended) > 0 || d.LeastLoss != nil
}

// exactly solves an instance of a few applications and servers by trying everything.
type exactly struct{}

func (exactly) Solve(_ context.Context, inst *solver.Instance) (*solver.Solution, error) {
	best, _ := p2oracle.Best(inst)
	if best == nil {
		return &solver.Solution{Status: solver.Infeasible, Bound: inst.Cap()}, nil
	}
	worth := inst.Objective(best)
	return &solver.Solution{Status: solver.Optimal, Counts: best, Objective: worth, Bound: worth}, nil
}

// At any theta and with every feature, in states that decisions and completions lead to: a decision on its own answer adjusts nobody unless
// something is owed, whether the solver is exact or not; and where nothing of it is handed back and restarts have a price the worth net of
// prices rises.
func TestPropQuiet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		p.Options.Paper = false
		p.Theta1, p.Theta2 = rapid.Float64Range(0, 1).Draw(t, "any theta1"), rapid.Float64Range(0, 1).Draw(t, "any theta2")
		if rapid.Bool().Draw(t, "no price") {
			p.Options.RestartCost = new(float64)
		}
		var by solver.Solver
		if rapid.IntRange(0, 3).Draw(t, "exact") == 0 {
			by = exactly{}
			p.Servers, p.Applications = p.Servers[:min(len(p.Servers), 2)], p.Applications[:min(len(p.Applications), 3)]
		}
		d := reallocateBy(t, p, by)
		if len(p.Applications) > 1 && rapid.Bool().Draw(t, "one completes") {
			goOn(p, d)
			p.Applications = p.Applications[1:]
			d = reallocateBy(t, p, by)
		}
		for range 3 {
			goOn(p, d)
			late := d.LeastLoss != nil // what runs loses more than Theta1 allows
			if d = reallocateBy(t, p, by); late || owed(p, d) {
				continue
			}
			if d.Metrics.Adjusted > 0 || d.Metrics.Preempted > 0 {
				t.Fatalf("with nothing owed %d are adjusted: %+v", d.Metrics.Adjusted, d.Shares)
			}
			forgotten := *p
			forgotten.Settled = nil
			again := reallocateBy(t, &forgotten, by)
			if owed(p, again) || p.Options.RestartCost != nil {
				continue
			}
			if more := again.Objective - d.Objective; more < -solver.ObjectiveTolerance || again.Metrics.Adjusted > 0 && more <= 0 {
				t.Fatalf("%d are adjusted for %g more than %g", again.Metrics.Adjusted, more, d.Objective)
			}
		}
	})
}

// What has changed less than MinRun ago keeps what it has, unless it is forced, drained or has to yield; where none of that is possible it is as
// good as pinned.
func TestPropMinRun(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		p.Options.Paper, p.Options.MinRun = false, 10
		for i := range p.Applications {
			held := float64(rapid.IntRange(5, 14).Draw(t, "held"))
			p.Applications[i].Held = &held
		}
		d := reallocateBy(t, p, nil)
		pinned, plain := *p, d.Metrics.Forced+len(d.Draining)+len(d.Yielding) == 0
		pinned.Applications, pinned.Options.MinRun = slices.Clone(p.Applications), 0
		for i := range p.Applications {
			app, share := &pinned.Applications[i], &d.Shares[i]
			if *app.Held >= 10 {
				continue
			}
			app.Pinned = true
			suspended := slices.ContainsFunc(d.Suspended, func(w alloc.Waiting) bool { return w.ID == app.ID && len(p.Queues) > 0 })
			if share.Adjusted && !share.Forced && !suspended && !slices.Contains(d.Draining, app.ID) && !slices.Contains(d.Yielding, app.ID) {
				t.Fatalf("%q is changed after %g of 10: %+v", app.ID, *app.Held, share)
			}
		}
		if plain = plain && !slices.ContainsFunc(p.Servers, func(s apportion.Server) bool { return s.Cordoned }); !plain || p.Queues != nil {
			return
		}
		compared++
		if other := reallocateBy(t, &pinned, nil); !reflect.DeepEqual(other.Allocation, d.Allocation) {
			t.Fatalf("%v, and pinned %v", d.Allocation, other.Allocation)
		}
	})
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

// reallocateBy is a decision of a solver, nil for the embedded one, whose decisions survive being recorded: the exact one proves nothing.
func reallocateBy(t *rapid.T, p *alloc.Problem, by solver.Solver) *alloc.Decision {
	decide := func() (*alloc.Decision, error) { return recorded(t, context.Background(), p, nil) }
	if by != nil {
		decide = func() (*alloc.Decision, error) { return alloc.Reallocate(context.Background(), p, by) }
	}
	d, err := decide()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// days returns 16 servers of 8 GPUs and elastic jobs that want more than there is.
func days(seed uint64, jobs int) *alloc.Problem {
	r := rand.New(rand.NewPCG(seed, 16))
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Theta1: 1, Theta2: .1}
	for j := range 16 {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{96, 8}})
	}
	for i := range jobs {
		p.Applications = append(p.Applications, alloc.Application{ID: fmt.Sprint("a", i), Weight: 1,
			Form: alloc.Form{Demand: apportion.Resources{4 + r.Int64N(8), 1}, Min: 1, Max: 4 + r.Int64N(16)}})
	}
	return p
}

// Where restarts have no price a decision whose answer runs is not taken anew: asked six times with nothing new nobody is restarted,
// and by a caller that hands nothing back some are at each call.
func TestAskedAgain(t *testing.T) {
	for _, handsBack := range []bool{true, false} {
		p, restarts := days(1, 24), 0
		p.Options.RestartCost = new(float64)
		d := reallocate(t, p)
		goOn(p, d)
		p.Applications = p.Applications[2:]
		for call := range 6 {
			if !handsBack {
				p.Settled = nil
			}
			d = reallocate(t, p)
			if call > 0 {
				restarts += d.Metrics.Adjusted
			}
			goOn(p, d)
		}
		t.Logf("handed back %v: %d restarts at quiet calls, %.4f of the GPUs", handsBack, restarts, d.Metrics.Utilization[1])
		if handsBack == (restarts > 0) {
			t.Errorf("%d restarts at quiet calls", restarts)
		}
	}
}

// A caller that looks while an answer is being carried out is told the same again: what has begun is not undone.
func TestAskedHalfWay(t *testing.T) {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{8}}}, Theta2: 1,
		Applications: []alloc.Application{{ID: "a", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}}}}
	for _, there := range []int64{2, 2, 5, 7, 8} {
		p.Previous = alloc.Allocation{"a": {"s": there}}
		d := reallocate(t, p)
		if n := d.Allocation.Containers("a"); n != 8 {
			t.Errorf("with %d there it is to have %d", there, n)
		}
		d.HandOn(p)
	}
}

// Any change of the question is seen, and what follows from time and from decisions is none.
func TestQuestion(t *testing.T) {
	p := days(1, 24)
	d := reallocate(t, p)
	goOn(p, d)
	for name, change := range map[string]func(p *alloc.Problem){
		"a weight":    func(p *alloc.Problem) { p.Applications[0].Weight = 2 },
		"a capacity":  func(p *alloc.Problem) { p.Servers[0].Capacity = apportion.Resources{90, 8} },
		"an option":   func(p *alloc.Problem) { p.Theta2 = .11 },
		"a most":      func(p *alloc.Problem) { p.Applications[0].Most = 30 },
		"a completed": func(p *alloc.Problem) { p.Applications = p.Applications[1:] },
	} {
		other := *p
		other.Applications, other.Servers = append([]alloc.Application(nil), p.Applications...), append([]apportion.Server(nil), p.Servers...)
		change(&other)
		if again := reallocate(t, &other); again.Settled.Digest == p.Settled.Digest {
			t.Errorf("%s is no change", name)
		}
	}
	ends := 5.
	p.Applications[0].Ends, p.Applications[1].Passed, p.Applications[2].Held = &ends, 0, &ends
	if again := reallocate(t, p); again.Settled.Digest != p.Settled.Digest || again.Metrics.Adjusted > 0 {
		t.Error("an end is a change")
	}
}

// An answer that was cut short settles nothing: asked again with time, a better one is found.
func TestInterruptedSettlesNothing(t *testing.T) {
	p := days(1, 20)
	p.Theta2 = 1
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	d, err := alloc.Reallocate(ended, p, nil)
	if err != nil || !d.Interrupted || d.Settled != nil {
		t.Fatalf("%+v, %v", d, err)
	}
	goOn(p, d)
	if again := reallocate(t, p); again.Objective <= d.Objective || again.Settled == nil {
		t.Errorf("%g after %g, settled %v", again.Objective, d.Objective, again.Settled)
	}
}

// What is claimed to be settled is checked.
func TestSettledIsChecked(t *testing.T) {
	p := days(1, 20)
	for _, change := range []func(s *alloc.Settled){
		func(s *alloc.Settled) { s.Digest = "x" }, func(s *alloc.Settled) { s.Allocation = "x" },
	} {
		d := reallocate(t, p)
		change(d.Settled)
		if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) {
			t.Errorf("%+v is taken: %v", d.Settled, err)
		}
	}
}

// One that grows for the first time, which costs nothing in (16), makes room for one that is forced: what it has grown by in the search of
// admission is not taken back, since to shrink costs.
func TestFirstGrowthIsKept(t *testing.T) {
	var p alloc.Problem
	text := `{"kinds": ["cpu"], "theta1": 0.5, "theta2": 0, "options": {"restart_cost": 0},
		"servers": [{"id": "s0", "capacity": [3], "labels": {"zone": "a"}}, {"id": "s1", "capacity": [3]}, {"id": "s2", "capacity": [3]}],
		"applications": [
			{"id": "a0", "demand": [1], "max": 3, "min": 1, "step": 2, "weight": 4},
			{"id": "a1", "demand": [3], "max": 3, "most": 1, "worth": [0, -0.5, -0.25], "idle_worth": 2.25, "stay_worth": 0.25, "weight": 0.5, "priority": 1},
			{"id": "a2", "demand": [1], "max": 6, "min": 2, "max_servers": 1, "requires": [{"key": "zone", "op": "in", "values": ["a"]}], "weight": 0.5, "priority": 1}],
		"previous": {"a1": {"s0": 1}, "a2": {"s2": 2}}}`
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	if _, err := alloc.Verify(&p, reallocate(t, &p)); err != nil {
		t.Error(err)
	}
}
