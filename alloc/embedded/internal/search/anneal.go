// This file implements the search for a good solution: annealing with ruin and recreate,
// [Schrimpf00], on containers and on the set of free applications at once.

package search

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// Construct completes the first state greedily, or as much of it as there is time for until ctx ends.
func (a *Annealer) Construct(ctx context.Context) {
	m := a.move.begin(a.S)
	// All servers count as touched, since fills go to touched servers alone. Each is filled even where
	// somebody stands already: containers of the held ones leave gaps.
	for j := range a.S.p.Servers {
		m.touch(j)
	}
	a.recreate(ctx, m)
	// Even the greedy state may be a solution, and the step rule of the root bound needs an incumbent early.
	a.record()
}

// Load goes to the state that has these containers, where whoever may stay and is not adjusted is kept, and records it.
func (a *Annealer) Load(counts solver.Counts) {
	p := a.S.p
	s := nobody(p)
	for i, placed := range counts {
		if p.Apps[i].Pinnable && !p.Inst.Apps[i].Adjusted(placed) {
			s.settle(int32(i))
		}
	}
	s.formPools()
	for i, placed := range counts {
		for _, on := range placed {
			if s.free[i] {
				s.put(on.Server, p.Apps[i].Type, on.Count)
			}
		}
	}
	a.S = s
	a.record()
}

// Restart goes back to the first state, but keeps the incumbent.
func (a *Annealer) Restart(ctx context.Context) {
	// Another state is reached from the same start, because the random numbers go on where they were.
	a.S = NewState(a.S.p)
	// Reached is by start: whether starts agree is what saves the rest of them.
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
	// Without free applications, and none that may be freed, there is no move at all: the loop would spin on
	// moves that are not possible.
	if len(a.S.active) == 0 && a.S.p.Budget <= 0 {
		return
	}
	hope := 0.0
	// At no temperature an exchange gets no hope either: a polish must not leave what it polishes.
	if heat > 0 {
		hope = a.Hope * a.Unit()
	}
	// The energy is computed once, and carried along as the last one that was accepted.
	current := a.energy()
	for start := a.Work; a.Work-start < work && !(a.Best.Found && a.Best.Objective >= goal) && ctx.Err() == nil; {
		// heat 2^-(halvings w), w = the part of the work done, with 2^-x replaced between whole numbers by its
		// chord 1 - x/2: at both ends of a halving the two agree.
		cooled, part := math.Modf(a.tune.Halvings * float64(a.Work-start) / float64(work))
		// Ldexp scales by a power of two without rounding.
		threshold := math.Ldexp(heat, -int(cooled)) * (1 - part/2)
		// A state is accepted if its energy is at least current - threshold u^2.
		least := current - float64(threshold*a.square())
		made, possible := a.propose(least, hope)
		now := a.energy()
		if !possible || now < least {
			// A move that was not possible is taken back as well: it may have freed somebody before it failed.
			made.undo()
			continue
		}
		if now > current {
			// Only a rise may bring a new incumbent. The state need not have a better energy than the best so
			// far: the incumbent is compared by its own order.
			a.record()
		}
		current = now
	}
}

// square returns the square of a random number in [0, 1): most thresholds are small.
func (a *Annealer) square() float64 {
	u := a.rng.Float()
	// The mean of u^2 is 1/3, and half of the thresholds lie below a quarter of the temperature.
	return u * u
}

// Polish goes back to the incumbent and makes so much work of moves that the energy does not sink by: they find what
// is preferred among equals.
func (a *Annealer) Polish(ctx context.Context, work int64) {
	a.Restore()
	// No goal ends a polish: utilization is as good as it gets, and what is sought is less loss.
	a.Run(ctx, work, 0, math.Inf(1))
}

// Restore goes back to the incumbent, if there is one.
func (a *Annealer) Restore() {
	if a.Best.Found {
		a.S = stateOf(a.S.p, &a.Best)
	}
}
