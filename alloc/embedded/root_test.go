package embedded

import (
	"context"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// The prices by server prove more than those by shape, and the bound only comes down.
func TestRootComesDown(t *testing.T) {
	for seed := range uint64(5) {
		for _, inst := range []*solver.Instance{alloctest.Table2(seed, 12, 15, true), alloctest.Mixed(seed, 12, 15, true)} {
			p := problem.New(inst)
			r := newRoot(context.Background(), p, tuning.Standard(), Default, 2)
			coarse := r.bound()
			r.refine()
			if r.bound() > coarse {
				t.Errorf("seed %d: %g by shape, %g to start with by server", seed, coarse, r.bound())
			}
			r.improve(context.Background(), 2)
			if r.bound() > coarse || r.taken() > 2*int64(r.tune.MostRounds) || r.taken() <= 0 {
				t.Errorf("seed %d: from %g to %g in %d rounds", seed, coarse, r.bound(), r.taken())
			}
			if at := r.d.Evaluate(r.descent.Best); math.Abs(at-r.descent.Bound) > 1e-12 {
				t.Errorf("seed %d: bound %.15g, its prices give %.15g", seed, r.descent.Bound, at)
			}
		}
	}
}
