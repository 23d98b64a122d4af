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
// The positions in apps ascend, so that binary search finds an application and the order of the
// queue survives.
type attempt struct {
	apps     []int // positions in the problem of the applications of instance
	instance *solver.Instance
	solution *solver.Solution
	least    *LeastLoss // why the loss budget is above what Theta1 gives; nil: it is not
	// certified is the least loss that the certificate in least proves, once Verify has computed it.
	certified float64
	// prices is by how much the objective of the instance is above that of the decision, once Verify has computed it.
	prices float64
}

// solve makes one attempt with the given applications, positions in the problem, ascending. That P2 has no solution is an
// attempt like another; an error means that the solver could not run, or that its answer is wrong.
func (r *resolved) solve(ctx context.Context, apps []int, by solver.Solver) (*attempt, error) {
	inst := r.instance(apps)
	solution, err := solve(ctx, inst, by)
	if err != nil {
		return nil, err
	}
	return &attempt{apps: apps, instance: inst, solution: solution}, nil
}

// solve asks a solver, and the referee about the answer. All solutions in this package come through here, so that none
// is used unchecked.
// The solver may be anybody's; what it answers is executed on a cluster.
func solve(ctx context.Context, inst *solver.Instance, by solver.Solver) (*solver.Solution, error) {
	// The solver sees the dense instance alone: no names, no clock, nothing that it could change in
	// the caller's problem.
	solution, err := ask(ctx, inst, by)
	if err != nil {
		return nil, fmt.Errorf("alloc: solving P2: %w", err)
	}
	if err := referee(inst, solution); err != nil {
		return nil, err
	}
	return solution, nil
}

// ask calls the solver, and turns its panic into ErrSolver: a scheduler outlives a solver's bug.
func ask(ctx context.Context, inst *solver.Instance, by solver.Solver) (solution *solver.Solution, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			solution, err = nil, fmt.Errorf("%w: it panicked: %v", ErrSolver, fault)
		}
	}()
	return by.Solve(ctx, inst)
}

// referee recomputes what a solver claims.
// An answer that passes may still be far from the best one; one that fails would be executed on a
// cluster where it does not fit, so that the decision stops here with ErrSolver. O(size of inst),
// but for the bounds, which Verify recomputes on demand because they cost more.
func referee(inst *solver.Instance, s *solver.Solution) error {
	if s == nil {
		return fmt.Errorf("%w: there is none", ErrSolver)
	}
	if !s.Status.HasSolution() {
		return nil
	}
	if err := inst.Check(s.Counts); err != nil {
		return fmt.Errorf("%w: %w", ErrSolver, err)
	}
	objective := inst.Objective(s.Counts)
	// The negated comparison refuses NaN as well, which no ordinary comparison would catch.
	if !(math.Abs(objective-s.Objective) <= solver.ObjectiveTolerance) {
		return fmt.Errorf("%w: objective %g is %g", ErrSolver, s.Objective, objective)
	}
	if !(objective <= s.Bound+solver.ObjectiveTolerance) {
		return fmt.Errorf("%w: objective %g is above its bound %g", ErrSolver, objective, s.Bound)
	}
	// The prices are read by Explain and Verify long after the solver has gone; their shape is
	// checked while the solver can still be blamed.
	if err := s.Certificate.Check(inst); err != nil {
		return fmt.Errorf("%w: %w", ErrSolver, err)
	}
	return nil
}
