// This file tests the twin on the tiny cluster whose optima were found by another program's brute force.

package p2oracle

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// app returns an application of the tiny cluster, which has 8 CPUs, 1 GPU and 32 GB in all: Value is sum_k d_k/C_k of
// (1), Delta max_k d_k/C_k of (2).
func app(most int64, share float64, previous []apportion.Placement, demand ...int64) solver.App {
	a := solver.App{Demand: demand, Min: 1, Max: most, Share: share, Running: previous != nil, Cost: 1, Previous: previous}
	for k, total := range []float64{8, 1, 32} {
		part := float64(demand[k]) / total
		a.Value += part
		a.Delta = math.Max(a.Delta, part)
	}
	return a
}

// on returns containers on the two servers.
func on(first, second int64) []apportion.Placement {
	var places []apportion.Placement
	for j, n := range []int64{first, second} {
		if n > 0 {
			places = append(places, apportion.Placement{Server: j, Count: n})
		}
	}
	return places
}

// Reference: [Dorm] (5)-(16) on two servers of 4 CPUs and 16 GB, the first with a GPU. LR arrives, then MF, then,
// from another allocation, NN; theta1 = theta2 = 0.1, so that the rounded budgets are 1 of loss and 1 adjusted
// application, and without the ceilings 0.6 and 0.2.
func TestPaperTinyCluster(t *testing.T) {
	lr := func(share float64, previous []apportion.Placement) solver.App {
		return app(6, share, previous, 1, 0, 2)
	}
	mf := func(share float64, previous []apportion.Placement) solver.App {
		return app(4, share, previous, 2, 0, 2)
	}
	nn := app(1, 1, nil, 1, 1, 4)
	second := []solver.App{lr(1./3, on(4, 2)), mf(2./3, nil)}
	third := []solver.App{lr(.291667, on(2, 0)), mf(.583333, on(1, 2)), nn}
	for _, test := range []struct {
		name      string
		loss      float64
		adjust    int64
		apps      []solver.App
		want      solver.Counts
		solutions int // -1: the paper's program did not count them
		objective float64
		lost      float64
	}{
		// (2,4), (3,3) and (4,2) are optimal, and the lexicographic rule takes the first.
		{"step 1", 1, 1, []solver.App{lr(.75, nil)}, solver.Counts{on(2, 4)}, -1, 1.125, 0},
		{"step 2", 1, 1, second, solver.Counts{on(4, 2), on(0, 1)}, 48, 1.4375, .833333},
		{"step 2 without adjustments", 1, 0, second, solver.Counts{on(4, 2), on(0, 1)}, 1, 1.4375, .833333},
		{"step 2 without ceilings", .6, 0, second, nil, 0, 0, 0},
		{"step 3", 1, 1, third, solver.Counts{on(1, 0), on(1, 2), on(1, 0)}, 3, 2.375, .333333},
		{"step 3 without adjustments", 1, 0, third, nil, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			inst := &solver.Instance{
				Capacity: []apportion.Resources{{4, 1, 16}, {4, 0, 16}}, Total: apportion.Resources{8, 1, 32},
				LossBudget: test.loss, AdjustBudget: test.adjust, Apps: test.apps,
			}
			got, solutions := Best(inst)
			if diff := cmp.Diff(test.want, got); diff != "" || test.solutions >= 0 && solutions != test.solutions {
				t.Fatalf("%d solutions, want %d; best (-want +got):\n%s", solutions, test.solutions, diff)
			}
			if got == nil {
				return
			}
			if objective, lost := inst.Objective(got), inst.FairnessLoss(got); math.Abs(objective-test.objective) > 1e-9 || math.Abs(lost-test.lost) > 1e-5 {
				t.Errorf("utilization %g, loss %g, want %g, %g", objective, lost, test.objective, test.lost)
			}
		})
	}
}
