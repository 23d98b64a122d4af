// This file solves P2 with ceilings of groups, (G) of [Program §2]: without them where they are not in the
// way, else with them priced, and kept by the search by containers.

package embedded

import (
	"context"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// solveFixed answers an instance without options, or one whose options are fixed.
func (s *Solver) solveFixed(ctx context.Context, inst *solver.Instance) *solver.Solution {
	if len(inst.Groups) > 0 {
		return s.solveGroups(ctx, inst)
	}
	return s.solve(ctx, inst)
}

// solveGroups answers an instance with ceilings. The answer without them is the best if it holds them, and its bound
// is one in any case.
func (s *Solver) solveGroups(ctx context.Context, inst *solver.Instance) *solver.Solution {
	// Ceilings only rule solutions out: what has no solution without them has none with them.
	relaxed, listed := s.relaxed(ctx, inst)
	if relaxed.Status == solver.Infeasible || relaxed.Status.HasSolution() && inst.Check(relaxed.Counts) == nil {
		return relaxed
	}
	// The second search knows whether servers have lists of patterns, and which bound the first one has.
	sol, _ := s.solveKnowing(ctx, inst, knowledge{listed: listed})
	sol.Effort += relaxed.Effort
	if sol.Status != solver.Infeasible && relaxed.Bound < sol.Bound-solver.ObjectiveTolerance {
		sol.Bound = relaxed.Bound
		if sol.Status.HasSolution() {
			settle(sol, inst)
		}
	}
	return sol
}

// relaxed answers inst without its ceilings, as far as that is worth it: an early answer tells as a rule whether ceilings
// are in the way, so that the effort is spent once. Its bound counts where multipliers of ceilings prove less. It reports
// whether servers have lists of patterns.
func (s *Solver) relaxed(ctx context.Context, inst *solver.Instance) (sol *solver.Solution, listed bool) {
	plain := *inst
	plain.Groups = nil
	sol, listed = s.solveKnowing(ctx, &plain, knowledge{within: inst})
	// Where servers have lists of patterns that search has stopped by itself.
	if listed || sol.Status != solver.Unknown {
		return sol, listed
	}
	// Else a first solution tells most, a quick answer the rest; the whole effort is for one that holds the ceilings.
	quick := *s
	quick.opts.Effort = min(quick.opts.Effort, Quick/4)
	effort := sol.Effort
	if early := quick.early(ctx, inst, &plain); early > 0 {
		sol.Effort += early
		return sol, false
	}
	sol = quick.solve(ctx, &plain)
	if sol.Status.HasSolution() && inst.Check(sol.Counts) == nil {
		effort += sol.Effort
		sol = s.solve(ctx, &plain)
	}
	sol.Effort += effort
	return sol, false
}

// early returns the work of a first solution of plain, which is inst without ceilings, if that exceeds them, else 0. It is no
// proof that the best one does, which costs a search with ceilings at worst.
func (s *Solver) early(ctx context.Context, inst, plain *solver.Instance) int64 {
	r := newRun(problem.New(plain), &s.opts, s.tune)
	r.within = inst
	r.a.Construct(ctx)
	r.warmUp(ctx, plain.Cap())
	if r.a.Best.Found && r.exceeds(&r.a.Best) {
		return r.a.Work
	}
	return 0
}
