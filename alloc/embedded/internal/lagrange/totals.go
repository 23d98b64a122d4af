// This file evaluates the bound by what all applications use together: servers that have an application in common are one
// large server, and every application has one of its ways, [Geoffrion74].

package lagrange

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

const (
	// mostListed bounds the ways of all applications together, mostWide the kinds of all cells, and mostRows the quantities
	// that are kept exactly.
	mostListed, mostWide, mostRows = 20_000, 64, 6
	// totalCuts is how many cuts the descent of Totals keeps: it has few components.
	totalCuts = 20
	// Stays in place of a number of containers is what an application holds, where it is.
	Stays = -1
)

// Totals is an instance whose servers are joined, the relaxation of (6) by cells: servers are in one cell where some
// application may use both. What an application holds elsewhere it may keep there. It is an Oracle: its prices, on what a
// cell has of a kind, on (16) and on (15), are few.
//
// The multipliers are one vector: a price on each row, then lambda on the budget (15). A way is charged for what it uses, so
// that each application takes its best one by itself.
type Totals struct {
	p       *problem.Problem
	takers  []taker
	limits  []int64   // by row: a kind of a cell, and last (16), as far as it can be exceeded
	losses  float64   // the budget (15), with the tolerance of a solution
	descent *Descent  // lowers the bound, and keeps the best prices
	slope   []float64 // the subgradient of the last evaluation
}

// taker is an application, with all its options.
type taker struct{ ways []totalWay }

// totalWay is one way that an application may have: n containers of an entry in Apps, or Stays; n = 0 for none.
type totalWay struct {
	app         int32
	n           int64
	value, loss float64
	use         []int64 // by row
}

// Lower lowers the bound by so many rounds, and returns the least one so far: it holds whenever ctx ends. O(ways x rows) a round.
// It may be called again, and goes on where it ended.
func (t *Totals) Lower(ctx context.Context, rounds int) float64 {
	t.descent.Run(ctx, rounds, BlindTarget*t.descent.Bound, t.p.Floor())
	return t.descent.Bound
}

// Evaluate implements Oracle:
//
//	bound = sum_r x_r limit_r + lambda L + sum_i max over its ways of value - lambda loss - sum_r x_r use_r
//
// O(ways rows).
func (t *Totals) Evaluate(x []float64) float64 {
	// First what there is of everything, at its price, then what each application brings beside what it pays.
	last := len(t.limits)
	bound := float64(x[last] * t.losses)
	for r, limit := range t.limits {
		t.slope[r] = float64(limit)
		bound += float64(x[r] * float64(limit))
	}
	t.slope[last] = t.losses
	for a := range t.takers {
		at, value := t.takers[a].best(x)
		bound += value
		way := &t.takers[a].ways[at]
		for r, q := range way.use {
			t.slope[r] -= float64(q)
		}
		t.slope[last] -= way.loss
	}
	return bound
}

// gradient returns the subgradient at the last prices: of each row what is left of its limit, of lambda what is left of (15).
func (t *Totals) gradient() []float64 { return t.slope }

// best returns the way that brings most at prices, of equals the first one, and what it brings. There is at least one way.
// Ties go to the first in the order of the lister, which is that of the instance, so that runs repeat.
func (a *taker) best(x []float64) (at int, value float64) {
	value = math.Inf(-1)
	for w := range a.ways {
		if v := a.ways[w].priced(x); v > value {
			at, value = w, v
		}
	}
	return at, value
}

// priced returns what a way brings less what it pays: value - lambda loss - sum_r x_r use_r.
func (w *totalWay) priced(x []float64) float64 {
	v := w.value - float64(x[len(w.use)]*w.loss)
	for r, q := range w.use {
		v -= float64(x[r] * float64(q))
	}
	return v
}
