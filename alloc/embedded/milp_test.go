package embedded_test

import (
	"context"
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

// What is proven here HiGHS proves too, on its best model of P2: the same optimum, or that there is no
// solution. Where only a bound is proven it is not below HiGHS' optimum.
func TestAgainstHiGHS(t *testing.T) {
	instances := 24
	if testing.Short() {
		instances = 4
	}
	proven, infeasible := 0, 0
	for seed := range uint64(instances) {
		inst := alloctest.Table2(seed, 8+int(seed%3)*4, 10+int(seed%4)*4, true)
		if seed%4 == 3 {
			inst = alloctest.Mixed(seed, 5, 8, seed%8 == 3)
		}
		inst.AdjustBudget = int64(seed % 5)
		inst.LossBudget = []float64{1, 0.4, 2}[seed%3]
		// The relative gap of the general solver is narrowed to ours.
		opts := &mip.Options{Search: milp.Options{RelativeGap: 1e-9}}
		want, err := mip.New(ortools.HiGHS{}, mip.Disjunctive, opts).Solve(context.Background(), inst)
		if errors.Is(err, ortools.ErrUnavailable) {
			t.Skipf("NOT TESTED, OR-Tools is missing: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := embedded.New(&embedded.Options{Effort: embedded.Thorough}).Solve(context.Background(), inst)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case want.Status == solver.Infeasible:
			infeasible++
			if got.Status.HasSolution() {
				t.Errorf("seed %d: %v, HiGHS says infeasible", seed, got.Status)
			}
		case got.Status == solver.Infeasible || got.Bound < want.Objective-1e-6:
			t.Errorf("seed %d: %v with bound %g, HiGHS has %g", seed, got.Status, got.Bound, want.Objective)
		case got.Status == solver.Optimal:
			proven++
			if math.Abs(got.Objective-want.Objective) > 1e-6 {
				t.Errorf("seed %d: optimal with %g, HiGHS %v with %g", seed, got.Objective, want.Status, want.Objective)
			}
		}
	}
	t.Logf("%d proven, %d infeasible of %d", proven, infeasible, instances)
	if !testing.Short() && (proven < 10 || infeasible < 1) {
		t.Errorf("%d proven, %d infeasible: too few to tell", proven, infeasible)
	}
}
