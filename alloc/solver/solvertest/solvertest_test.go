package solvertest

import (
	"context"
	"math"
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
	// careless takes anything for an instance.
	careless bool
}

func (m mutant) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	if m.careless && inst.Validate() != nil {
		return &solver.Solution{}, nil
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

// calls counts across the calls of one mutant.
var calls int64

func mutants() []mutant {
	onlySolved := func(do func(*solver.Instance, *solver.Solution)) func(*solver.Instance, *solver.Solution) {
		return func(inst *solver.Instance, s *solver.Solution) {
			if s.Status.HasSolution() {
				do(inst, s)
			}
		}
	}
	return append([]mutant{
		{name: "overfills a server", caught: "referee/Table2", text: "(6)", after: onlySolved(func(_ *solver.Instance, s *solver.Solution) {
			for i := range s.Counts {
				if len(s.Counts[i]) > 0 {
					s.Counts[i][0].Count += 9
				}
			}
		})},
		{name: "counts its objective twice", caught: "known answers", text: "recomputed", after: onlySolved(func(_ *solver.Instance, s *solver.Solution) { s.Objective *= 2 })},
		{name: "has a bound above the cap", caught: "known answers", text: "above the cap", after: onlySolved(func(_ *solver.Instance, s *solver.Solution) { s.Bound += 9 })},
		{name: "has no bound", caught: "referee/Mixed", text: "above the cap", after: func(_ *solver.Instance, s *solver.Solution) { s.Bound = math.Inf(1) }},
		{name: "proves too little", caught: "known answers", text: "the prices prove", after: onlySolved(func(_ *solver.Instance, s *solver.Solution) {
			s.Copies, s.Searched = nil, false
			if s.Multipliers != nil {
				s.Multipliers.Loss = 9
			}
		})},
		{name: "prefers another loss", caught: "known answers", text: "proven by order with loss", before: func(ctx context.Context, inst *solver.Instance) (context.Context, *solver.Instance) {
			if inst.LossBudget == 6 { // which never binds
				inst = clone(inst)
				for i := range inst.Apps {
					inst.Apps[i].Share = 0
				}
			}
			return ctx, inst
		}},
		{name: "forgets what it has proven", caught: "known answers", text: "optimal, proven by nothing", after: func(_ *solver.Instance, s *solver.Solution) { s.Proven = solver.ByNothing }},
	}, moreMutants()...)
}

func moreMutants() []mutant {
	return []mutant{
		{name: "gives up", caught: "known answers", text: "unknown where there is a solution", after: func(_ *solver.Instance, s *solver.Solution) {
			if s.Status != solver.Infeasible {
				*s = solver.Solution{Bound: s.Bound}
			}
		}},
		{name: "knows no infeasibility", caught: "known answers", text: "where there is no solution", after: func(_ *solver.Instance, s *solver.Solution) {
			if s.Status == solver.Infeasible {
				*s = solver.Solution{Bound: 1}
			}
		}},
		{name: "calls hard ones infeasible", caught: "random against enumeration", text: "infeasible where there is a solution", after: func(inst *solver.Instance, s *solver.Solution) {
			if len(inst.Apps) > 2 {
				*s = solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}
			}
		}},
		{name: "treats everybody as new", caught: "random against enumeration", before: func(ctx context.Context, inst *solver.Instance) (context.Context, *solver.Instance) {
			inst = clone(inst)
			for i := range inst.Apps {
				inst.Apps[i].Running, inst.Apps[i].Displaced, inst.Apps[i].Previous = false, false, nil
			}
			return ctx, inst
		}},
		{name: "writes into the instance", caught: "referee/Nodes", text: "changed", before: func(ctx context.Context, inst *solver.Instance) (context.Context, *solver.Instance) {
			inst.Apps[0].Max++
			return ctx, inst
		}},
		{name: "answers otherwise each time", caught: "deterministic/Table2", text: "asked again", after: func(_ *solver.Instance, s *solver.Solution) {
			calls++
			s.Effort = calls
		}},
		{name: "ignores its context", caught: "cancelled before the start", text: "not marked as interrupted", before: func(_ context.Context, inst *solver.Instance) (context.Context, *solver.Instance) {
			return context.Background(), inst
		}},
		{name: "takes anything", careless: true, caught: "no instance", text: "taken for an instance"},
	}
}

// The suite finds every planted fault, by the check that is meant for it.
func TestMutantsAreCaught(t *testing.T) {
	opts := (&Options{Instances: 150, Sizes: []Size{{6, 8}}}).complete()
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			for _, c := range checks() {
				if c.name != m.caught {
					continue
				}
				if err := c.within(opts, m); err == nil || !strings.Contains(err.Error(), m.text) {
					t.Errorf("%s: %v, want %q", c.name, err, m.text)
				}
			}
		})
	}
}

// The solver without a fault passes.
func TestRun(t *testing.T) {
	Run(t, func(*testing.T) solver.Solver { return mutant{} }, nil)
}

// stuck hangs; told to stop, it does so if it obeys.
type stuck struct{ obeys bool }

func (s stuck) Solve(ctx context.Context, _ *solver.Instance) (*solver.Solution, error) {
	if !s.obeys {
		time.Sleep(Patience + time.Minute)
	}
	<-ctx.Done()
	return &solver.Solution{Interrupted: true}, nil
}

// A solver that hangs is stopped, and named with the check and the instance.
func TestHangIsNamed(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		if !obeys && testing.Short() {
			continue // takes Patience
		}
		err := check{"deterministic/Table2", families()[0].deterministic}.within((&Options{Deadline: 20 * time.Millisecond}).complete(), stuck{obeys})
		if err == nil || !strings.Contains(err.Error(), "solvertest.stuck hangs on alloctest.Table2(0, 6, 8, false): deterministic/Table2") {
			t.Errorf("%v, want the solver, the check and the instance", err)
		}
	}
}

func TestOptions(t *testing.T) {
	full := (*Options)(nil).complete()
	if testing.Short() && (full.Instances != instancesInShort || full.General != generalInShort || len(full.Sizes) != 1) ||
		!testing.Short() && (full.Instances != defaultInstances || full.General != defaultGeneral || len(full.Sizes) != 2) {
		t.Errorf("%+v", full)
	}
	mine := Options{Instances: 3, General: 2, Sizes: []Size{{1, 3}}, Deadline: time.Second, Tolerance: 1, Relaxed: true}
	if got := mine.complete(); got.Instances != 3 || got.General != 2 || len(got.Sizes) != 1 || got.Deadline != time.Second || got.Tolerance != 1 || !got.Relaxed {
		t.Errorf("%+v", got)
	}
}

// Small draws solvable and unsolvable instances alike, all of them valid.
func TestSmall(t *testing.T) {
	solvable := 0
	for seed := range uint64(200) {
		inst := Small(seed)
		if err := inst.Validate(); err != nil {
			t.Fatal(err)
		}
		s, err := embedded.New(nil).Solve(context.Background(), inst)
		if err != nil {
			t.Fatal(err)
		}
		if s.Status.HasSolution() {
			solvable++
		}
	}
	if solvable < 50 || solvable > 150 {
		t.Errorf("%d of 200 have a solution", solvable)
	}
}
