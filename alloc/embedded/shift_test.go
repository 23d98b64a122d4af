// This file tests shifts of room between two applications.

package embedded

import (
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/solver"
)

// jumps is a server of 12 units, on which a running application of demand 2 has 4 containers and one of demand 1 another 4, with jumps to 6
// and 2; as many changes may be made as adjust.
func jumps(adjust int64) (*solver.Instance, solver.Counts) {
	on := func(n int64) []apportion.Placement { return []apportion.Placement{{Server: 0, Count: n}} }
	inst := instancetest.Finish(&solver.Instance{
		Capacity: []apportion.Resources{{12}}, LossBudget: 9, AdjustBudget: adjust,
		Apps: []solver.App{
			{Demand: apportion.Resources{2}, Min: 4, Max: 6, Counts: []int64{4, 6}, Running: true, Cost: 1, Previous: on(4)},
			{Demand: apportion.Resources{1}, Min: 2, Max: 4, Counts: []int64{2, 4}, Running: true, Cost: 1, Previous: on(4)},
		},
	})
	// What the second one has is worth half as much, so that the first one gains by its place.
	inst.Apps[1].Value /= 2
	return inst, solver.Counts{on(4), on(4)}
}

// A larger number for one, a smaller one for the other: what joined servers and both budgets allow, and nothing else, whatever was tried
// before.
func TestShifts(t *testing.T) {
	for name, c := range map[string]struct {
		adjust int64
		change func(inst *solver.Instance)
		want   [][]int64
	}{
		"no room":           {2, func(inst *solver.Instance) {}, nil},
		"room by the other": {2, func(inst *solver.Instance) { inst.Capacity[0][0], inst.Total[0] = 14, 14 }, [][]int64{{6, 2}}},
		"room for both": {2, func(inst *solver.Instance) { inst.Capacity[0][0], inst.Total[0] = 16, 16 },
			[][]int64{{6, lagrange.Stays}, {6, 2}}},
		"one change":  {1, func(inst *solver.Instance) { inst.Capacity[0][0], inst.Total[0] = 14, 14 }, nil},
		"pinned":      {2, func(inst *solver.Instance) { inst.Capacity[0][0], inst.Total[0], inst.Apps[1].Pinned = 14, 14, true }, nil},
		"dear losses": {2, func(inst *solver.Instance) { inst.Capacity[0][0], inst.Total[0], inst.LossBudget = 16, 16, 0.4 }, nil},
	} {
		inst, counts := jumps(c.adjust)
		c.change(inst)
		s := newShifts(inst, counts)
		if got := s.best(8); !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if !slices.Equal(s.numbers, []int64{lagrange.Stays, lagrange.Stays}) || s.left[0] != inst.Total[0]-12 || s.adjust != c.adjust || math.Abs(s.loss-inst.LossBudget+inst.FairnessLoss(counts)) > 1e-12 {
			t.Errorf("%s: %+v is left after all that was tried", name, s)
		}
	}
}

// Where numbers come in jumps and the loss budget binds, one application has 8 containers for 4 only where another one has 16 for 32, which no
// solution on the way is as good as, and the others make room. HiGHS finds as much in 5 s.
func TestShiftsBetweenNumbers(t *testing.T) {
	inst := instancetest.Recorded("jumps")
	sol := solve(t, nil, inst)
	if err := inst.Check(sol.Counts); err != nil || sol.Objective < 2.743576 {
		t.Errorf("objective %g, %v; want 2.743576", sol.Objective, err)
	}
}
