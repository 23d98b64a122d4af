package p2oracle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// oneKind is one application of demand 1 on two servers of capacity 2.
func oneKind(share float64, previous []apportion.Placement) *solver.Instance {
	return &solver.Instance{
		Capacity: []apportion.Resources{{2}, {2}}, Total: apportion.Resources{4}, LossBudget: 2, AdjustBudget: 1,
		Apps: []solver.App{{
			Demand: apportion.Resources{1}, Min: 1, Max: 3, Value: 0.25, Delta: 0.25,
			Share: share, Running: previous != nil, Cost: 1, Previous: previous,
		}},
	}
}

func TestBest(t *testing.T) {
	tests := []struct {
		name      string
		share     float64
		previous  []apportion.Placement
		adjust    int64
		want      solver.Counts
		solutions int
	}{
		// Of (1,2) and (2,1) the first is lexicographically smaller.
		{"fresh", 0.75, nil, 1, solver.Counts{{{Server: 0, Count: 1}, {Server: 1, Count: 2}}}, 7},
		// (2,1) moves one container, (1,2) three.
		{"moved", 0.75, []apportion.Placement{{Server: 0, Count: 2}}, 1, solver.Counts{{{Server: 0, Count: 2}, {Server: 1, Count: 1}}}, 7},
		{"pinned", 0.75, []apportion.Placement{{Server: 0, Count: 2}}, 0, solver.Counts{{{Server: 0, Count: 2}}}, 1},
		{"impossible", 0.75, []apportion.Placement{{Server: 0, Count: 3}}, 0, nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inst := oneKind(test.share, test.previous)
			inst.AdjustBudget = test.adjust
			got, solutions := Best(inst)
			if diff := cmp.Diff(test.want, got); diff != "" || solutions != test.solutions {
				t.Errorf("%d solutions, want %d; best (-want +got):\n%s", solutions, test.solutions, diff)
			}
		})
	}
}

// At equal utilization the smaller loss wins, whatever comes first in the order of x.
func TestBestPrefersLessLoss(t *testing.T) {
	inst := oneKind(0.25, nil)
	inst.Apps = append(inst.Apps, inst.Apps[0])
	inst.Apps[1].Share = 0.75
	inst.Capacity = []apportion.Resources{{4}}
	got, _ := Best(inst)
	want := solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 3}}}
	must.Equal(t, cmp.Diff(want, got), "")
}

// Each level decides only where those before it are equal: one application that moves far is better than two that
// move a little, and among equals the one that moves less.
func TestPreferredLevels(t *testing.T) {
	inst := oneKind(0.5, []apportion.Placement{{Server: 0, Count: 4}})
	inst.Capacity = []apportion.Resources{{10}, {10}}
	inst.Apps[0].Max = 9
	inst.Apps = append(inst.Apps, inst.Apps[0])
	counts := func(a0, a1, b0, b1 int64) (c solver.Counts) {
		for _, row := range [][]int64{{a0, a1}, {b0, b1}} {
			var places []apportion.Placement
			for j, n := range row {
				if n > 0 {
					places = append(places, apportion.Placement{Server: j, Count: n})
				}
			}
			c = append(c, places)
		}
		return c
	}
	for _, test := range []struct {
		name          string
		better, worse solver.Counts
	}{
		{"utilization", counts(0, 5, 0, 4), counts(4, 0, 4, 0)},
		{"loss", counts(0, 2, 0, 2), counts(4, 0, 0, 0)},
		{"adjusted applications", counts(0, 4, 4, 0), counts(3, 1, 3, 1)},
		{"moved containers", counts(3, 1, 4, 0), counts(2, 2, 4, 0)},
	} {
		if !preferred(inst, test.better, test.worse) {
			t.Errorf("%s: %v is not preferred to %v", test.name, test.better, test.worse)
		}
		if preferred(inst, test.worse, test.better) {
			t.Errorf("%s: %v is preferred to %v", test.name, test.worse, test.better)
		}
	}
}
