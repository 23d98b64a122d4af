// This file plays the example of prices that are powers of two.

package slotsim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
	r := runTiny(t, OASiS{}, 3, []int64{1, 1, 1, 1},
		tinyJob("A", 1, 2, 4, table(30, 20, 10)), tinyJob("B", 1, 4, 4, table(40, 32, 20)),
		tinyJob("C", 1, 2, 2, table(9, 7, 2)), tinyJob("D", 1, 2, 2, table(9, 9, 2)))
	if diff := cmp.Diff([]int{1, 2, 2, 0}, r.Completion); diff != "" || r.Total != 69 {
		t.Errorf("total %v, want 69; completions (-want +got):\n%s", r.Total, diff)
	}
	certificate, err := primaldual.Certify(r.Ledger, []primaldual.Job{
		tinyJob("A", 1, 2, 4, table(30, 20, 10)), tinyJob("B", 1, 4, 4, table(40, 32, 20)),
		tinyJob("C", 1, 2, 2, table(9, 7, 2)), tinyJob("D", 1, 2, 2, table(9, 9, 2)),
	}, r.Total, nil)
	if err != nil || certificate.AtPrices < 252 || certificate.AtPrices > 252.001 {
		t.Errorf("bound at the prices %v (%v), want 252", certificate.AtPrices, err)
	}
}

// A label and bounds of its own: at a hundred times the price nobody is let in.
func TestOASiSBounds(t *testing.T) {
	dear := primaldual.Bounds{UWorker: []float64{1600}, LWorker: []float64{100}, UPS: []float64{400}, LPS: []float64{100}}
	r := runTiny(t, OASiS{Label: "dear", Bounds: &dear}, 3, []int64{1}, tinyJob("A", 1, 2, 4, always))
	if r.Policy != "dear" || r.Completion[0] != 0 {
		t.Errorf("%s: completion %d, want none", r.Policy, r.Completion[0])
	}
}
