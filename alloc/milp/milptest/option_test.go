package milptest

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
)

// without is the reference with fewer claims.
func without(c milp.Capability) mutant { return mutant{can: bb.Solver{}.Capabilities() &^ c} }

// TestRefusalsAreChecked: a back-end that claims less passes, since milp.Solve refuses for it; one whose claims
// change between two calls does not.
func TestRefusalsAreChecked(t *testing.T) {
	for _, c := range []milp.Capability{milp.CanTimeLimit, milp.CanNodeLimit, milp.CanGaps, milp.CanHint, milp.CanLog, milp.CanTolerances} {
		if err := refusals(context.Background(), without(c)); err != nil {
			t.Errorf("without %v: %v", c, err)
		}
	}
	if err := refusals(context.Background(), &fickle{}); err == nil || !strings.Contains(err.Error(), "is not claimed") {
		t.Errorf("a back-end that claims a seed at the second question: %v", err)
	}
}

// fickle claims no seed when it is asked first, and everything from then on.
type fickle struct {
	bb.Solver
	asked bool
}

func (f *fickle) Capabilities() milp.Capability {
	if !f.asked {
		f.asked = true
		return milp.CanEverything &^ milp.CanSeed
	}
	return milp.CanEverything
}

// TestGapCheck: more than half of the bound away is not within the gap that was asked for.
func TestGapCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		bound  float64
		status milp.Status
		ok     bool
	}{
		{"the optimum", []float64{0, 1, 1, 1}, 21, milp.Optimal, true},
		{"half of the bound", []float64{0, 1, 0, 0}, 22, milp.Optimal, true},
		{"less than half", []float64{1, 0, 0, 0}, 22, milp.Optimal, false},
		{"no claim", []float64{0, 1, 1, 1}, 21, milp.Feasible, false},
	} {
		err := gap(context.Background(), says{answer: milp.Solution{Status: test.status, Values: test.values, Bound: test.bound}})
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestStillRight: another point, and a hint that was written to, are each told.
func TestStillRight(t *testing.T) {
	right := milp.Solution{Status: milp.Optimal, Values: []float64{0, 1, 1, 1}, Bound: 21}
	if err := stillRight(context.Background(), says{answer: right}, milp.Options{Hint: []float64{1, math.NaN(), 0, 0}}); err != nil {
		t.Error(err)
	}
	wrong := right
	wrong.Values = []float64{1, 0, 1, 1}
	if err := stillRight(context.Background(), says{answer: wrong}, milp.Options{RelativeGap: 0.5}); err == nil {
		t.Error("another point passes")
	}
}

// TestConcurrentJoinsFaults: a fault in any of the four searches is told.
func TestConcurrentJoinsFaults(t *testing.T) {
	if err := concurrent(context.Background(), bb.Solver{}); err != nil {
		t.Error(err)
	}
	bad := says{answer: milp.Solution{Status: milp.Infeasible}}
	if err := concurrent(context.Background(), bad); err == nil {
		t.Error("four wrong answers pass")
	}
}

// TestNeedsOf: the capability that is asked for is the one that the options call for.
func TestNeedsOf(t *testing.T) {
	for _, test := range []struct {
		opts milp.Options
		want milp.Capability
	}{
		{milp.Options{Hint: []float64{1}}, milp.CanHint}, {milp.Options{Workers: 2}, milp.CanWorkers},
		{milp.Options{Seed: 3}, milp.CanSeed}, {milp.Options{FeasibilityTolerance: 1e-7}, milp.CanTolerances},
	} {
		if got := needsOf(test.opts); got != test.want {
			t.Errorf("%+v: %v, want %v", test.opts, got, test.want)
		}
	}
}
