// This file holds the elastic loss budget: where no allocation within the adjustment budget (16) holds (15), the
// budget is the least loss that one has, [Program §3], point 4.

package alloc

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// solveElastic solves P2 for all who are in the draft, with the loss budget that Theta1 gives if that can be had,
// else with the least loss. The draft shows that there is a solution, so that the answer always has one.
func (r *resolved) solveElastic(ctx context.Context, d *draft, by solver.Solver) (*attempt, error) {
	apps := d.taken()
	a := &attempt{apps: apps, instance: r.instance(apps)}
	// Nobody to be served, or nowhere: nothing is the only answer, and no solver need be asked.
	if len(apps) == 0 || len(r.capacity) == 0 {
		a.solution = &solver.Solution{Status: solver.Optimal, Counts: make(solver.Counts, len(apps)), Proven: solver.ByOrder}
		a.solution.Objective = a.instance.Objective(a.solution.Counts)
		a.solution.Bound = a.solution.Objective
		return a, nil
	}
	a.instance.Start = gather(apps, d.counts)
	var err error
	if a.solution, err = solve(ctx, a.instance, by); err != nil || a.solution.Status.HasSolution() {
		return a, err
	}
	// The budget cannot be held, or nobody has found how: from here on it is the least loss.
	interrupted, budget := a.solution.Interrupted, a.instance.LossBudget
	counts, err := r.loosen(ctx, a, by)
	if err != nil {
		return nil, err
	}
	if a.solution, err = again(ctx, a.instance, by); err != nil {
		return nil, err
	}
	// The allocation of least loss is a solution, whether or not the solver finds one with that budget.
	if !a.solution.Status.HasSolution() {
		bound, objective := a.solution.Bound, a.instance.Objective(counts)
		// A solver that believes there is none has no bound worth having.
		if a.solution.Status == solver.Infeasible || !(bound >= objective) {
			bound = a.instance.Cap()
		}
		a.solution = &solver.Solution{Status: solver.Feasible, Counts: counts, Objective: objective,
			Bound: bound, Certificate: a.solution.Certificate, Interrupted: a.solution.Interrupted}
	}
	a.solution.Interrupted = a.solution.Interrupted || interrupted
	a.lower(r, budget)
	return a, nil
}

// again asks a solver once more. When the context has ended it asks nothing: the draft is an answer.
func again(ctx context.Context, inst *solver.Instance, by solver.Solver) (*solver.Solution, error) {
	if ctx.Err() != nil {
		return &solver.Solution{Status: solver.Unknown, Bound: inst.Cap(), Interrupted: true}, nil
	}
	return solve(ctx, inst, by)
}

// lower makes the loss of the answer the budget where that is less than what was taken for the least, and takes the budget that
// Theta1 gives where the answer is within that. What is best with a larger budget is so with a lesser one that it holds.
func (a *attempt) lower(r *resolved, budget float64) {
	loss := a.instance.FairnessLoss(a.solution.Counts)
	switch {
	case a.least == nil || loss >= a.least.Loss:
	case loss <= budget:
		a.instance.LossBudget, a.least = budget, nil
	default:
		a.instance.LossBudget, a.least.Loss, a.least.Bound = a.raisedBudget(r, loss), loss, math.Min(loss, a.least.Bound)
	}
}

// loosen raises the loss budget of a to the least loss that the solver finds, or to that of the draft, and
// returns the allocation that has it: of the two that which loses less. Where that is within the budget after all, the
// budget stays, and a.least is nil.
// One more search of the solver, with the effort of the first. The decision carries its certificate, so
// that anybody can check that the budget had to be raised.
func (r *resolved) loosen(ctx context.Context, a *attempt, by solver.Solver) (solver.Counts, error) {
	// The instance of a keeps its budget until the least loss is known, since (15) is measured on it below.
	inst := leastLossInstance(a.instance)
	s, err := again(ctx, inst, by)
	if err != nil {
		return nil, err
	}
	// The draft is a solution of everything but (15), and stands in where the solver finds none.
	counts, loss := a.instance.Start, a.instance.FairnessLoss(a.instance.Start)
	if s.Status.HasSolution() {
		if found := a.instance.FairnessLoss(s.Counts); found < loss {
			counts, loss = s.Counts, found
		}
	}
	least := &LeastLoss{Loss: loss, Bound: math.Min(loss, math.Max(0, -s.Bound)), Certificate: s.Certificate}
	if s.Status == solver.Infeasible {
		least.Bound = 0 // the draft shows that this is not so
	}
	a.instance.Start = counts
	// The loss of a solution that the solver found only now may even be within the budget.
	if loss > a.instance.LossBudget {
		a.instance.LossBudget, a.least = a.raisedBudget(r, loss), least
	}
	return counts, nil
}

// leastLossInstance is the same program with the least fairness loss as objective, and without a loss budget. Its
// objective is minus the loss, so that an upper bound on it is minus a lower bound on the loss. It is a copy, which shares
// vectors with inst.
func leastLossInstance(inst *solver.Instance) *solver.Instance {
	least := *inst
	least.Apps = append([]solver.App(nil), inst.Apps...)
	for i := range least.Apps {
		app := &least.Apps[i]
		app.Value, app.Worth, app.Idle, app.Stay, app.Spread = 0, nil, 0, 0, nil
	}
	least.LossPrice = 1
	// Dominant shares of all that fits add up to the number of kinds at most, on either side of (2); nobody
	// loses more than that.
	least.LossBudget = float64(2*len(inst.Total) + len(inst.Apps))
	// Losses in worth have bounds of their own.
	for i := range least.Apps {
		if app := &least.Apps[i]; app.Losses != nil {
			least.LossBudget += app.MostLoss(0, app.Max)
		}
	}
	return &least
}
