// This file tests Dorm where containers are exclusive, with the budgets of [Dorm §V-A2].

package policies_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// testbed is the paper's cluster with n applications of LR's and MF's shape, one every 20 minutes.
func testbed(n int, seed uint64) *sim.Scenario {
	s := &sim.Scenario{Kinds: apportion.Kinds{"cpu", "gpu", "memory"}, AdjustCost: sim.AdjustCost}
	for j := range 20 {
		s.Servers = append(s.Servers, apportion.Server{
			ID:       fmt.Sprintf("slave-%02d", j),
			Capacity: apportion.Resources{12, int64((4 - j%4) / 4), 128},
		})
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	at := time.Duration(0)
	for i := range n {
		at += time.Duration(rng.ExpFloat64() * float64(20*time.Minute))
		s.Jobs = append(s.Jobs, sim.Job{
			Application: alloc.Application{
				ID: fmt.Sprintf("app-%02d", i), Weight: float64(1 + i%2),
				Form: alloc.Form{Demand: apportion.Resources{2, 0, int64(6 + i%3)}, Max: 32, Min: 1},
			},
			Arrival: at, Fixed: 8, Work: 8 * time.Duration(6+rng.IntN(5)) * time.Hour,
		})
	}
	return s
}

// The budgets of (15) and (16) hold at every decision that is not a refusal, and the adjustments
// that the simulator counts are those that Dorm announced.
func TestDormKeepsItsBudgets(t *testing.T) {
	for _, dorm := range policies.Dorm123(nil) {
		adjusted, decided := 0, 0
		dorm.Observe = func(d *alloc.Decision) {
			adjusted += d.Metrics.Adjusted
			if d.Status != alloc.Decided {
				return
			}
			decided++
			if d.Metrics.FairnessLoss > d.Metrics.LossBudget+solver.LossTolerance ||
				int64(d.Metrics.Adjusted) > d.Metrics.AdjustBudget {
				t.Errorf("%s: %+v is over its budgets", dorm.Label, d.Metrics)
			}
		}
		s := testbed(12, 1)
		result := must.Have(sim.Run(t.Context(), s, dorm))(t)
		if got := result.Adjusted(result.End + 1); got != adjusted || decided == 0 {
			t.Errorf("%s: %d adjusted, announced %d in %d decisions", dorm.Label, got, adjusted, decided)
		}
		for i := range result.Jobs {
			if !result.Jobs[i].Completed {
				t.Errorf("%s: %+v", dorm.Label, result.Jobs[i])
			}
		}
	}
}

// Reference: [Dorm] §V-A2 and (15), (16): with 3 kinds and 11 running applications the loss may be
// ceil(0.2 * 6), ceil(0.1 * 6) and ceil(0.1 * 6), and ceil(1.1), ceil(2.2) and ceil(1.1) may be
// adjusted.
func TestDorm123(t *testing.T) {
	s := testbed(11, 5)
	var jobs []sim.JobState
	for i := range s.Jobs {
		on := []apportion.Placement{{Server: i, Count: 1}}
		jobs = append(jobs, sim.JobState{Job: &s.Jobs[i], Index: i, New: true, Places: on, Containers: 1})
	}
	want := map[string][2]float64{"Dorm-1": {2, 2}, "Dorm-2": {1, 3}, "Dorm-3": {1, 2}}
	for _, dorm := range policies.Dorm123(nil) {
		var got [2]float64
		dorm.Observe = func(d *alloc.Decision) { got = [2]float64{d.Metrics.LossBudget, float64(d.Metrics.AdjustBudget)} }
		must.Have(dorm.Decide(t.Context(), &sim.State{Scenario: s, Jobs: jobs}))(t)
		must.Equal(t, got, want[dorm.Name()], dorm.Name(), "budgets")
	}
}

// brokenSolver cannot run.
type brokenSolver struct{ err error }

func (b brokenSolver) Solve(context.Context, *solver.Instance) (*solver.Solution, error) {
	return nil, b.err
}

func TestDormReportsItsSolver(t *testing.T) {
	broken := errors.New("no licence")
	must.Fail(sim.Run(t.Context(), testbed(1, 3), policies.Dorm123(brokenSolver{broken})[0]))(t, broken, "error")
}
