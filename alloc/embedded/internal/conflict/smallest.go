// This file finds a smallest set of constraints that cannot hold together, by leaving one out after the other.

package conflict

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/enumerate"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// Smallest returns a smallest set of constraints that cannot hold together, with the two sides of
// the first one, found by enumeration. limit bounds the nodes of each; what cannot be decided stays in.
//
// It takes at most four enumerations. Smallest means that no member can be left out, not that there are
// fewest: of two such sets the order below decides.
func Smallest(ctx context.Context, p *problem.Problem, limit int64) *solver.Conflict {
	relaxed, c := LeaveOut(p, func(without *solver.Instance) bool {
		// An enumeration that ran out of nodes is no proof, so that the constraint stays in.
		e, done := enumerate.Plain(ctx, without, limit)
		return done && !e.Found
	})
	c.Need, c.Have = sides(ctx, relaxed, c.Constraints[0], limit)
	return c
}

// LeaveOut leaves out one constraint after the other for as long as empty says that there is no solution
// without it either; capacity always holds. It returns the instance with what is left, and that.
// This is the deletion filter: the invariant is that relaxed has no solution. One pass is enough, as
// a constraint that was needed once is needed in every smaller set.
func LeaveOut(p *problem.Problem, empty func(without *solver.Instance) bool) (*solver.Instance, *solver.Conflict) {
	relaxed := *utilizing(p.Inst)
	c := &solver.Conflict{Kind: -1}
	// Where several could go, the one tried first does: fairness, then adjustments, then
	// minima.
	for _, constraint := range [...]solver.Constraint{solver.Fairness, solver.Adjust, solver.Minimum} {
		if without := relax(&relaxed, constraint); empty(without) {
			relaxed = *without
			continue
		}
		c.Constraints = append(c.Constraints, constraint)
	}
	c.Constraints = append(c.Constraints, solver.Capacity)
	return &relaxed, c
}

// utilizing returns inst with the utilization alone as its objective, and applications of its own: what else they are
// worth decides nothing about whether there is a solution.
func utilizing(inst *solver.Instance) *solver.Instance {
	alone := *inst
	alone.LossPrice = 0
	alone.Apps = append([]solver.App(nil), inst.Apps...)
	for i := range alone.Apps {
		app := &alone.Apps[i]
		app.Worth, app.Idle, app.Stay = nil, 0, 0
	}
	return &alone
}

// noBudget is a budget that nothing exceeds.
const noBudget = 1e15

// relax returns inst without constraint.
// relax shares everything with inst that the constraint does not name, and never
// writes to that.
func relax(inst *solver.Instance, constraint solver.Constraint) *solver.Instance {
	without := *inst
	switch constraint {
	case solver.Fairness:
		without.LossBudget = noBudget
	case solver.Adjust:
		without.AdjustBudget = math.MaxInt64
	case solver.Minimum:
		without.Apps = append([]solver.App(nil), inst.Apps...)
		for i := range without.Apps {
			without.Apps[i].Min = 0
		}
	}
	return &without
}

// sides returns the two sides of the violated constraint: the least loss, the fewest adjustments
// against the budget; or the sum of the minima against what can be had of it.
// It leaves the constraint out and minimizes what it limits, which enumeration does when the objective
// that it prefers first is made equal for all:
//
//	fairness     all values 0, so that the least loss is preferred
//	adjustments  values and losses 0, so that the fewest adjusted are
//	minima       one container up to the minimum is worth 1, and more are not allowed
//
// Zeros say that it could not be found out.
func sides(ctx context.Context, inst *solver.Instance, constraint solver.Constraint, limit int64) (need, have float64) {
	without := relax(inst, constraint)
	without.Apps = append([]solver.App(nil), without.Apps...)
	for i := range without.Apps {
		app := &without.Apps[i]
		switch constraint {
		case solver.Fairness:
			app.Value = 0
		case solver.Adjust:
			app.Value, app.Delta, app.Share, app.Losses = 0, 0, 0, nil
		default:
			// Max must be at least 1 to be valid; where the minimum is 0 that container is worth
			// nothing.
			least := inst.Apps[i].Min
			app.Value, app.Max = float64(min(1, least)), max(1, least)
			need += float64(least)
		}
	}
	e, done := enumerate.Plain(ctx, without, limit)
	switch {
	case !done || !e.Found:
		return 0, 0
	case constraint == solver.Fairness:
		return e.Best.Loss, inst.LossBudget
	case constraint == solver.Adjust:
		return float64(e.Best.Cost), float64(inst.AdjustBudget)
	}
	return need, e.Best.Objective
}
