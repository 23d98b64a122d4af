package solvertest

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// mutant is the default solver with a fault.
type mutant struct {
	name string
	// caught is the name of a check that must fail, with text in its message.
	caught, text string
	// before changes what the solver is given, after what it answers; nil: nothing.
	before func(ctx context.Context, inst *solver.Instance) (context.Context, *solver.Instance)
	after  func(inst *solver.Instance, s *solver.Solution)
	// careless takes anything for an instance, silent answers nothing.
	careless, silent bool
}

func (m mutant) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	switch {
	case m.careless && inst.Validate() != nil:
		return &solver.Solution{}, nil
	case m.silent:
		return nil, nil
	}
	if m.before != nil {
		ctx, inst = m.before(ctx, inst)
	}
	s, err := embedded.New(&embedded.Options{Effort: embedded.Quick}).Solve(ctx, inst)
	if err == nil && m.after != nil {
		m.after(inst, s)
	}
	return s, err
}

// named returns the check of this name.
func named(t *testing.T, name string) check {
	t.Helper()
	all := checks()
	at := slices.IndexFunc(all, func(c check) bool { return c.name == name })
	if at < 0 {
		t.Fatalf("the suite has no check %q", name)
	}
	return all[at]
}

// The suite finds every planted fault, by the check that is meant for it.
func TestMutantsAreCaught(t *testing.T) {
	type instance = solver.Instance
	calls := int64(0)
	for _, m := range []mutant{
		{name: "gives up", caught: "known answers", text: "unknown where there is a solution", after: func(_ *instance, s *solver.Solution) {
			if s.Status != solver.Infeasible {
				*s = solver.Solution{Bound: s.Bound}
			}
		}},
		{name: "knows no infeasibility", caught: "known answers", text: "where there is no solution", after: func(_ *instance, s *solver.Solution) {
			if s.Status == solver.Infeasible {
				*s = solver.Solution{Bound: 1}
			}
		}},
		{name: "calls hard ones infeasible", caught: "random against enumeration", text: "infeasible where there is a solution", after: func(inst *instance, s *solver.Solution) {
			if len(inst.Apps) > 2 {
				*s = solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}
			}
		}},
		{name: "treats everybody as new", caught: "random against enumeration", before: func(ctx context.Context, inst *instance) (context.Context, *instance) {
			inst = clone(inst)
			for i := range inst.Apps {
				inst.Apps[i].Running, inst.Apps[i].Displaced, inst.Apps[i].Previous = false, false, nil
			}
			return ctx, inst
		}},
		{name: "overfills what is full", caught: "referee/Table2", text: "(6)", after: func(inst *instance, s *solver.Solution) {
			for i := range s.Counts {
				if inst.Apps[i].Running && len(s.Counts[i]) > 0 {
					s.Counts[i][0].Count += 9
				}
			}
		}},
		{name: "has no bound", caught: "referee/Mixed", text: "above the cap", after: func(_ *instance, s *solver.Solution) { s.Bound = math.Inf(1) }},
		{name: "writes into the instance", caught: "referee/Nodes", text: "changed", before: func(ctx context.Context, inst *instance) (context.Context, *instance) {
			inst.Apps[0].Max++
			return ctx, inst
		}},
		{name: "writes into a server", caught: "referee/Nodes", text: "changed", before: func(ctx context.Context, inst *instance) (context.Context, *instance) {
			own := *inst
			own.Total = inst.Total.Clone()
			own.Total[0]++
			inst.Capacity[0][0]++
			return ctx, &own
		}},
		{name: "overfills servers in the middle", caught: "cancelled in the middle", text: "constraint violated", after: func(_ *instance, s *solver.Solution) {
			for i := range s.Counts {
				for p := range s.Counts[i] {
					s.Counts[i][p].Count += 99
				}
			}
		}},
		{name: "answers otherwise each time", caught: "deterministic/Table2", text: "asked again", after: func(_ *instance, s *solver.Solution) {
			calls++
			s.Effort = calls
		}},
		{name: "ignores its context", caught: "cancelled before the start", text: "not marked as interrupted", before: func(_ context.Context, inst *instance) (context.Context, *instance) {
			return context.Background(), inst
		}},
		{name: "is late", caught: "cancelled before the start", text: "after the context had ended", before: func(ctx context.Context, inst *instance) (context.Context, *instance) {
			time.Sleep(patience + 100*time.Millisecond)
			return ctx, inst
		}},
		{name: "says nothing", caught: "known answers", text: "tiny: neither a solution nor an error", silent: true},
		{name: "takes anything", caught: "no instance", text: "taken for an instance", careless: true},
		{name: "panics", caught: "no instance", text: "panics: oh", before: func(context.Context, *instance) (context.Context, *instance) { panic("oh") }},
	} {
		t.Run(m.name, func(t *testing.T) {
			if testing.Short() && m.name == "is late" {
				t.Skip("takes patience")
			}
			opts := (&Options{Instances: 150, Sizes: []Size{{6, 8}}}).complete()
			if err := named(t, m.caught).within(opts, m); err == nil || !strings.Contains(err.Error(), m.text) {
				t.Errorf("%s: %v, want %q", m.caught, err, m.text)
			}
		})
	}
}

// An answer that enumeration does not confirm is a fault of the suite, whatever the solver says.
func TestKnowsNothingWrong(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("another optimum is believed")
		}
	}()
	p := &probe{Solver: mutant{}, opts: (*Options)(nil).complete(), ctx: context.Background()}
	_ = p.knows([]knownCase{{"", func(*solver.Instance) {}, 2.4}})
}

// The solver without a fault passes.
func TestRun(t *testing.T) {
	Run(t, func(*testing.T) solver.Solver { return mutant{} }, nil)
}

// stuck hangs; told to stop, it does so if it obeys.
type stuck struct{ obeys bool }

func (s stuck) Solve(ctx context.Context, _ *solver.Instance) (*solver.Solution, error) {
	if !s.obeys {
		time.Sleep(patience + time.Minute)
	}
	<-ctx.Done()
	return &solver.Solution{Interrupted: true}, nil
}

// A solver that hangs is stopped, and named with the check and the instance.
func TestHangIsNamed(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		if !obeys && testing.Short() {
			continue // takes patience
		}
		err := check{"deterministic/Table2", families()[0].deterministic}.within((&Options{Deadline: 20 * time.Millisecond}).complete(), stuck{obeys})
		if err == nil || !strings.Contains(err.Error(), "solvertest.stuck hangs on alloctest.Table2(0, 6, 8, false): deterministic/Table2") {
			t.Errorf("%v, want the solver, the check and the instance", err)
		}
	}
}

// What the caller asks stands, and the rest is filled in.
func TestOptions(t *testing.T) {
	mine := Options{Instances: 3, General: 2, Sizes: []Size{{1, 3}}, Deadline: time.Second, Tolerance: 1, Relaxed: true}
	if got := mine.complete(); !reflect.DeepEqual(got, mine) {
		t.Errorf("%+v", got)
	}
	want := Options{Instances: 200, General: 300, Sizes: []Size{{6, 8}, {12, 15}}, Deadline: time.Minute, Tolerance: solver.ObjectiveTolerance}
	if testing.Short() {
		want.Instances, want.General, want.Sizes = 40, 60, want.Sizes[:1]
	}
	if got := (*Options)(nil).complete(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
