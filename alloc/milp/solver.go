// This file holds the border to the back-ends: Solver.

package milp

import "context"

// Solver is a back-end. Callers use [Solve], which calls it; they do not call the method.
//
// Solve searches for the optimum of the model under opts, which is never nil, valid for the model,
// with every default filled in. It leaves both unchanged and keeps neither. It reports what it
// found as a Solution: Status, and where there is one the best point with its Bound. Objective may
// be left at zero, [Solve] computes it. An error says that the search could not be made at all (a
// missing library, a coefficient that the engine cannot represent); a limit or a cancelled ctx is
// no error. A back-end that may be infeasible or unbounded must find out which.
//
// A back-end that lacks something implements [Capable] too.
type Solver interface {
	Solve(ctx context.Context, model *Model, opts *Options) (Solution, error)
}
