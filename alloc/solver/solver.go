// This file holds the contract of solvers: Solver.

package solver

import "context"

// Solver answers an Instance.
//
// Solve returns an error only for a call that could not run: an instance it cannot represent, a
// library that is absent. Infeasible, out of effort and cancelled are statuses of the Solution.
// When ctx ends, Solve returns soon with the best solution found so far and its bound. The same
// instance gives the same Solution, as long as ctx does not end. Counts pass Instance.Check, Bound is
// at most Instance.Cap and no less than what any solution attains. Solve neither changes nor retains
// inst, never panics, and may be called from several goroutines at once.
type Solver interface {
	Solve(ctx context.Context, inst *Instance) (*Solution, error)
}
