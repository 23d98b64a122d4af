// This file implements Solver: limits, the clock, and the outcome of the search as a Solution.

package bb

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/apportion/apportion/alloc/milp"
)

// DefaultMemoryBytes is the memory limit where the options set none: the basis inverse of a model
// with 10,000 rows would need 800 MB.
const DefaultMemoryBytes = 1 << 30

// Solver is the back-end. Its zero value is ready; it holds no state and may be used by many
// goroutines.
type Solver struct{}

var (
	_ milp.Solver  = Solver{}
	_ milp.Capable = Solver{}
)

// Capabilities returns everything but several workers and a seed.
func (Solver) Capabilities() milp.Capability {
	return milp.CanEverything &^ (milp.CanWorkers | milp.CanSeed)
}

// Solve implements [milp.Solver]. It never returns an error.
func (Solver) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	memory := float64(opts.MemoryLimitBytes)
	if memory == 0 {
		memory = DefaultMemoryBytes
	}
	if need := bytesFor(model.Rows(), model.Variables(), model.Nonzeros()); need > memory {
		return milp.Solution{
			Status: milp.LimitReached, Bound: minimal(model.Sense(), math.Inf(-1)),
			Reason: fmt.Sprintf("memory limit: %.0f bytes for %d rows", need, model.Rows()),
		}, nil
	}
	s := newSearch(model, opts, &budget{ctx: ctx, nodes: opts.NodeLimit, bytes: memory})
	if opts.TimeLimit > 0 {
		s.budget.deadline = time.Now().Add(opts.TimeLimit)
	}
	s.tryHint(opts.Hint)
	if s.run() == unbounded {
		return s.decideUnbounded(), nil
	}
	return s.solution(), nil
}

// minimal turns an objective of the model into one to be minimised, and back.
func minimal(sense milp.Sense, objective float64) float64 {
	if sense == milp.Maximize {
		return -objective
	}
	return objective
}

// solution returns the outcome of a search that was not found to be unbounded.
func (s *search) solution() milp.Solution {
	answer := milp.Solution{Values: s.incumbent, Nodes: s.nodes, Reason: s.budget.reason}
	answer.Bound = s.outward(s.provenBound())
	switch {
	case s.budget.reason != "" && s.budget.ended == milp.Cancelled:
		answer.Status = milp.Cancelled
	case s.gapClosed():
		answer.Status = milp.Optimal
	case s.incumbent != nil:
		answer.Status = milp.Feasible
	case s.budget.reason != "" || s.unresolved < math.Inf(1):
		answer.Status = milp.LimitReached
	default:
		answer.Status = milp.Infeasible
	}
	if s.budget.reason == "" && s.unresolved < math.Inf(1) && answer.Status != milp.Optimal {
		answer.Reason = "a subproblem could not be solved numerically"
	}
	return answer
}

// decideUnbounded finishes a search whose relaxation is feasible and unbounded: with rational data,
// and a float64 is rational, the model is then unbounded or infeasible ([Meyer74] thm. 2.1), so a
// search for any feasible point decides.
func (s *search) decideUnbounded() milp.Solution {
	other := newSearch(s.model, s.opts, s.budget)
	clear(other.lp.cost)
	other.anyPoint = true
	other.run()
	answer := other.solution()
	answer.Nodes += s.nodes
	if answer.HasSolution() && answer.Status == milp.Optimal {
		answer.Status, answer.Values = milp.Unbounded, nil
	}
	if answer.Status != milp.Infeasible {
		answer.Bound = minimal(s.model.Sense(), math.Inf(-1))
	}
	return answer
}
