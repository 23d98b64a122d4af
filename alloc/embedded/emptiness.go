// This file turns a finished tree without a solution into the constraints that cannot hold together.

package embedded

import (
	"context"

	"github.com/apportion/apportion/alloc/embedded/internal/conflict"
	"github.com/apportion/apportion/alloc/embedded/internal/counting"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// searchedConflict returns the constraints that cannot hold together where branch and bound has shown
// that there is no solution, found by doing it again without each of them; nil where it has not.
func (r *run) searchedConflict(ctx context.Context) *solver.Conflict {
	if !r.empty() {
		return nil
	}
	// A constraint without which there is still no solution is no part of the reason.
	_, c := conflict.LeaveOut(r.p, func(without *solver.Instance) bool {
		again := newRun(problem.New(without), &r.opts, r.tune)
		// Counting must come first: the searches rely on what it has ruled out.
		if counting.Conflict(again.p) != nil {
			return true
		}
		// With the whole effort again: a tree that has no time to finish proves nothing, and the constraint stays in the reason.
		again.search(ctx)
		r.extra += again.effort()
		return again.empty()
	})
	return c
}

// unattainable returns the constraints that cannot hold together where a bound of prices is below what every solution is worth,
// else nil.
func unattainable(p *problem.Problem, bound float64) *solver.Conflict {
	if !(bound < p.Floor()) {
		return nil
	}
	c := &solver.Conflict{Constraints: []solver.Constraint{solver.Fairness, solver.Minimum, solver.Capacity}, Kind: -1}
	if p.Pinnable > p.Budget {
		c.Constraints = append(c.Constraints, solver.Adjust)
	}
	return c
}

// empty reports whether the tree has shown that there is no solution: any has a utilization of at least 0.
func (r *run) empty() bool {
	// A margin of half of ProofMargin keeps rounding in the bound from proving what is not so.
	return r.tree != nil && !r.a.Best.Found && r.tree.Bound() < -leaf.ProofMargin/2
}
