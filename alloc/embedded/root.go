// This file computes the root bound: prices by shape first, then prices by server from there.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// lastGain is rounding: a bound this close to the incumbent proves it.
const lastGain = 1e-12

// root is the root bound. More effort takes more rounds of the same descents, so that the bound only gets better.
type root struct {
	p       *problem.Problem
	d       *lagrange.Dual
	descent *lagrange.Descent
	coarse  *lagrange.Descent // the prices by shape, where there are finer ones
}

// newRoot lowers the bound, but not below incumbent, which proves that: by prices by shape, and, if it is fine, from
// there by prices by server where some hold what may stay.
func newRoot(ctx context.Context, p *problem.Problem, tune *tuning.Numbers, effort Effort, fine bool, incumbent float64) *root {
	r := &root{p: p}
	r.lower(ctx, lagrange.NewDual(p, true), nil, tune, effort, incumbent)
	if fine && p.Pinnable > 0 {
		r.coarse = r.descent
		r.lower(ctx, lagrange.NewDual(p, false), r.d, tune, effort, incumbent)
	}
	return r
}

// lower lowers the bound of d, from the best prices of the coarser one if there is one, and leaves d evaluated at
// the best prices.
func (r *root) lower(ctx context.Context, d, coarser *lagrange.Dual, tune *tuning.Numbers, effort Effort, incumbent float64) {
	descent := lagrange.NewPriceDescent(d)
	if coarser != nil {
		d.Refine(descent.X, coarser, r.coarse.Best)
		descent.Start()
	}
	descent.Run(ctx, rounds(d, tune, effort), lagrange.BlindTarget*descent.Bound, incumbent+lastGain)
	descent.Back()
	r.d, r.descent = d, descent
}

// rounds returns how many rounds the effort allows with d.
func rounds(d *lagrange.Dual, tune *tuning.Numbers, effort Effort) int {
	each := len(d.Problem.Types)*len(d.Size) + len(d.Problem.Apps)
	most := tune.MostRounds * math.Max(1, float64(effort)/float64(Default))
	return int(math.Min(most, math.Max(tune.FewestRounds, tune.Rounds*float64(effort)/float64(each))))
}

// bound returns the best bound, and multipliers the prices that prove it.
func (r *root) bound() float64 { return r.better().Bound }

func (r *root) multipliers() *solver.Multipliers {
	d := r.better()
	d.Back()
	return d.F.(*lagrange.Dual).Multipliers(d.Best)
}

// better returns the prices that prove more: those by server, unless they were cut short.
func (r *root) better() *lagrange.Descent {
	if r.coarse != nil && r.coarse.Bound < r.descent.Bound {
		return r.coarse
	}
	return r.descent
}

// taken returns how many rounds there were.
func (r *root) taken() int64 {
	if r.coarse == nil {
		return r.descent.Rounds
	}
	return r.coarse.Rounds + r.descent.Rounds
}
