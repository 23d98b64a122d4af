package embedded_test

import (
	"errors"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
)

// worthInstance draws an instance with worths by number, half of them with a budget for every adjustment, or one whose
// applications have options.
func worthInstance(family string, seed uint64, servers, apps int, previous bool) *solver.Instance {
	if family == "options" {
		return alloctest.Accelerators(seed, servers, apps, previous)
	}
	draw := map[string]func(uint64, int, int, bool) *solver.Instance{"table2": alloctest.Table2, "mixed": alloctest.Mixed, "gpus": alloctest.GPUs}[family]
	inst := draw(seed, servers, apps, previous)
	alloctest.AddWorths(seed, inst)
	if seed/2%2 == 0 {
		inst.AdjustBudget = int64(apps)
	}
	return inst
}

// Where HiGHS proves an optimum with worths by number it is within the bound here, and hardly above the answer.
func TestWorthsAgainstHiGHS(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	compared, close := 0, 0
	for seed := range seeds {
		for _, family := range []string{"gpus", "table2", "mixed"} {
			inst := worthInstance(family, seed, 6, 10, seed%3 > 0)
			want, err := mip.New(ortools.HiGHS{}, mip.Disjunctive, &mip.Options{Search: milp.Options{RelativeGap: 1e-9}}).Solve(t.Context(), inst)
			if errors.Is(err, ortools.ErrUnavailable) {
				t.Skipf("NOT TESTED, OR-Tools is missing: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := embedded.New(nil).Solve(t.Context(), inst)
			if err != nil {
				t.Fatal(err)
			}
			if want.Status != solver.Optimal || !got.Status.HasSolution() {
				continue
			}
			compared++
			if got.Bound < want.Objective-1e-6 || got.Objective > want.Objective+1e-6 {
				t.Errorf("%s, seed %d: %g, at most %g; HiGHS proves %g", family, seed, got.Objective, got.Bound, want.Objective)
			}
			if got.Objective >= want.Objective-0.001*math.Abs(want.Objective) {
				close++
			}
			if certified, err := got.Certified(inst); err != nil || certified < want.Objective-1e-6 {
				t.Errorf("%s, seed %d: certified %g, %v; HiGHS proves %g", family, seed, certified, err, want.Objective)
			}
		}
	}
	if !testing.Short() && (compared < 8 || float64(close) < .9*float64(compared)) {
		t.Errorf("of %d instances %d are within a thousandth", compared, close)
	}
}
