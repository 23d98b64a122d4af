// This file tests Dorm as a policy, and the speed of a day on the paper's testbed.

package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// testbed is the paper's cluster with n applications of LR's and MF's shape, one every 20 minutes.
func testbed(n int, seed uint64) *Scenario {
	s := &Scenario{Kinds: apportion.Kinds{"cpu", "gpu", "memory"}, AdjustCost: AdjustCost}
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
		s.Apps = append(s.Apps, App{
			Application: alloc.Application{
				ID: fmt.Sprintf("app-%02d", i), Demand: apportion.Resources{2, 0, int64(6 + i%3)},
				Weight: float64(1 + i%2), Max: 32, Min: 1,
			},
			Arrival: at, Fixed: 8, Duration: time.Duration(6+rng.IntN(5)) * time.Hour,
		})
	}
	return s
}

// The budgets of (15) and (16) hold at every decision that is not a refusal, and the adjustments
// that the simulator counts are those that Dorm announced.
func TestDormKeepsItsBudgets(t *testing.T) {
	for _, dorm := range Dorm123(nil) {
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
		result, err := Run(t.Context(), s, dorm)
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Adjusted(result.End + 1); got != adjusted || decided == 0 {
			t.Errorf("%s: %d adjusted, announced %d in %d decisions", dorm.Label, got, adjusted, decided)
		}
		for i := range result.Outcomes {
			if !result.Outcomes[i].Completed {
				t.Errorf("%s: %+v", dorm.Label, result.Outcomes[i])
			}
		}
	}
}

// Reference: [Dorm] §V-A2 and (15), (16): with 3 kinds and 11 running applications the loss may be
// ceil(0.2 * 6), ceil(0.1 * 6) and ceil(0.1 * 6), and ceil(1.1), ceil(2.2) and ceil(1.1) may be
// adjusted.
func TestDorm123(t *testing.T) {
	s := testbed(11, 5)
	state := &State{Kinds: s.Kinds, Servers: s.Servers, Running: make(alloc.Allocation)}
	for i := range s.Apps {
		state.Apps = append(state.Apps, &s.Apps[i])
		state.Running[s.Apps[i].ID] = map[string]int64{s.Servers[i].ID: 1}
	}
	want := map[string][2]float64{"Dorm-1": {2, 2}, "Dorm-2": {1, 3}, "Dorm-3": {1, 2}}
	for _, dorm := range Dorm123(nil) {
		var got [2]float64
		dorm.Observe = func(d *alloc.Decision) { got = [2]float64{d.Metrics.LossBudget, float64(d.Metrics.AdjustBudget)} }
		if _, err := dorm.Decide(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		if got != want[dorm.Name()] {
			t.Errorf("%s: budgets %v, want %v", dorm.Name(), got, want[dorm.Name()])
		}
	}
}

func TestDormTwice(t *testing.T) {
	first, err := Run(t.Context(), testbed(8, 2), Dorm123(nil)[2])
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(t.Context(), testbed(8, 2), Dorm123(nil)[2])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("-first +again:\n%s", diff)
	}
}

// brokenSolver cannot run.
type brokenSolver struct{ err error }

func (b brokenSolver) Solve(context.Context, *solver.Instance) (*solver.Solution, error) {
	return nil, b.err
}

func TestDormReportsItsSolver(t *testing.T) {
	broken := errors.New("no licence")
	if _, err := Run(t.Context(), testbed(1, 3), Dorm123(brokenSolver{broken})[0]); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// BenchmarkRun is the paper's day: 50 applications, 24 hours. It must take less than two seconds.
func BenchmarkRun(b *testing.B) {
	for _, policy := range []Policy{Swarm{}, Dorm123(nil)[0], Dorm123(nil)[1], Dorm123(nil)[2]} {
		b.Run("apps=50/servers=20/policy="+policy.Name(), func(b *testing.B) {
			s := testbed(50, 4)
			s.Horizon = 24 * time.Hour
			b.ReportAllocs()
			decisions := 0
			for b.Loop() {
				result, err := Run(context.Background(), s, policy)
				if err != nil {
					b.Fatal(err)
				}
				decisions = len(result.Samples)
			}
			b.ReportMetric(float64(decisions), "decisions")
		})
	}
}
