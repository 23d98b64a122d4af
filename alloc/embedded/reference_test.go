package embedded

import (
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// Every reference instance: the bound is never below what was attained, the allocation is a
// solution no better than the reference's bound, the median utilization is the reference's, and those
// of 30 applications with a previous allocation are proven. With -v it prints the table.
func TestReferences(t *testing.T) {
	const median, worst = 1e-6, 0.008
	var short []float64 // by how much of the reference the answer falls short
	for _, ref := range alloctest.References() {
		if testing.Short() && len(ref.Instance.Capacity) > 20 {
			continue
		}
		sol := solve(t, nil, ref.Instance)
		if !sol.Status.HasSolution() {
			t.Errorf("%s: status %v", ref.Name, sol.Status)
			continue
		}
		if err := ref.Instance.Check(sol.Counts); err != nil {
			t.Errorf("%s: %v", ref.Name, err)
		}
		if sol.Objective > ref.Bound+1e-6 {
			t.Errorf("%s: utilization %g, but the reference proved at most %g", ref.Name, sol.Objective, ref.Bound)
		}
		attained := sol.Objective
		if !ref.Relaxed {
			attained = max(attained, ref.Objective)
		}
		checkBound(t, ref.Instance, sol, attained)
		if sol.Status != solver.Optimal && strings.Contains(ref.Name, "prev") && len(ref.Instance.Apps) == 30 {
			t.Errorf("%s: %v with gap %g", ref.Name, sol.Status, sol.Gap())
		}
		short = append(short, 1-sol.Objective/ref.Objective)
		t.Logf("%-22s utilization %.5f reference %.5f %+7.3f %%  own gap %6.3f %%  %v by %v, effort %d", ref.Name,
			sol.Objective, ref.Objective, -100*short[len(short)-1], 100*sol.Gap(), sol.Status, sol.Proven, sol.Effort)
	}
	slices.Sort(short)
	last := len(short) - 1
	t.Logf("short of the reference: median %.4f %%, worst %.3f %%", 100*short[len(short)/2], 100*short[last])
	if short[len(short)/2] > median || short[last] > worst {
		t.Errorf("short of the reference by %g in the median, %g at worst", short[len(short)/2], short[last])
	}
}
