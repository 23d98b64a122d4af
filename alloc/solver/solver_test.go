package solver_test

import (
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// tiny is Dorm's P2 on two servers, LR and MF running, NN new; LR holds (2, 0), MF (1, 2).
func tiny() *solver.Instance {
	return &solver.Instance{
		Capacity: []apportion.Resources{{4, 1, 16}, {4, 0, 16}},
		Total:    apportion.Resources{8, 1, 32},
		Apps: []solver.App{
			{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 6, Value: 3. / 16, Delta: 1. / 8, Share: 7. / 24,
				Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 2}}},
			{Demand: apportion.Resources{2, 0, 2}, Min: 1, Max: 4, Value: 5. / 16, Delta: 1. / 4, Share: 7. / 12,
				Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 2}}},
			{Demand: apportion.Resources{1, 1, 4}, Min: 1, Max: 1, Value: 5. / 4, Delta: 1, Share: 1},
		},
		LossBudget:   1,
		AdjustBudget: 1,
	}
}

// best is the optimum of tiny.
func best() solver.Counts {
	return solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 1}, {Server: 1, Count: 2}}, {{Server: 0, Count: 1}}}
}

func TestMoved(t *testing.T) {
	inst := tiny()
	for _, c := range []struct {
		name            string
		lr              []apportion.Placement
		moved, adjusted int64
	}{
		{"unchanged", []apportion.Placement{{Server: 0, Count: 2}}, 0, 0},
		{"one more beside", []apportion.Placement{{Server: 0, Count: 2}, {Server: 1, Count: 1}}, 1, 1},
		{"same number elsewhere", []apportion.Placement{{Server: 1, Count: 2}}, 4, 1},
		{"none left", nil, 2, 1},
	} {
		counts := best()
		counts[0] = c.lr
		if moved, adjusted := inst.Moved(counts), inst.AdjustedApps(counts); moved != c.moved || adjusted != c.adjusted {
			t.Errorf("%s: moved %d, adjusted %d; want %d, %d", c.name, moved, adjusted, c.moved, c.adjusted)
		}
	}
	inst.Apps[1].Displaced = true
	if adjusted := inst.AdjustedApps(best()); adjusted != 2 {
		t.Errorf("with MF displaced: %d adjusted, want 2", adjusted)
	}
}

func TestSolutionGap(t *testing.T) {
	for _, c := range []struct {
		name string
		s    solver.Solution
		want float64
	}{
		{"optimal", solver.Solution{Status: solver.Optimal, Objective: 2, Bound: 2.0000000001}, 0},
		{"feasible", solver.Solution{Status: solver.Feasible, Objective: 1.5, Bound: 2}, .25},
		{"no bound", solver.Solution{Status: solver.Feasible, Objective: 1.5, Bound: math.Inf(1)}, math.Inf(1)},
		{"nothing", solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}, math.Inf(1)},
	} {
		if got := c.s.Gap(); got != c.want {
			t.Errorf("%s: gap %g, want %g", c.name, got, c.want)
		}
	}
}
