// This file implements Solver: limits, the clock, and the outcome of the search as a Solution.

package bb

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/apportion/apportion/alloc/milp"
)

// defaultMemoryBytes is the memory limit where the options set none: the basis inverse of a model
// with 10,000 rows would need 800 MB.
const defaultMemoryBytes = 1 << 30

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
	// memory counts in float64: the product of two large numbers of rows must not overflow.
	memory := float64(opts.MemoryLimitBytes)
	if memory == 0 {
		memory = defaultMemoryBytes
	}
	// The inverse is the bulk and its size is known, so the limit is checked before anything is
	// allocated. Nothing is known of the objective then: the bound is infinite.
	if need := bytesFor(model.Rows(), model.Variables(), model.Nonzeros()); need > memory {
		return milp.Solution{
			Status: milp.LimitReached, Bound: minimal(model.Sense(), math.Inf(-1)),
			Reason: fmt.Sprintf("memory limit: %.0f bytes for %d rows", need, model.Rows()),
		}, nil
	}
	s := newSearch(model, opts, &budget{ctx: ctx, nodes: opts.NodeLimit, bytes: memory})
	// The clock starts after the relaxation was built, which takes O(nonzeros).
	if opts.TimeLimit > 0 {
		s.budget.deadline = time.Now().Add(opts.TimeLimit)
	}
	// The hint comes before the root, so that the root's reduced costs can fix variables against
	// it.
	s.tryHint(opts.Hint)
	// Only the root can be unbounded: narrower bounds never make a bounded relaxation unbounded.
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
	// Objective stays 0: milp.Solve computes it from Values.
	answer := milp.Solution{Values: s.incumbent, Nodes: s.nodes, Reason: s.budget.reason}
	answer.Bound = s.outward(s.provenBound())
	switch {
	// A cancelled search says so even where its gap happens to be closed: the caller has asked for
	// that.
	case s.budget.reason != "" && s.budget.ended == milp.Cancelled:
		answer.Status = milp.Cancelled
	// This comes before the limits: one that was hit on the last node does not hide an optimum.
	case s.gapClosed():
		answer.Status = milp.Optimal
	case s.incumbent != nil:
		answer.Status = milp.Feasible
	// An empty tree proves infeasibility only where every node was solved.
	case s.budget.reason != "" || s.unresolved < math.Inf(1):
		answer.Status = milp.LimitReached
	default:
		answer.Status = milp.Infeasible
	}
	// An unresolved node keeps its bound open. Without a limit it is the only reason why a search
	// ends without proof.
	if s.budget.reason == "" && s.unresolved < math.Inf(1) && answer.Status != milp.Optimal {
		answer.Reason = "a subproblem could not be solved numerically"
	}
	return answer
}

// decideUnbounded finishes a search whose relaxation is feasible and unbounded: with rational data,
// and a float64 is rational, the model is then unbounded or infeasible ([Meyer74] thm. 2.1), so a
// search for any feasible point decides.
func (s *search) decideUnbounded() milp.Solution {
	// The second search shares the budget and goes on counting nodes where the first has stopped:
	// both together keep the caller's limits.
	other := newSearch(s.model, s.opts, s.budget)
	other.nodes = s.nodes
	// Without costs every feasible point is optimal, and the relaxation cannot be unbounded.
	clear(other.lp.cost)
	other.anyPoint = true
	other.run()
	answer := other.solution()
	// A ray of the relaxation and one feasible point make the model unbounded.
	if answer.HasSolution() && answer.Status == milp.Optimal {
		answer.Status, answer.Values = milp.Unbounded, nil
	}
	// The bound of the search without costs is about an objective of 0, not about the model's.
	if answer.Status != milp.Infeasible {
		answer.Bound = minimal(s.model.Sense(), math.Inf(-1))
	}
	return answer
}
