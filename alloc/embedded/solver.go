// This file holds the Solver: its options, and what it does when the search has ended.

package embedded

import (
	"context"
	"math"

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
	sol := s.answerBest(ctx, inst)
	sol.By, sol.Searched = s.settings(), searched(inst, sol)
	return sol, nil
}

// searched reports whether the bound of an answer needs the search to be believed: whether the referee makes less of its prices.
// An answer that was interrupted says so unasked, as nobody waits for the referee then.
func searched(inst *solver.Instance, sol *solver.Solution) bool {
	if sol.Status == solver.Infeasible || sol.Interrupted {
		return sol.Interrupted
	}
	prices := sol.Certificate
	if copiesCost(inst) > mostCopies {
		prices.Copies = nil
	}
	certified, err := prices.Certified(inst)
	return err != nil || sol.Bound < certified-solver.ObjectiveTolerance
}

// mostCopies bounds the sets of applications on servers that are tried to see what prices of copies prove.
const mostCopies = 20_000

// copiesCost returns about how many sets of applications CopyBound tries.
func copiesCost(inst *solver.Instance) float64 {
	sets := make([]float64, len(inst.Capacity))
	for i := range inst.Apps {
		if !inst.MayStay(i) {
			continue
		}
		for _, placed := range inst.Apps[i].Previous {
			sets[placed.Server] = 2 * math.Max(1, sets[placed.Server])
		}
	}
	sum := 0.0
	for _, n := range sets {
		sum += n
	}
	return sum
}

// answer answers an instance that has been checked. With options the answer is the best of several instances without.
func (s *Solver) answer(ctx context.Context, inst *solver.Instance) *solver.Solution {
	if len(inst.Choices) > 0 {
		return s.solveChoices(ctx, inst)
	}
	return s.solveFixed(ctx, inst)
}

// unsearched returns the better of the start and what runs now, or Unknown where neither is a solution: the time was over before the
// search began. The bound is what all applications could have together at most.
func unsearched(inst *solver.Instance) *solver.Solution {
	c := &chooser{inst: inst, best: &solver.Solution{Bound: inst.Cap(), Interrupted: true}}
	if inst.Start != nil {
		c.offer(inst.Start)
	}
	c.offer(asItIs(inst))
	c.settled()
	return c.best
}

// settings is what the answers of s depend on beside the instance.
func (s *Solver) settings() solver.Settings {
	return solver.Settings{Solver: Name, Effort: int64(s.opts.Effort), Gap: s.opts.Gap, Seed: s.opts.Seed, Warm: s.opts.Warm != nil}
}

// quick returns s with an effort of Quick at most.
func (s *Solver) quick() *Solver {
	quick := *s
	quick.opts.Effort = min(s.opts.Effort, Quick)
	return &quick
}
