// This file computes the root bound: coarse prices by shape first, then prices by server.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/colgen"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// lastGain is rounding: a bound this close to the incumbent proves it.
const lastGain = 1e-12

// root is the root bound in progress.
type root struct {
	p       *problem.Problem
	d       *lagrange.Dual
	descent *lagrange.Descent
	tune    *tuning.Numbers
	effort  Effort
	coarse  *lagrange.Descent // the prices by shape, once there are finer ones
}

// newRoot starts with the coarse prices, improved towards incumbent; with no effort as little as possible.
func newRoot(ctx context.Context, p *problem.Problem, tune *tuning.Numbers, effort Effort, incumbent float64) *root {
	r := &root{p: p, tune: tune, effort: effort, d: lagrange.NewDual(p, true)}
	r.descent = lagrange.NewPriceDescent(r.d)
	r.improve(ctx, incumbent)
	return r
}

// refine goes over to prices by server where some hold what may stay; on many servers they start at the
// coarse ones.
func (r *root) refine() {
	p, coarse, from := r.p, r.d, r.descent
	if p.Pinnable == 0 {
		return
	}
	r.coarse = from
	r.d = lagrange.NewDual(p, false)
	r.descent = lagrange.NewPriceDescent(r.d)
	if p.Servers <= r.tune.ColdServers {
		return
	}
	for j, g := range r.d.ClassOf {
		c := int(coarse.ClassOf[j]) * p.Kinds
		copy(r.descent.X[int(g)*p.Kinds:], from.Best[c:c+p.Kinds])
	}
	r.descent.X[r.d.Dim()-1] = coarse.Lambda(from.Best)
	r.descent.Start()
}

// roundsFor returns how many rounds the effort allows with d.
func (r *root) roundsFor(d *lagrange.Dual) int {
	each := len(r.p.Types)*len(d.Size) + len(r.p.Apps)
	rounds := r.tune.Rounds * float64(r.effort) / float64(each)
	return int(math.Min(r.tune.MostRounds, math.Max(r.tune.FewestRounds, rounds)))
}

// improve lowers the bound towards incumbent, and leaves the dual evaluated at the best prices.
func (r *root) improve(ctx context.Context, incumbent float64) {
	r.descent.Theta = r.descent.FirstStep
	r.descent.Run(ctx, r.roundsFor(r.d), lagrange.TargetShare*incumbent, incumbent+lastGain)
	if r.p.Pinnable == 0 {
		colgen.CloseBlocks(ctx, r.descent, incumbent+lastGain)
	}
	r.descent.Back()
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
