// This file implements the search for a good solution: annealing with ruin and recreate,
// [Schrimpf00], on containers and on the set of free applications at once.

package search

import (
	"context"
	"math"
)

// Construct completes the first state greedily, or as much of it as there is time for until ctx ends.
func (a *Annealer) Construct(ctx context.Context) {
	m := a.move.begin(a.S)
	for j := range a.S.p.Servers {
		m.touch(j)
	}
	a.recreate(ctx, m)
	a.record()
}

// Restart goes back to the first state, but keeps the incumbent.
func (a *Annealer) Restart(ctx context.Context) {
	a.S = NewState(a.S.p)
	a.Reached = math.Inf(-1)
	a.Construct(ctx)
}

// Run makes moves until they have taken so much work, and leaves the state wherever it ends; it ends early once the
// incumbent is worth goal. They are made at temperatures that start at heat and are halved halvings times on the way.
// Acceptance is by a random threshold and cooling by halves, which need no exponential function and so are the same on
// every machine.
//
// The temperature falls with the work rather than with the moves, as an exchange on a large cluster takes as much
// as hundreds of others.
func (a *Annealer) Run(ctx context.Context, work int64, heat, goal float64) {
	if len(a.S.active) == 0 && a.S.p.Budget <= 0 {
		return
	}
	hope := 0.0
	if heat > 0 {
		hope = a.Hope * a.Unit()
	}
	current := a.energy()
	for start := a.Work; a.Work-start < work && !(a.Best.Found && a.Best.Objective >= goal) && ctx.Err() == nil; {
		cooled, part := math.Modf(a.tune.Halvings * float64(a.Work-start) / float64(work))
		threshold := math.Ldexp(heat, -int(cooled)) * (1 - part/2)
		least := current - float64(threshold*a.square())
		made, possible := a.propose(least, hope)
		now := a.energy()
		if !possible || now < least {
			made.undo()
			continue
		}
		if now > current {
			a.record()
		}
		current = now
	}
}

// square returns the square of a random number in [0, 1): most thresholds are small.
func (a *Annealer) square() float64 {
	u := a.rng.Float()
	return u * u
}

// Polish goes back to the incumbent and makes so much work of moves that the energy does not sink by: they find what
// is preferred among equals.
func (a *Annealer) Polish(ctx context.Context, work int64) {
	a.Restore()
	a.Run(ctx, work, 0, math.Inf(1))
}

// Restore goes back to the incumbent, if there is one.
func (a *Annealer) Restore() {
	if a.Best.Found {
		a.S = stateOf(a.S.p, &a.Best)
	}
}
