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
	// proofRounds is how many rounds a proof of infeasibility may take.
	proofRounds = 400
)

// Priced looks for prices that prove infeasibility: were every container worth nothing, the
// optimum would be 0, so that a dual bound below 0 is a contradiction. Without a price on loss it
// needs no fairness; with price 1 it says how much loss there must be.
//
// It also returns how many rounds that took.
//
// In formulas: with v = 0 the bound of lagrange.Dual is
//
//	sum_j p_j c_j + lambda L - (least priced cost of the minima and the loss)
//
// and below 0 the minima cost more than all capacity and all of the loss budget are worth at the same
// prices, so that no solution exists. The proof is exact at any prices; finding them is a heuristic, and a
// nil conflict says nothing.
func Priced(ctx context.Context, p *problem.Problem) (conflict *solver.Conflict, rounds int64) {
	// Without it the dual itself would return -Inf, of which no two sides could be told.
	if conflict := counting.NoRoom(p); conflict != nil {
		return conflict, 0
	}
	// Only the slice of applications is copied: demands and placements are read, never
	// written.
	worthless := *utilizing(p.Inst)
	for i := range worthless.Apps {
		worthless.Apps[i].Value = 0
	}
	// Capacity and minima alone are the shorter reason, hence come first. Prices scale
	// freely, so that with fairness any positive lambda stands for all: 1 keeps the unit
	// of loss.
	for _, lambda := range [...]float64{0, 1} {
		if ctx.Err() != nil {
			break
		}
		desc := newConflictDescent(lagrange.NewDual(problem.New(&worthless), false), lambda)
		// The descent ends a little below the margin that it has to pass.
		desc.Run(ctx, proofRounds, -2*leaf.ProofMargin, -2*leaf.ProofMargin)
		rounds += desc.Rounds
		// A bound that is below 0 by rounding only proves nothing.
		if desc.Bound > -leaf.ProofMargin {
			continue
		}
		c := &solver.Conflict{Constraints: []solver.Constraint{solver.Capacity, solver.Minimum}, Kind: -1}
		if lambda > 0 {
			c.Constraints = []solver.Constraint{solver.Fairness, solver.Minimum, solver.Capacity}
			// bound = lambda L - least loss with lambda = 1, hence need = L - bound.
			c.Need, c.Have = p.Inst.LossBudget-desc.Bound, p.Inst.LossBudget
		} else {
			c.Need, c.Have = sidesAt(desc)
		}
		// The bound used that not everyone may move; whether it needed that is not known.
		if p.Pinnable > p.Budget {
			c.Constraints = append(c.Constraints, solver.Adjust)
		}
		return c, rounds
	}
	return nil, rounds
}

// newConflictDescent starts with a price on loss that stays: 0 with the usual prices, else with none.
// newConflictDescent keeps lambda in place by a scale of 0: the two proofs differ by
// which constraints they use, and a free lambda would mix them.
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
// have = sum p_gk C_gk, scaled to 1, and need = (have - bound) / have. The prices are not all 0 where the
// bound is below 0.
func sidesAt(desc *lagrange.Descent) (need, have float64) {
	var worth float64
	for gk, have := range desc.F.(*lagrange.Dual).Have {
		worth += float64(desc.Best[gk] * have)
	}
	return 1 - desc.Bound/worth, 1
}
