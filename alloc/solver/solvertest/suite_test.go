package solvertest

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// recording is the default solver; it keeps what it was asked.
type recording struct {
	mutant
	asked []*solver.Instance
}

func (r *recording) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	r.asked = append(r.asked, inst)
	return r.mutant.Solve(ctx, inst)
}

// probed runs one check with a recording solver and these options.
func probed(t *testing.T, opts Options, run func(*probe) error) *recording {
	t.Helper()
	by := new(recording)
	if err := run(&probe{Solver: by, opts: opts, ctx: context.Background()}); err != nil {
		t.Error(err)
	}
	return by
}

// Every size is drawn once fresh and once full, by a seed of its own, and named so that it can be drawn again.
func TestEach(t *testing.T) {
	opts := Options{Sizes: []Size{{2, 3}, {4, 5}}}
	for f, family := range alloctest.Families() {
		var names []string
		err := families()[f].each(&probe{opts: opts}, func(name string, inst *solver.Instance) error {
			names = append(names, name)
			seed, previous := uint64(len(names)-1)/2, len(names)%2 == 0
			size := opts.Sizes[seed]
			if want, _ := family.Draw(seed, size.Servers, size.Apps, previous); !reflect.DeepEqual(want, inst) {
				t.Errorf("%s is another instance", name)
			}
			return nil
		})
		want := "(0, 2, 3, false) (0, 2, 3, true) (1, 4, 5, false) (1, 4, 5, true)"
		if got := strings.ReplaceAll(strings.Join(names, " "), "alloctest."+family.Name, ""); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", family.Name, got, err, want)
		}
	}
	broken := errors.New("broken")
	err := families()[0].each(&probe{opts: opts}, func(string, *solver.Instance) error { return broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "alloctest.Table2(0, 2, 3, false)") {
		t.Errorf("%v, want the instance named", err)
	}
}

// How much is asked follows from the options.
func TestHowMuchIsAsked(t *testing.T) {
	opts := (&Options{Instances: 7, Sizes: []Size{{2, 3}, {3, 4}}}).complete()
	for name, c := range map[string]struct {
		run  func(*probe) error
		want int
	}{
		"known":         {known, len(knownCases)},
		"enumerated":    {enumerated, 7},
		"refereed":      {families()[1].refereed, 4},
		"deterministic": {families()[1].deterministic, 8},
		"cancelled":     {cancelledBefore, len(families())},
	} {
		if by := probed(t, opts, c.run); len(by.asked) != c.want {
			t.Errorf("%s asks %d times, want %d", name, len(by.asked), c.want)
		}
	}
	by := probed(t, opts, families()[2].deterministic)
	for n := 0; n < len(by.asked); n += 2 {
		first, again := by.asked[n], by.asked[n+1]
		if first == again || &first.Apps[0] == &again.Apps[0] || !reflect.DeepEqual(first, again) {
			t.Errorf("question %d is not asked again with a copy", n)
		}
	}
	for _, inst := range probed(t, opts, cancelledInside).asked {
		if len(inst.Capacity) != 3 || len(inst.Apps) != 4 {
			t.Errorf("cancelled on %d servers and %d applications, want the last size", len(inst.Capacity), len(inst.Apps))
		}
	}
}

// A clone is the same and shares nothing: whatever is written into it, the original stays.
func TestClone(t *testing.T) {
	inst, want := Tiny(), Tiny()
	c := clone(inst)
	if !reflect.DeepEqual(c, want) {
		t.Fatalf("%+v, want %+v", c, want)
	}
	c.Total[0], c.Capacity[0][0], c.Capacity[1] = -1, -1, nil
	c.Apps[0].Demand[0], c.Apps[0].Previous[0].Count, c.Apps[1].Max = -1, -1, -1
	c.LossBudget, c.AdjustBudget = -1, -1
	if !reflect.DeepEqual(inst, want) {
		t.Errorf("%+v has changed", inst)
	}
}

// panicking answers by a panic.
type panicking struct{}

func (panicking) Solve(context.Context, *solver.Instance) (*solver.Solution, error) { panic("oh") }

// A solver that refuses is right, one that answers or panics is not, and each is named with what it was given.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		by   solver.Solver
		want string
	}{
		{&answers{err: errors.New("no")}, ""},
		{&answers{solution: &solver.Solution{}}, "nonsense: taken for an instance"},
		{panicking{}, "nonsense: panics: oh"},
	} {
		p := &probe{Solver: c.by, ctx: context.Background()}
		if err := p.refuses("nonsense", Tiny()); !says(err, c.want) {
			t.Errorf("%T: %v, want %q", c.by, err, c.want)
		}
	}
}

