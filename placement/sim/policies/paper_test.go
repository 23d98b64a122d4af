// This file plays the example of OASiS' prices that are powers of two, and the three jobs of the thesis.

package policies

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
)

// Reference: [OASiS] Algorithm 1; with these prices a slot of 1, 2, 3, 4 workers costs 2, 3, 5, 6 on
// free servers, so that three jobs are worth their price and the fourth, 9 at best, is not.
func TestPaperPowersOfTwo(t *testing.T) {
	table := func(values ...float64) primaldual.Steps {
		var steps primaldual.Steps
		for d, v := range values {
			steps = append(steps, primaldual.Step{Within: d, Value: v})
		}
		return steps
	}
	r := runTiny(t, &OASiS{Bounds: &tinyBounds}, 3, []int64{1, 1, 1, 1},
		tinyJob("A", 1, 2, 4, table(30, 20, 10)), tinyJob("B", 1, 4, 4, table(40, 32, 20)),
		tinyJob("C", 1, 2, 2, table(9, 7, 2)), tinyJob("D", 1, 2, 2, table(9, 9, 2)))
	if diff := cmp.Diff([]int{1, 2, 2, 0}, r.completion); diff != "" || r.Worth() != 69 {
		t.Errorf("total %v, want 69; completions (-want +got):\n%s", r.Worth(), diff)
	}
	ledger := must.Have(sim.Ledger(r.scenario, r.Result, &tinyBounds))(t)
	var jobs []primaldual.Job
	for i := range r.scenario.Jobs {
		jobs = append(jobs, *r.scenario.Jobs[i].Training)
	}
	certificate, err := primaldual.Certify(ledger, jobs, r.Worth(), nil)
	if err != nil || certificate.AtPrices < 252 || certificate.AtPrices > 252.001 {
		t.Errorf("bound at the prices %v (%v), want 252", certificate.AtPrices, err)
	}
}

// A label and bounds of its own: at a hundred times the price nobody is let in.
func TestOASiSBounds(t *testing.T) {
	dear := primaldual.Bounds{UWorker: []float64{1600}, LWorker: []float64{100}, UPS: []float64{400}, LPS: []float64{100}}
	r := runTiny(t, &OASiS{Label: "dear", Bounds: &dear}, 3, []int64{1}, tinyJob("A", 1, 2, 4, always))
	if r.Policy != "dear" || r.completion[0] != 0 {
		t.Errorf("%s: completion %d, want none", r.Policy, r.completion[0])
	}
}

// thesisJobs are the three jobs of §6.1.3. Their work is what the thesis' times under NA imply for a
// worker that is shared evenly: MNIST-T 84.7 s, MNIST-P until 280.5 s, all until 394.0 s.
func thesisJobs() *sim.Scenario {
	return onWorkers(1, whole("VAE-P", 0, 259634*time.Millisecond), whole("MNIST-P", 40*second, 106133*time.Millisecond),
		whole("MNIST-T", 80*second, 28233*time.Millisecond))
}

// Reference: [Zheng] §6.1.3: makespan 394.0 s, overlap of two jobs 240.5 s, of three 84.7 s.
func TestThreeJobsWithoutLimits(t *testing.T) {
	result := must.Have(sim.Run(t.Context(), thesisJobs(), &Default{}))(t)
	for i, want := range []time.Duration{394 * second, 240500 * time.Millisecond, 84700 * time.Millisecond} {
		if got := result.Jobs[i].Response(); (got - want).Abs() > 10*time.Millisecond {
			t.Errorf("%s took %v, want %v", result.Jobs[i].ID, got, want)
		}
	}
}

// Reference: [Zheng] §6.1.3: when MNIST-P is launched at 40 s, VAE's limit is 0.25 and it uses 25 %.
func TestConvergedJobIsHeldAtAQuarter(t *testing.T) {
	policy := must.Have(NewFlowCon(flowcon.Config{Interval: 20 * second, Alpha: 0.05}, nil))(t)
	result := must.Have(sim.Run(t.Context(), thesisJobs(), policy))(t)
	for i, want := range []sim.Span{{Rate: 250_000, Limit: 250_000}, {Rate: 750_000, Limit: sim.Whole}} {
		var got *sim.Span
		for k := range result.Jobs[i].Spans {
			if span := &result.Jobs[i].Spans[k]; span.From <= 40*second && 40*second < span.Until {
				got = span
			}
		}
		if got == nil || got.Rate != want.Rate || got.Limit != want.Limit {
			t.Errorf("%s at 40 s: %+v, want %+v", result.Jobs[i].ID, got, want)
		}
	}
}
