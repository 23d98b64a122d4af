// This file computes the root bound: coarse prices by shape first, then prices by server.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/p2"
)

const (
	// mostRounds and fewestRounds bound the subgradient rounds of one ascent.
	mostRounds, fewestRounds = 400, 30
	// roundWork is how many pairs of type and class one unit of effort evaluates.
	roundWork = 100_000
)

// root is the root bound in progress.
type root struct {
	p      *problem
	d      *dual
	ascent *ascent
	effort Effort
	rounds int64 // taken so far
}

// newRoot starts with the coarse prices, improved towards target, and spreads them over servers.
func newRoot(ctx context.Context, p *problem, effort Effort, target float64) *root {
	coarse := newDual(p, true)
	first := newAscent(coarse)
	r := &root{p: p, effort: effort}
	r.rounds = int64(first.run(ctx, r.roundsFor(coarse), target))
	if p.keepable == 0 {
		r.d, r.ascent = coarse, first
		return r
	}
	r.d = newDual(p, false)
	r.ascent = newAscent(r.d)
	for j, g := range r.d.classOf {
		from := int(coarse.classOf[j]) * p.kinds
		copy(r.ascent.at.server[int(g)*p.kinds:], first.best.server[from:from+p.kinds])
	}
	r.ascent.at.loss = first.best.loss
	r.ascent.adopt()
	return r
}

// roundsFor returns how many rounds the effort allows with d.
func (r *root) roundsFor(d *dual) int {
	each := len(r.p.types)*len(d.size) + len(r.p.apps)
	rounds := roundWork * float64(r.effort) / float64(each)
	return int(math.Min(mostRounds, math.Max(fewestRounds, rounds)))
}

// improve lowers the bound towards target, and leaves the dual evaluated at the best prices.
func (r *root) improve(ctx context.Context, target float64) {
	r.rounds += int64(r.ascent.run(ctx, r.roundsFor(r.d), target))
	r.d.evaluate(r.ascent.best)
}

// bound returns the best bound, and multipliers the prices that prove it.
func (r *root) bound() float64 { return r.ascent.bound }

func (r *root) multipliers() *p2.Multipliers { return r.d.multipliers(r.ascent.best) }
