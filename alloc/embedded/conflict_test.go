package embedded

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/conflict"
	"github.com/apportion/apportion/alloc/embedded/internal/counting"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// Three containers of (3 CPU, 1 GPU), of which each of two servers with GPUs has CPU for one: the
// sums fit, prices on those CPUs prove that the minima do not.
func TestPricedConflictOfMinima(t *testing.T) {
	inst := &solver.Instance{LossBudget: 100, AdjustBudget: 100}
	for j := range 20 {
		inst.Capacity = append(inst.Capacity, apportion.Resources{4, 0})
		if j < 2 {
			inst.Capacity[j][1] = 2
		}
	}
	for range 4 {
		inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{3, 1}, Min: 1, Max: 1})
	}
	inst.Apps[3] = solver.App{Demand: apportion.Resources{1, 0}, Max: 1}
	sol := solve(t, &Options{Effort: Quick}, instancetest.Finish(inst))
	if sol.Status != solver.Infeasible {
		t.Fatalf("status %v", sol.Status)
	}
	want := []solver.Constraint{solver.Capacity, solver.Minimum}
	if diff := cmp.Diff(want, sol.Conflict.Constraints); diff != "" {
		t.Errorf("constraints (-want +got):\n%s", diff)
	}
	// What must be placed costs at most 9/8 of what there is, and more than that.
	if c := sol.Conflict; !(c.Need > 1) || c.Need > 9.0/8+1e-9 || c.Have != 1 {
		t.Errorf("need %g, have %g", c.Need, c.Have)
	}
	inst.Apps = inst.Apps[1:]
	if fits := solve(t, &Options{Effort: Quick}, instancetest.Finish(inst)); !fits.Status.HasSolution() {
		t.Errorf("two are %v", fits.Status)
	}
}

// Twenty applications that may have one container each or none, on servers for ten of them: ten get
// nothing of their share, more loss than the budget, which prices prove with the amount.
func TestPricedConflictOfLoss(t *testing.T) {
	inst := instancetest.Crowd(10, 20, 3, 3, 0.1)
	for i := range inst.Apps {
		inst.Apps[i].Min = 0
	}
	inst.LossBudget = 0.5
	sol := solve(t, &Options{Effort: Quick}, inst)
	if sol.Status != solver.Infeasible {
		t.Fatalf("status %v", sol.Status)
	}
	want := []solver.Constraint{solver.Fairness, solver.Minimum, solver.Capacity}
	if diff := cmp.Diff(want, sol.Conflict.Constraints); diff != "" {
		t.Errorf("constraints (-want +got):\n%s", diff)
	}
	const least = 1.0 // ten containers of a tenth
	if c := sol.Conflict; c.Need > least+1e-9 || c.Need <= c.Have || c.Have != 0.5 {
		t.Errorf("need %g, have %g; the least loss is %g", c.Need, c.Have, least)
	}
	inst.LossBudget = least + 1e-3
	if fits := solve(t, &Options{Effort: Quick}, inst); !fits.Status.HasSolution() {
		t.Errorf("with budget %g: %v", inst.LossBudget, fits.Status)
	}
}

// Each way of counting, on the smallest instance that shows it and next to one that is just
// feasible.
func TestPlainConflict(t *testing.T) {
	held := func(count int64) []apportion.Placement { return []apportion.Placement{{Server: 0, Count: count}} }
	tests := []struct {
		name       string
		inst       *solver.Instance
		repair     func(*solver.Instance)
		need, have float64
		kind       int
	}{
		{
			"one too large", instancetest.Crowd(2, 1, 3, 4, 0),
			func(in *solver.Instance) { in.Apps[0].Demand[0] = 3 }, 4, 3, 0,
		}, {
			"together too large", instancetest.Crowd(2, 3, 3, 3, 0),
			func(in *solver.Instance) { in.Apps = in.Apps[:2] }, 9, 6, 0,
		}, {
			"must move", func() *solver.Instance {
				in := instancetest.Crowd(1, 2, 4, 1, 0)
				in.AdjustBudget = 0
				in.Apps[1].Cost = 1
				in.Apps[1].Running, in.Apps[1].Previous = true, held(2)
				return in
			}(),
			func(in *solver.Instance) { in.AdjustBudget = 1 }, 1, 0, -1,
		}, {
			"must leave a server", func() *solver.Instance {
				in := instancetest.Crowd(4, 4, 1, 1, 0)
				in.AdjustBudget = 2
				for i := range in.Apps {
					in.Apps[i].Cost = 1
					in.Apps[i].Running, in.Apps[i].Previous = true, held(1)
				}
				return in
			}(),
			func(in *solver.Instance) { in.AdjustBudget = 3 }, 3, 2, -1,
		}, {
			"the largest leaves", func() *solver.Instance {
				in := instancetest.Crowd(3, 3, 3, 1, 0)
				in.AdjustBudget = 0
				for i := range in.Apps {
					in.Apps[i].Cost = 1
					in.Apps[i].Running, in.Apps[i].Max, in.Apps[i].Previous = true, 3, held(1)
				}
				in.Apps[1].Previous = held(3)
				return in
			}(),
			func(in *solver.Instance) { in.AdjustBudget = 1 }, 1, 0, -1,
		}, {
			"loss", func() *solver.Instance {
				in := instancetest.Crowd(1, 1, 4, 1, 1)
				in.LossBudget = 0.5
				return in
			}(),
			func(in *solver.Instance) { in.LossBudget = 0.75 }, 0.75, 0.5, -1,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := counting.Conflict(problem.New(test.inst))
			if c == nil {
				t.Fatal("no conflict")
			}
			if math.Abs(c.Need-test.need) > 1e-9 || c.Have != test.have || c.Kind != test.kind {
				t.Errorf("%+v, want need %g, have %g, kind %d", c, test.need, test.have, test.kind)
			}
			test.repair(test.inst)
			if c := counting.Conflict(problem.New(instancetest.Finish(test.inst))); c != nil {
				t.Errorf("repaired, still %+v", c)
			}
			if sol := solve(t, nil, test.inst); sol.Status != solver.Optimal {
				t.Errorf("repaired, %v", sol.Status)
			}
		})
	}
}

// Where by each kind one has to leave a server, but whoever does leaves it too full in another, no set
// within the budget makes room.
func TestNoSetMakesRoom(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{9, 9}, {1, 1}}, LossBudget: 100, AdjustBudget: 1}
	for i := range 4 {
		demand := apportion.Resources{int64(i % 2), int64(1 - i%2)}
		inst.Apps = append(inst.Apps, solver.App{Demand: demand, Max: 1, Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 1, Count: 1}}})
	}
	if sol := solve(t, nil, instancetest.Finish(inst)); sol.Status != solver.Infeasible {
		t.Errorf("one may be adjusted: %v", sol.Status)
	}
	inst.AdjustBudget = 2
	if sol := solve(t, nil, instancetest.Finish(inst)); sol.Status != solver.Optimal {
		t.Errorf("two may be adjusted: %v", sol.Status)
	}
}

// A proof needs no time: with a context that has ended nothing is called infeasible unproven.
func TestNoConflictWithoutProof(t *testing.T) {
	inst := instancetest.Crowd(20, 20, 3, 2, 0)
	p := problem.New(inst)
	r := newRun(p, &Options{Effort: Quick, Seed: 0}, tuning.Standard())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.search(ctx)
	if c, _ := conflict.Priced(ctx, r.p); c != nil {
		t.Errorf("%+v for an instance that has a solution", c)
	}
}
