// This file holds the Solver: its options, and what it does when the search has ended.

package embedded

import (
	"context"

	"github.com/apportion/apportion/alloc/solver"
)

// Name is the name under which a certificate's settings know the solver of this package.
const Name = "embedded"

var _ solver.Solver = (*Solver)(nil)

// Solve implements solver.Solver. The error is a *apportion.FieldError for an instance that is no
// instance: vectors of unequal length, negative quantities, servers that do not exist.
func (s *Solver) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	if err := inst.Validate(); err != nil {
		return nil, err
	}
	sol := s.answer(ctx, inst)
	sol.By = s.settings()
	return sol, nil
}

// answer answers an instance that has been checked. With options the answer is the best of several instances without.
func (s *Solver) answer(ctx context.Context, inst *solver.Instance) *solver.Solution {
	if len(inst.Choices) > 0 {
		return s.solveChoices(ctx, inst)
	}
	return s.solveFixed(ctx, inst)
}

// settings is what the answers of s depend on beside the instance.
func (s *Solver) settings() solver.Settings {
	return solver.Settings{Solver: Name, Effort: int64(s.opts.Effort), Gap: s.opts.Gap, Seed: s.opts.Seed, Warm: s.opts.Warm != nil}
}
