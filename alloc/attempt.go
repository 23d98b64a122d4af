// This file makes one attempt: P2 for some of the applications, handed to a solver whose answer the
// referee checks, [Dorm §IV-B].

package alloc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// ErrSolver is returned when a solver gave an answer that the referee refused: a fault of the
// solver, not of the problem.
var ErrSolver = errors.New("alloc: the solver's answer is wrong")

// attempt is one P2 and its answer.
type attempt struct {
	apps     []int // positions in the problem of the applications of instance
	instance *solver.Instance
	solution *solver.Solution
}

// solve makes one attempt with the given applications.
func (r *resolved) solve(ctx context.Context, apps []int, by solver.Solver) (*attempt, error) {
	inst := r.instance(apps)
	solution, err := by.Solve(ctx, inst)
	if err != nil {
		return nil, fmt.Errorf("alloc: solving P2: %w", err)
	}
	if err := referee(inst, solution); err != nil {
		return nil, err
	}
	return &attempt{apps, inst, solution}, nil
}

// referee recomputes what a solver claims.
func referee(inst *solver.Instance, s *solver.Solution) error {
	if s == nil {
		return fmt.Errorf("%w: there is none", ErrSolver)
	}
	if !s.Status.HasSolution() {
		return checkConflict(inst, s.Conflict)
	}
	if err := inst.Check(s.Counts); err != nil {
		return fmt.Errorf("%w: %w", ErrSolver, err)
	}
	objective := inst.Objective(s.Counts)
	if !(math.Abs(objective-s.Objective) <= solver.ObjectiveTolerance) {
		return fmt.Errorf("%w: objective %g is %g", ErrSolver, s.Objective, objective)
	}
	if !(objective <= s.Bound+solver.ObjectiveTolerance) {
		return fmt.Errorf("%w: objective %g is above its bound %g", ErrSolver, objective, s.Bound)
	}
	if err := s.Certificate.Check(inst); err != nil {
		return fmt.Errorf("%w: %w", ErrSolver, err)
	}
	return nil
}

// checkConflict refuses a conflict that names no constraint, or what is not there.
func checkConflict(inst *solver.Instance, c *solver.Conflict) error {
	if c == nil {
		return nil
	}
	if len(c.Constraints) == 0 || c.Kind < -1 || c.Kind >= len(inst.Total) {
		return fmt.Errorf("%w: the conflict is %+v", ErrSolver, *c)
	}
	for _, app := range c.Apps {
		if app < 0 || app >= len(inst.Apps) {
			return fmt.Errorf("%w: the conflict names application %d of %d", ErrSolver, app, len(inst.Apps))
		}
	}
	return nil
}
