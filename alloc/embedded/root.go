// This file computes the root bound: coarse prices by shape first, then prices by server.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

const (
	// mostRounds and fewestRounds bound the subgradient rounds of one descent.
	mostRounds, fewestRounds = 400, 30
	// roundWork is how many pairs of type and class one unit of effort evaluates.
	roundWork = 100_000
	// coldServers is up to how many servers the prices by server start afresh: those by shape have
	// settled where the price on loss no longer moves. With more servers they would never get there.
	coldServers = 200
	// lastGain is rounding.
	lastGain = 1e-12
)

const (
	// startPrice is the price of all of a kind at the start: a full cluster is worth about one a
	// kind, and the optimal prices sum to a little less.
	startPrice = 0.8
	// keptLossScale is the scale of lambda where applications may stay: the loss then jumps by
	// whole applications, and a full scale makes lambda swing.
	keptLossScale = 0.05
)

const (
	// targetShare is how much of the incumbent's value the step rule aims at.
	targetShare = 0.999
	// blindTarget is what it aims at, in parts of the bound at the start, without an incumbent.
	blindTarget = 0.9
)

// newPriceDescent starts from prices in proportion to 1/C_k, and none on loss.
func newPriceDescent(d *dual) *descent {
	p, last := d.p, d.dim()-1
	desc := newDescent(d, d.dim(), 0)
	desc.scale[last] = 1
	if p.keepable > 0 {
		desc.scale[last] = keptLossScale
	}
	for gk, have := range d.have {
		if have > 0 {
			total := float64(p.total[gk%p.kinds])
			desc.scale[gk] = 1 / math.Sqrt(have*total)
			desc.x[gk] = startPrice / total
		}
	}
	desc.start()
	return desc
}

// root is the root bound in progress.
type root struct {
	p       *problem
	d       *dual
	descent *descent
	effort  Effort
	coarse  *descent // the prices by shape, once there are finer ones
}

// newRoot starts with the coarse prices, improved towards incumbent; with no effort as little as possible.
func newRoot(ctx context.Context, p *problem, effort Effort, incumbent float64) *root {
	r := &root{p: p, effort: effort, d: newDual(p, true)}
	r.descent = newPriceDescent(r.d)
	r.improve(ctx, incumbent)
	return r
}

// refine goes over to prices by server where some hold what may stay; on many servers they start at the
// coarse ones.
func (r *root) refine() {
	p, coarse, from := r.p, r.d, r.descent
	if p.keepable == 0 {
		return
	}
	r.coarse = from
	r.d = newDual(p, false)
	r.descent = newPriceDescent(r.d)
	if p.servers <= coldServers {
		return
	}
	for j, g := range r.d.classOf {
		c := int(coarse.classOf[j]) * p.kinds
		copy(r.descent.x[int(g)*p.kinds:], from.best[c:c+p.kinds])
	}
	r.descent.x[r.d.dim()-1] = coarse.lambda(from.best)
	r.descent.start()
}

// roundsFor returns how many rounds the effort allows with d.
func (r *root) roundsFor(d *dual) int {
	each := len(r.p.types)*len(d.size) + len(r.p.apps)
	rounds := roundWork * float64(r.effort) / float64(each)
	return int(math.Min(mostRounds, math.Max(fewestRounds, rounds)))
}

// improve lowers the bound towards incumbent, and leaves the dual evaluated at the best prices.
func (r *root) improve(ctx context.Context, incumbent float64) {
	r.descent.theta = r.descent.firstStep
	r.descent.run(ctx, r.roundsFor(r.d), targetShare*incumbent, incumbent+lastGain)
	if r.p.keepable == 0 {
		closeBlocks(ctx, r.descent, incumbent+lastGain)
	}
	r.descent.back()
}

// bound returns the best bound, and multipliers the prices that prove it.
func (r *root) bound() float64 { return r.better().bound }

func (r *root) multipliers() *solver.Multipliers {
	d := r.better()
	d.back()
	return d.f.(*dual).multipliers(d.best)
}

// better returns the prices that prove more: those by server, unless they were cut short.
func (r *root) better() *descent {
	if r.coarse != nil && r.coarse.bound < r.descent.bound {
		return r.coarse
	}
	return r.descent
}

// taken returns how many rounds there were.
func (r *root) taken() int64 {
	if r.coarse == nil {
		return r.descent.rounds
	}
	return r.coarse.rounds + r.descent.rounds
}
