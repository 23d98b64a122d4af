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
	// A nil is a slip of the caller and would be a panic further down.
	if solver == nil || model == nil {
		return Solution{}, &apportion.FieldError{Field: "solver or model", Err: apportion.ErrEmpty, Detail: "nil"}
	}
	// complete takes a nil receiver: nil options are the defaults.
	full, err := opts.complete(model)
	if err != nil {
		return Solution{}, err
	}
	name := fmt.Sprintf("%T", solver)
	needs := model.Needs() | full.needs()
	// A context that can never end asks nothing of the back-end.
	if ctx.Done() != nil {
		needs |= CanInterrupt
	}
	// All that is missing is said at once, so that the caller need not try option by option.
	if missing := needs &^ Capabilities(solver); missing != 0 {
		return Solution{}, &CapabilityError{Solver: name, Missing: missing}
	}
	// Capabilities are checked before this, so that the same call always has the same error.
	if ctx.Err() != nil {
		return Solution{
			Status: Cancelled, Objective: math.NaN(), Bound: -model.sense.worst(), Reason: ctx.Err().Error(),
		}, nil
	}
	solution, err := solver.Solve(ctx, model, full)
	if err != nil {
		return Solution{}, fmt.Errorf("milp: %s: %w", name, err)
	}
	// Nobody but the context cancels: a limit has statuses of its own.
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
