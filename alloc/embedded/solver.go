// This file holds the Solver: its options, and what it does when the search has ended.

package embedded

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Name is the name under which a certificate's settings know the solver of this package.
const Name = "embedded"

// mostNumbers bounds the numbers of containers that have a loss of their own, of all applications together.
const mostNumbers = 1 << 24

var _ solver.Solver = (*Solver)(nil)

// Solve implements solver.Solver. The error is a *apportion.FieldError for an instance that is no
// instance: vectors of unequal length, negative quantities, servers that do not exist. So is one for
// applications that state their losses and may have more than mostNumbers numbers of containers.
func (s *Solver) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	if err := inst.Validate(); err != nil {
		return nil, err
	}
	if err := listable(inst); err != nil {
		return nil, err
	}
	sol := s.answer(ctx, inst)
	sol.By = s.settings()
	return sol, nil
}

// listable returns an error where the applications that state their losses may have more than mostNumbers numbers of
// containers together. Losses need not be convex, so that bounds and searches try one number after the other, and each
// takes 24 bytes.
func listable(inst *solver.Instance) error {
	left := int64(mostNumbers)
	for i := range inst.Apps {
		app := &inst.Apps[i]
		if app.Losses == nil || app.Worth != nil || app.Counts != nil {
			continue // what is listed in the instance is as long as the instance
		}
		most := min(app.Max, app.Demand.CountIn(inst.Total))
		if left -= max(0, most-app.Min) / max(1, app.Step); left < 0 {
			return &apportion.FieldError{
				Item: apportion.Item{Kind: "application", Index: i}, Field: "Max", Err: apportion.ErrRange,
				Detail: fmt.Sprintf("%d containers, each number of which has a loss of its own", most),
			}
		}
	}
	return nil
}

// answer answers an instance that has been checked.
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
