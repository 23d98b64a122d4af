// This file holds the border to the back-ends: Solver, Status, Solution, Progress.

package milp

import (
	"context"
	"math"
)

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

// Status is the outcome of a search.
type Status int8

// The outcomes. Invalid is the zero value: there is no answer, and the error says why.
const (
	// Invalid: the search was not made.
	Invalid Status = iota
	// Optimal: Values is within the asked gap of the optimum.
	Optimal
	// Feasible: a limit was hit; Values is feasible and Bound says how good it is.
	Feasible
	// Infeasible: no point satisfies the model.
	Infeasible
	// Unbounded: feasible points of any objective exist.
	Unbounded
	// LimitReached: a limit was hit before a feasible point was found; Bound is valid.
	LimitReached
	// Cancelled: the context ended; Values is the best point so far, if any, and Bound is valid.
	Cancelled
)

var statusNames = [...]string{
	Invalid: "invalid", Optimal: "optimal", Feasible: "feasible", Infeasible: "infeasible",
	Unbounded: "unbounded", LimitReached: "limit reached", Cancelled: "cancelled",
}

// String returns the outcome in lower case, for instance "limit reached".
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return "unknown status"
	}
	return statusNames[s]
}

// Solution is the answer of a search.
type Solution struct {
	// Status says what the other fields mean.
	Status Status
	// Objective is the objective at Values; NaN without values.
	Objective float64
	// Bound is proven: no feasible point is better. It is infinite where nothing is proven.
	Bound float64
	// Values holds one value a variable, whole for integer variables; nil without a solution.
	Values []float64
	// Nodes counts the subproblems solved, where the back-end counts them.
	Nodes int64
	// Reason says in words what ended the search early; it may be empty.
	Reason string
}

// HasSolution reports whether Values holds a feasible point. It can be true for Optimal, Feasible
// and Cancelled.
func (s Solution) HasSolution() bool { return s.Values != nil }

// Value returns the value of x, a variable of the solved model. The solution must have values.
func (s Solution) Value(x Var) float64 { return s.Values[x.index] }

// Gap returns |Objective - Bound| / |Objective|: the fraction by which the solution may fall short.
// It is 0 where both are equal, and +Inf without a solution, without a bound, or where only the
// objective is 0.
func (s Solution) Gap() float64 {
	if s.Values == nil || math.IsInf(s.Bound, 0) {
		return math.Inf(1)
	}
	return relativeGap(s.Objective, s.Bound)
}

func relativeGap(objective, bound float64) float64 {
	difference := math.Abs(objective - bound)
	if difference == 0 {
		return 0
	}
	return difference / math.Abs(objective)
}

// Progress is one report of a running search.
type Progress struct {
	// Nodes counts the subproblems solved so far.
	Nodes int64
	// Objective is that of the best point so far, NaN where there is none; Bound as in Solution.
	Objective, Bound float64
	// Text is a line of the back-end's own log; empty where it reports numbers only.
	Text string
}
