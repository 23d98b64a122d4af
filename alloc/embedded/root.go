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
	pieces  *lagrange.Descent // with prices on pieces beside; nil: none
}

// rootOptions say how far a root goes.
type rootOptions struct {
	tune   *tuning.Numbers
	effort Effort
	fine   bool    // prices by server too, where some hold what may stay
	stop   float64 // the bound need not be less: an incumbent attains it
	// choices are the options of applications, each of which is apart in the problem.
	choices []solver.Choice
}

// newRoot lowers the bound by prices by shape, and, unless ctx has ended, from there by prices by server. The prices by shape are
// few and soon good; those by server see what stays on each, and matter only where something may stay.
func newRoot(ctx context.Context, p *problem.Problem, opts rootOptions) *root {
	r := &root{p: p}
	r.lower(ctx, opts.dual(p, true), &opts)
	if opts.fine && p.Pinnable > 0 && ctx.Err() == nil {
		r.coarse = r.descent
		r.lower(ctx, opts.dual(p, false), &opts)
	}
	return r
}

// pricePieces adds prices on pieces to those by shape, from the best of these.
func (r *root) pricePieces(ctx context.Context, opts *rootOptions) {
	d, from := lagrange.NewDual(r.p, true), r.descent
	if r.coarse != nil {
		from = r.coarse
	}
	if !d.WithPieces() {
		return
	}
	r.pieces = lagrange.NewPriceDescent(d)
	d.Refine(r.pieces.X, from.F.(*lagrange.Dual), from.Best)
	r.pieces.Start()
	r.pieces.Run(ctx, opts.rounds(d), lagrange.BlindTarget*r.pieces.Bound, opts.stop+lastGain)
}

// dual returns the bound by prices, by shape if coarse.
func (o *rootOptions) dual(p *problem.Problem, coarse bool) *lagrange.Dual {
	d := lagrange.NewDual(p, coarse)
	if len(o.choices) > 0 {
		d.WithOptions(o.choices)
	}
	return d
}

// lower lowers the bound of d, from the best prices so far if there are any, and leaves d evaluated at the best.
func (r *root) lower(ctx context.Context, d *lagrange.Dual, opts *rootOptions) {
	descent := lagrange.NewPriceDescent(d)
	if r.d != nil {
		// The finer dual starts where the coarser one ended: cold it hardly moves on large clusters.
		d.Refine(descent.X, r.d, r.descent.Best)
		descent.Start()
	}
	// The target is a part of the bound, as the incumbent here may be far from the optimum. Without a solution the bound falls
	// for ever: below the floor that is proven.
	stop := math.Max(opts.stop+lastGain, r.p.Floor())
	descent.Run(ctx, opts.rounds(d), lagrange.BlindTarget*descent.Bound, stop)
	descent.Back()
	r.d, r.descent = d, descent
}

// rounds returns how many rounds the effort allows with d.
func (o *rootOptions) rounds(d *lagrange.Dual) int {
	// each is what a round evaluates: pairs of type and class, and applications.
	each := len(d.Problem.Types)*len(d.Size) + len(d.Problem.Apps)
	// An effort beyond the default raises the limit as well, else it would be spent on nothing.
	most := o.tune.MostRounds * math.Max(1, float64(o.effort)/float64(Default))
	return int(math.Min(most, math.Max(o.tune.FewestRounds, o.tune.Rounds*float64(o.effort)/float64(each))))
}

// bound returns the best bound.
func (r *root) bound() float64 { return r.better().Bound }

// multipliers returns the prices that prove the bound, in fresh slices. One evaluation.
func (r *root) multipliers() *solver.Multipliers {
	d := r.better()
	// Back evaluates at the best again: Multipliers reads the scores of the last evaluation.
	d.Back()
	return d.F.(*lagrange.Dual).Multipliers(d.Best)
}

// better returns the prices that prove more: those by server, unless they were cut short.
func (r *root) better() *lagrange.Descent {
	best := r.descent
	for _, d := range [...]*lagrange.Descent{r.coarse, r.pieces} {
		if d != nil && d.Bound < best.Bound {
			best = d
		}
	}
	return best
}

// taken returns how many rounds there were.
func (r *root) taken() int64 {
	rounds := r.descent.Rounds
	for _, d := range [...]*lagrange.Descent{r.coarse, r.pieces} {
		if d != nil {
			rounds += d.Rounds
		}
	}
	return rounds
}
