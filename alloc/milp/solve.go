// This file implements Solve: checks, the call, the referee.

package milp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apportion/apportion"
)

// Solve has the solver search for the optimum of the model and re-checks its answer.
//
// Bad options are [apportion.Faults]; something that the solver cannot do is a [*CapabilityError]:
// both before the call. An error of the solver itself is wrapped. An answer that is wrong is a
// [*WrongAnswerError]. With an error the Solution is the zero value, Invalid. Options may be nil.
//
// A context that has ended gives Cancelled without a call. Where ctx can end, the solver must be
// able to stop (CanInterrupt).
//
// In the Solution, values of integer variables are whole; the check was made on these whole
// values. Objective is recomputed.
func Solve(ctx context.Context, solver Solver, model *Model, opts *Options) (Solution, error) {
	if solver == nil || model == nil {
		return Solution{}, &apportion.FieldError{Field: "solver or model", Err: apportion.ErrEmpty, Detail: "nil"}
	}
	full, err := opts.complete(model)
	if err != nil {
		return Solution{}, err
	}
	name := fmt.Sprintf("%T", solver)
	needs := model.Needs() | full.needs()
	if ctx.Done() != nil {
		needs |= CanInterrupt
	}
	if missing := needs &^ Capabilities(solver); missing != 0 {
		return Solution{}, &CapabilityError{Solver: name, Missing: missing}
	}
	if ctx.Err() != nil {
		return Solution{
			Status: Cancelled, Objective: math.NaN(), Bound: -model.sense.worst(), Reason: ctx.Err().Error(),
		}, nil
	}
	solution, err := solver.Solve(ctx, model, full)
	if err != nil {
		return Solution{}, fmt.Errorf("milp: %s: %w", name, err)
	}
	if solution.Status == Cancelled && ctx.Err() == nil {
		err = errors.New("cancelled, but the context has not ended")
	} else {
		err = referee(model, full, &solution)
	}
	if err != nil {
		return Solution{}, &WrongAnswerError{Solver: name, Answer: solution, Err: err}
	}
	return solution, nil
}
