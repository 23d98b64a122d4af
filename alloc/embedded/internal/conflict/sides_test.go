// This file tests the sides of conflicts whose numbers are known, and the order of leaving out.

package conflict

import (
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// LeaveOut leaves out what is not needed, one after the other, and never writes to the instance.
func TestLeaveOut(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.5), instancetest.MF(0.5))
	before := instancetest.Clone(inst)
	for name, c := range map[string]struct {
		empty func(without *solver.Instance) bool
		want  []solver.Constraint
	}{
		"nothing is needed": {func(*solver.Instance) bool { return true }, []solver.Constraint{solver.Capacity}},
		"everything is": {func(*solver.Instance) bool { return false },
			[]solver.Constraint{solver.Fairness, solver.Adjust, solver.Minimum, solver.Capacity}},
		"minima are, fairness is gone": {func(w *solver.Instance) bool { return w.LossBudget == noBudget && w.Apps[0].Min > 0 },
			[]solver.Constraint{solver.Minimum, solver.Capacity}},
		"fairness is, as it is asked first": {func(w *solver.Instance) bool { return w.LossBudget == 1 },
			[]solver.Constraint{solver.Fairness, solver.Capacity}},
	} {
		relaxed, got := LeaveOut(problem.New(inst), c.empty)
		if !slices.Equal(got.Constraints, c.want) {
			t.Errorf("%s: %v, want %v", name, got.Constraints, c.want)
		}
		if kept := slices.Contains(c.want, solver.Minimum); kept != (relaxed.Apps[0].Min > 0) {
			t.Errorf("%s: a minimum of %d is left", name, relaxed.Apps[0].Min)
		}
	}
	if inst.LossBudget != before.LossBudget || inst.AdjustBudget != before.AdjustBudget || inst.Apps[0].Min != before.Apps[0].Min {
		t.Error("the instance has changed")
	}
}

// The sides of each constraint are the least that it must allow and what it allows.
func TestSides(t *testing.T) {
	inst := instancetest.Finish(&solver.Instance{
		Capacity:   []apportion.Resources{{10}},
		LossBudget: 0.25,
		Apps: []solver.App{
			{Demand: apportion.Resources{1}, Min: 8, Max: 9, Share: 0.5},
			{Demand: apportion.Resources{1}, Min: 4, Max: 9, Share: 0.25, Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 3}}},
		},
	})
	fair := instancetest.Clone(inst)
	fair.Apps[1].Min = 0
	moves := instancetest.Clone(inst)
	moves.Apps[0].Min, moves.LossBudget = 0, 9
	for constraint, c := range map[solver.Constraint]struct {
		inst       *solver.Instance
		need, have float64
	}{
		solver.Fairness: {fair, 0.35, 0.25}, // 8 of 10 instead of 0.5, and 2 instead of 0.25, held: 3
		solver.Adjust:   {moves, 1, 0},
		solver.Minimum:  {inst, 12, 10},
	} {
		sided := c.inst
		if constraint == solver.Fairness {
			sided.AdjustBudget = 1
		}
		if constraint == solver.Minimum {
			sided = instancetest.Clone(inst)
			sided.LossBudget, sided.AdjustBudget = 9, 2
		}
		need, have := sides(t.Context(), sided, constraint, 1<<20)
		if math.Abs(need-c.need) > 1e-9 || have != c.have {
			t.Errorf("%v: %g of %g, want %g of %g", constraint, need, have, c.need, c.have)
		}
	}
	if need, have := sides(t.Context(), inst, solver.Minimum, 1); need != 0 || have != 0 {
		t.Errorf("%g of %g after one node, want none", need, have)
	}
}

// The fewest adjustments are counted whatever they lose: the least loss here moves two, one is enough.
func TestAdjustmentsWhateverTheLoss(t *testing.T) {
	held := func(share float64) solver.App {
		return solver.App{Demand: apportion.Resources{1}, Max: 9, Share: share, Running: true, Cost: 1,
			Previous: []apportion.Placement{{Server: 0, Count: 2}}}
	}
	inst := instancetest.Finish(&solver.Instance{
		Capacity:   []apportion.Resources{{8}},
		LossBudget: 9,
		Apps:       []solver.App{held(0.375), held(0), {Demand: apportion.Resources{1}, Min: 5, Max: 5, Share: 0.125}},
	})
	if need, have := sides(t.Context(), inst, solver.Adjust, 1<<20); need != 1 || have != 0 {
		t.Errorf("%g adjustments of %g, want 1 of 0", need, have)
	}
}
