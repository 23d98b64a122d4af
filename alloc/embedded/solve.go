// This file answers an instance without options and with no ceilings to keep, or says that these are in the way.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// solve answers an instance without options.
func (s *Solver) solve(ctx context.Context, inst *solver.Instance) *solver.Solution {
	sol, _ := s.solveKnowing(ctx, inst, knowledge{})
	return sol
}

// solveKnowing is solve, but gives up where an early answer exceeds the ceilings of known.within or cannot be had: what it
// returns then has a bound alone. It reports whether servers have lists of patterns.
func (s *Solver) solveKnowing(ctx context.Context, inst *solver.Instance, known knowledge) (sol *solver.Solution, listed bool) {
	// The searches rely on what Impossible rules out.
	p := problem.New(inst)
	if p.Impossible() {
		return infeasible(), false
	}
	run := newRun(p, &s.opts, s.tune)
	run.knowledge = known
	run.search(ctx)
	if !run.refused {
		return s.concluded(ctx, run), run.s != nil
	}
	// The search without ceilings is of no use; what it has proven bounds the search with them all the same.
	sol = &solver.Solution{Bound: p.Inst.Cap(), Effort: run.a.Work + run.extra}
	if run.tree != nil {
		sol.Bound = math.Min(sol.Bound, run.tree.Bound())
	}
	return sol, run.s != nil
}

// concluded returns the answer of a search that has ended.
func (s *Solver) concluded(ctx context.Context, run *run) *solver.Solution {
	// Enumeration replaces the search's answer where it can finish.
	sol := run.solution()
	if run.enumerable() {
		run.enumerate(ctx, sol)
	}
	if run.empty() {
		sol = infeasible()
	}
	sol.Effort = run.effort()
	sol.Interrupted = ctx.Err() != nil
	return sol
}
