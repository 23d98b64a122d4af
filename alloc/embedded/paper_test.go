package embedded

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// Reference: [Dorm] §IV, P2 on a cluster small enough to enumerate by hand.
func TestWorkedDecisions(t *testing.T) {
	tests := []struct {
		name            string
		inst            *solver.Instance
		want            solver.Counts
		objective, loss float64
		adjusted        int64
	}{
		{
			// (2,4), (3,3) and (4,2) are optimal; the first is lexicographically smallest.
			"one application", instancetest.Worked(instancetest.LR(0.75)),
			solver.Counts{{{Server: 0, Count: 2}, {Server: 1, Count: 4}}}, 1.125, 0, 0,
		}, {
			"a newcomer, nothing moves",
			instancetest.Worked(instancetest.LR(1.0/3, apportion.Placement{Server: 0, Count: 4}, apportion.Placement{Server: 1, Count: 2}), instancetest.MF(2.0/3)),
			solver.Counts{{{Server: 0, Count: 4}, {Server: 1, Count: 2}}, {{Server: 1, Count: 1}}}, 1.4375, 5.0 / 6, 0,
		}, {
			"a newcomer, one shrinks",
			instancetest.Worked(instancetest.LR(7.0/24, apportion.Placement{Server: 0, Count: 2}),
				instancetest.MF(7.0/12, apportion.Placement{Server: 0, Count: 1}, apportion.Placement{Server: 1, Count: 2}), instancetest.NN(1)),
			solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 1}, {Server: 1, Count: 2}}, {{Server: 0, Count: 1}}},
			2.375, 1.0 / 3, 1,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sol := solve(t, nil, test.inst)
			if diff := cmp.Diff(test.want, sol.Counts); diff != "" {
				t.Fatalf("counts (-want +got):\n%s", diff)
			}
			if sol.Status != solver.Optimal || sol.Proven != solver.ByOrder {
				t.Errorf("%v, proven by %v", sol.Status, sol.Proven)
			}
			loss := test.inst.FairnessLoss(sol.Counts)
			if math.Abs(sol.Objective-test.objective) > 1e-12 || math.Abs(loss-test.loss) > 1e-12 {
				t.Errorf("utilization %g, loss %g; want %g, %g", sol.Objective, loss, test.objective, test.loss)
			}
			if got := test.inst.AdjustedApps(sol.Counts); got != test.adjusted {
				t.Errorf("%d adjusted, want %d", got, test.adjusted)
			}
		})
	}
}

// Reference: [Dorm] §IV-B: "no feasible solution". With theta2 = 0 nothing may move, and the third
// newcomer has no place; with theta1 so small that the budget is 0.6, the loss is too large.
func TestWorkedInfeasibility(t *testing.T) {
	third := instancetest.Worked(instancetest.LR(7.0/24, apportion.Placement{Server: 0, Count: 2}),
		instancetest.MF(7.0/12, apportion.Placement{Server: 0, Count: 1}, apportion.Placement{Server: 1, Count: 2}), instancetest.NN(1))
	third.AdjustBudget = 0
	second := instancetest.Worked(instancetest.LR(1.0/3, apportion.Placement{Server: 0, Count: 4}, apportion.Placement{Server: 1, Count: 2}), instancetest.MF(2.0/3))
	second.AdjustBudget, second.LossBudget = 0, 0.6
	for name, inst := range map[string]*solver.Instance{"third": third, "second": second} {
		if sol := solve(t, nil, inst); sol.Status != solver.Infeasible {
			t.Errorf("%s: %v", name, sol.Status)
		}
	}
}
