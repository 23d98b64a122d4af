// This file turns what a run of HiGHS ended with into the model's terms.

package ortools

import (
	"context"
	"fmt"
	"math"

	"github.com/apportion/apportion/alloc/milp"
)

// Values of HiGHS' model status, and of its primal solution status.
const (
	highsOptimal               = 7
	highsInfeasible            = 8
	highsUnboundedOrInfeasible = 9
	highsUnbounded             = 10
	highsTimeLimit             = 13
	highsIterationLimit        = 14
	highsSolutionLimit         = 16 // the limit on nodes, too
	highsInterrupt             = 17

	highsPointFeasible = 2
)

// highsAnswer is what a run ended with. bound is that of an integer search only.
type highsAnswer struct {
	status           int
	objective, bound float64
	nodes            int64
	values           []float64 // nil: no feasible point
}

// stopped reports whether the run was cut short, by a limit or from outside: then there may be a point, and there is no proof.
func (a highsAnswer) stopped() bool {
	return a.status == highsTimeLimit || a.status == highsIterationLimit || a.status == highsSolutionLimit ||
		a.status == highsInterrupt
}

// solution turns the answer into the model's terms. The optimum of a linear program is its own
// bound, up to the tolerance of the simplex method's costs. An error means that HiGHS has failed; a limit or the end of the
// context is a status.
func (a highsAnswer) solution(ctx context.Context, model *milp.Model) (milp.Solution, error) {
	sign := direction(model)
	// The sums with 0 below turn -0 into 0, which JSON would show.
	answer := milp.Solution{Nodes: a.nodes, Bound: sign * math.Inf(-1)}
	// HiGHS has no bound for a linear program on the way: it stays infinite.
	if model.Integers() > 0 {
		answer.Bound = sign*a.bound + 0
	}
	switch {
	// milp.Solve sets the bound of an infeasible model.
	case a.status == highsInfeasible:
		answer.Status = milp.Infeasible
		return answer, nil
	case a.status == highsOptimal:
		answer.Status, answer.Values = milp.Optimal, a.values
		if model.Integers() == 0 {
			answer.Bound = sign*a.objective + 0
		}
		return answer, nil
	// Unbounded never comes here, see HiGHS.Solve; what is left are HiGHS' own failures.
	case !a.stopped():
		return answer, fmt.Errorf("HiGHS ends with model status %d", a.status)
	}
	answer.Values = a.values
	answer.Reason = map[int]string{highsTimeLimit: "time limit", highsSolutionLimit: "node limit"}[a.status]
	switch {
	// The end of the context reaches HiGHS as an interrupt, and may meet a limit: the context's
	// word counts.
	case ctx.Err() != nil:
		answer.Status, answer.Reason = milp.Cancelled, ctx.Err().Error()
	case a.values != nil:
		answer.Status = milp.Feasible
	default:
		answer.Status = milp.LimitReached
	}
	return answer, nil
}
