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

// referee recomputes what a solver claims, and lowers a bound to what needs no proof.
func referee(inst *solver.Instance, s *solver.Solution) error {
	if !s.Status.HasSolution() {
		return nil
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
