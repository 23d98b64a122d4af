// This file tests the rows of (G) against the exhaustive twin, in every form.

package mip_test

import (
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// The optimum of each form that is no relaxation is that of the twin, and the pooled one is not below it.
func TestCeilings(t *testing.T) {
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 300
	}
	binding := 0
	for seed := range seeds {
		inst := solvertest.General(seed)
		free, _ := p2oracle.Best(inst)
		solvertest.Grouped(inst, seed)
		best, _ := p2oracle.Best(inst)
		if free != nil && (best == nil || inst.Objective(best) < inst.Objective(free)-solver.ObjectiveTolerance) {
			binding++
		}
		for _, form := range mip.Forms() {
			model := must.Have(mip.BuildFor(&bb.Solver{}, inst, form))(t)
			s := must.Have(milp.Solve(t.Context(), &bb.Solver{}, model.MILP, nil))(t)
			switch {
			case best == nil:
				if s.Status == milp.Optimal && !model.Relaxed {
					t.Errorf("%d %s: %g where there is no solution", seed, form, s.Objective)
				}
			case s.Status != milp.Optimal:
				t.Errorf("%d %s: %v", seed, form, s.Status)
			case model.Relaxed && s.Objective < inst.Objective(best)-1e-6:
				t.Errorf("%d %s: %g below the optimum %g", seed, form, s.Objective, inst.Objective(best))
			case !model.Relaxed && math.Abs(s.Objective-inst.Objective(best)) > 1e-6:
				t.Errorf("%d %s: %g, and the optimum is %g", seed, form, s.Objective, inst.Objective(best))
			}
		}
	}
	if binding < int(seeds/25) {
		t.Errorf("ceilings bind in %d of %d", binding, seeds)
	}
}
