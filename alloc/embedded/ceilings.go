// This file solves P2 with ceilings of groups, (G) of the general program: without them where they are not in the
// way, else with them priced, and kept by the search by containers.

package embedded

import (
	"context"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// solveGroups answers an instance with ceilings. The answer without them is the best if it holds them, and its bound
// is one in any case.
func (s *Solver) solveGroups(ctx context.Context, inst *solver.Instance) *solver.Solution {
	if conflict := impossible(inst); conflict != nil {
		return infeasible(conflict)
	}
	plain := *inst
	plain.Groups = nil
	// A hurried answer tells as a rule whether ceilings are in the way, so that the effort is spent once. Its bound counts
	// where multipliers of ceilings prove less.
	quick := *s
	quick.opts.Effort = min(quick.opts.Effort, Quick/4)
	relaxed := quick.solve(ctx, &plain)
	if relaxed.Status == solver.Infeasible {
		return relaxed
	}
	effort := relaxed.Effort
	if relaxed.Status.HasSolution() && inst.Check(relaxed.Counts) == nil {
		relaxed = s.solve(ctx, &plain)
		relaxed.Effort += effort
		if relaxed.Status.HasSolution() && inst.Check(relaxed.Counts) == nil {
			return relaxed
		}
		effort = relaxed.Effort
	}
	sol := s.solve(ctx, inst)
	sol.Effort += effort
	if sol.Status != solver.Infeasible && relaxed.Bound < sol.Bound-solver.ObjectiveTolerance {
		sol.Bound, sol.Searched = relaxed.Bound, true
		if sol.Status.HasSolution() {
			settle(sol, inst)
		}
	}
	return sol
}

// impossible returns a ceiling that not even the fewest containers of all that must have some hold, nil where there is
// none.
func impossible(inst *solver.Instance) *solver.Conflict {
	for g := range inst.Groups {
		group := &inst.Groups[g]
		for k, limit := range group.Ceiling {
			if limit == solver.NoLimit {
				continue
			}
			need := 0.0
			for _, i := range group.Apps {
				// The sum is in floats: minima and demands may leave int64 together.
				need += float64(max(0, fewest(&inst.Apps[i]))) * float64(inst.Apps[i].Demand[k])
			}
			// What is too much by rounding only is left to the search.
			if need > float64(limit)*(1+0x1p-40) {
				return &solver.Conflict{Constraints: []solver.Constraint{solver.Ceiling}, Apps: slices.Clone(group.Apps), Kind: k, Need: need, Have: float64(limit)}
			}
		}
	}
	return nil
}

// fewest returns the fewest containers that an application may have, all that it has if it must stay, or -1.
func fewest(app *solver.App) int64 {
	if app.Pinned {
		return solver.Containers(app.Previous)
	}
	return app.AtLeast(0)
}
