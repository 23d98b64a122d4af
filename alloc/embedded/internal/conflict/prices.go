// This file proves that an instance has no solution by prices, [Geoffrion74].

package conflict

import (
	"context"

	"github.com/apportion/apportion/alloc/embedded/internal/counting"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

const (
	// proofRounds is how many subgradient rounds a proof of infeasibility may take.
	proofRounds = 400
)

// Priced looks for prices that prove infeasibility: were every container worth nothing, the
// optimum would be 0, so that a dual bound below 0 is a contradiction. Without a price on loss it
// needs no fairness; with price 1 it says how much loss there must be.
//
// It also returns how many rounds that took.
func Priced(ctx context.Context, p *problem.Problem) (conflict *solver.Conflict, rounds int64) {
	if conflict := counting.NoRoom(p); conflict != nil {
		return conflict, 0
	}
	worthless := *p.Inst
	worthless.Apps = append([]solver.App(nil), worthless.Apps...)
	for i := range worthless.Apps {
		worthless.Apps[i].Value = 0
	}
	for _, lambda := range [...]float64{0, 1} {
		desc := newConflictDescent(lagrange.NewDual(problem.New(&worthless), false), lambda)
		desc.Run(ctx, proofRounds, -2*leaf.ProofMargin*lagrange.TargetShare, -2*leaf.ProofMargin)
		rounds += desc.Rounds
		if desc.Bound > -leaf.ProofMargin {
			continue
		}
		c := &solver.Conflict{Constraints: []solver.Constraint{solver.Capacity, solver.Minimum}, Kind: -1}
		if lambda > 0 {
			c.Constraints = []solver.Constraint{solver.Fairness, solver.Minimum, solver.Capacity}
			c.Need, c.Have = p.Inst.LossBudget-desc.Bound, p.Inst.LossBudget
		} else {
			c.Need, c.Have = sidesAt(desc)
		}
		if p.Pinnable > p.Budget {
			c.Constraints = append(c.Constraints, solver.Adjust)
		}
		return c, rounds
	}
	return nil, rounds
}

// newConflictDescent starts with a price on loss that stays: 0 with the usual prices, else with none.
func newConflictDescent(d *lagrange.Dual, lambda float64) *lagrange.Descent {
	desc := lagrange.NewPriceDescent(d)
	last := d.Dim() - 1
	if lambda > 0 {
		clear(desc.X)
	}
	desc.X[last], desc.Scale[last] = lambda, 0
	desc.Start()
	return desc
}

// sidesAt returns what must be placed and what there is, both at the best prices and in parts of the
// latter, where the bound is their difference.
func sidesAt(desc *lagrange.Descent) (need, have float64) {
	var worth float64
	for gk, have := range desc.F.(*lagrange.Dual).Have {
		worth += float64(desc.Best[gk] * have)
	}
	return 1 - desc.Bound/worth, 1
}