// What is handed over as no instance is none, each for its own reason.
func TestRefusedAreNone(t *testing.T) {
	by := &collecting{}
	if err := refused(&probe{Solver: by, ctx: context.Background()}); err != nil {
		t.Fatal(err)
	}
	if len(by.faults) != 40 {
		t.Errorf("%d spoilt instances", len(by.faults))
	}
	slices.Sort(by.faults)
	if distinct := len(slices.Compact(by.faults)); distinct < 37 {
		t.Errorf("%d different faults: %q", distinct, by.faults)
	}
}

// collecting keeps what Validate says about each instance.
type collecting struct{ faults []string }

func (c *collecting) Solve(_ context.Context, inst *solver.Instance) (*solver.Solution, error) {
	err := inst.Validate()
	if err != nil {
		c.faults = append(c.faults, err.Error())
	}
	return &solver.Solution{}, err
}

// The suite has every check once, by a name that go test can select.
func TestChecks(t *testing.T) {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
		if c.run == nil {
			t.Errorf("%s does nothing", c.name)
		}
	}
	want := []string{
		"known answers", "random against enumeration", "known answers of the whole program", "general against enumeration",
		"known worths", "worths against enumeration", "losses against enumeration", "known options", "options against enumeration", "no instance", "cancelled before the start", "cancelled in the middle",
		"referee/Table2", "deterministic/Table2", "referee/Mixed", "deterministic/Mixed", "referee/Nodes", "deterministic/Nodes",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// What is known of the named cases is true, by enumeration: the status, and the utilization to the last digit.
func TestKnownCases(t *testing.T) {
	for _, c := range slices.Concat(knownCases, wholeCases, worthCases) {
		inst := Tiny()
		c.change(inst)
		if err := inst.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		best, solutions := p2oracle.Best(inst)
		if (solutions > 0) != (c.optimum != none) || best != nil && math.Abs(inst.Objective(best)-c.optimum) > 1e-12 {
			got := none
			if best != nil {
				got = inst.Objective(best)
			}
			t.Errorf("%s: %d solutions, the best is worth %g, want %g", c.name, solutions, got, c.optimum)
		}
	}
}

// Small instances come in every shape that their comment says, and within its limits.
func TestSmallShapes(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(400) {
		inst := Small(seed)
		if len(inst.Capacity) > 2 || len(inst.Apps) > 3 || len(inst.Total) > 3 || !reflect.DeepEqual(inst, Small(seed)) {
			t.Fatalf("Small(%d) is too large, or another when drawn again: %+v", seed, inst)
		}
		for i := range inst.Apps {
			app := &inst.Apps[i]
			seen["displaced"] = seen["displaced"] || app.Displaced
			seen["new"] = seen["new"] || !app.Running
			seen["stays"] = seen["stays"] || app.Running && !app.Displaced
			seen["outside its bounds"] = seen["outside its bounds"] || solver.Containers(app.Previous) > app.Max
			for _, p := range app.Previous {
				seen["too large for its server"] = seen["too large for its server"] || p.Count > app.Demand.CountIn(inst.Capacity[p.Server])
			}
			if app.Max > 3 || app.Demand.IsZero() {
				t.Errorf("Small(%d): %+v", seed, app)
			}
		}
		for _, total := range inst.Total {
			seen["a kind of nothing"] = seen["a kind of nothing"] || total == 0
		}
	}
	for _, shape := range []string{"displaced", "new", "stays", "outside its bounds", "too large for its server", "a kind of nothing"} {
		if !seen[shape] {
			t.Errorf("none is %s", shape)
		}
	}
}

// Tiny is what its comment says: what runs fits, and every number follows from demand and capacity.
func TestTiny(t *testing.T) {
	inst := Tiny()
	if err := inst.Validate(); err != nil {
		t.Fatal(err)
	}
	used, err := inst.Used(held(inst))
	if err != nil || !used[0].Equal(apportion.Resources{4, 0, 6}) || !used[1].Equal(apportion.Resources{4, 0, 4}) {
		t.Errorf("%v is used, %v", used, err)
	}
	for i := range inst.Apps {
		value := 0.0
		for k, d := range inst.Apps[i].Demand {
			value += float64(d) / float64(inst.Total[k])
		}
		if delta, _ := inst.Apps[i].Demand.DominantShare(inst.Total); value != inst.Apps[i].Value || delta != inst.Apps[i].Delta {
			t.Errorf("application %d: value %g and delta %g", i, value, delta)
		}
	}
}

// A solver that returns late is a fault of its own, also where its answer is right.
func TestLateIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes Patience")
	}
	late := mutant{before: func(ctx context.Context, inst *solver.Instance) (context.Context, *solver.Instance) {
		time.Sleep(Patience + 100*time.Millisecond)
		return ctx, inst
	}}
	p := &probe{Solver: late, opts: Options{Sizes: []Size{{2, 3}}}, ctx: context.Background()}
	if err := p.cancelled(0); !says(err, "after the context had ended") {
		t.Error(err)
	}
}
