// This file implements the search for a good solution: annealing with ruin and recreate,
// [Schrimpf00], on containers and on the set of free applications at once.

package search

import (
	"context"
	"math"
)

const (
	// checkEvery is how many moves pass between two looks at the temperature, and, at most, at the context.
	checkEvery = 64
	// checkWork is how many servers and types those moves may have to do with: on large clusters a move may
	// look at every server for every type, and the context is looked at after fewer of them.
	checkWork = 64_000
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

// Run makes moves at temperatures that start at heat and are halved halvings times on the way, and
// leaves the state wherever it ends; it ends early once the incumbent is worth goal. Acceptance is
// by a random threshold and cooling by halves, which need no exponential function and so are the
// same on every machine.
func (a *Annealer) Run(ctx context.Context, moves int64, heat, goal float64) {
	if len(a.S.active) == 0 && a.S.p.Budget <= 0 {
		return
	}
	hope := 0.0
	if heat > 0 {
		hope = a.Hope * a.Unit()
	}
	current, threshold, look := a.energy(), heat, a.Moves
	for m := range moves {
		if a.Moves >= look { // a move that is repaired counts as many
			if ctx.Err() != nil {
				return
			}
			look = a.Moves + a.between()
		}
		if m%checkEvery == 0 {
			if a.Best.Found && a.Best.Objective >= goal {
				return
			}
			cooled, part := math.Modf(a.tune.Halvings * float64(m) / float64(moves))
			threshold = math.Ldexp(heat, -int(cooled)) * (1 - part/2)
		}
		a.Moves++
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

// between returns how many moves pass between two looks at the context.
func (a *Annealer) between() int64 {
	return max(1, min(checkEvery, checkWork/int64(a.S.p.Servers+len(a.S.p.Types))))
}

// square returns the square of a random number in [0, 1): most thresholds are small.
func (a *Annealer) square() float64 {
	u := a.rng.Float()
	return u * u
}

// Polish goes back to the incumbent and makes so many moves that the energy does not sink by: they find what is
// preferred among equals.
func (a *Annealer) Polish(ctx context.Context, moves int64) {
	a.Restore()
	a.Run(ctx, moves, 0, math.Inf(1))
}

// Restore goes back to the incumbent, if there is one.
func (a *Annealer) Restore() {
	if a.Best.Found {
		a.S = stateOf(a.S.p, &a.Best)
	}
}
