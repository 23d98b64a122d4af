// This file implements a second opinion on proofs: nobody may attain more than a back-end has proven to be the most.

package mip

import (
	"context"
	"fmt"
	"math"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// proofTolerance is by how much an attained objective may be above a bound, relative, at least to 1: back-ends sum in
// another order, and within tolerances of their own.
const proofTolerance = 1e-6

// refute returns a [*milp.WrongAnswerError] if the embedded solver, at little effort, attains more than the back-end's bound,
// or finds an allocation where the back-end says that there is none. General solvers have been seen to do both on programs
// with large constants, and their own referee sees no more than the point that they return. The other answer is returned too.
func (s *Solver) refute(ctx context.Context, inst *solver.Instance, answer *milp.Solution, bound float64) (*solver.Solution, error) {
	other, err := embedded.New(&embedded.Options{Effort: embedded.Quick}).Solve(ctx, inst)
	if err != nil {
		return nil, err
	}
	if !other.Status.HasSolution() || other.Objective <= bound+float64(proofTolerance*math.Max(1, math.Abs(bound))) {
		return other, nil
	}
	claim := fmt.Errorf("it proves that at most %.6g can be had, and %.6g is attained", bound, other.Objective)
	if answer.Status == milp.Infeasible {
		claim = fmt.Errorf("it proves that there is no allocation, and one attains %.6g", other.Objective)
	}
	return nil, fmt.Errorf("mip: P2 in the %s form: %w", s.form, &milp.WrongAnswerError{Solver: fmt.Sprintf("%T", s.backend), Answer: *answer, Err: claim})
}
