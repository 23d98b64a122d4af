// This file holds the answer of a search: Status, Solution, its gap and its form in JSON.

package milp

import (
	"encoding/json"
	"math"

	"github.com/apportion/apportion/internal/enum"
	"github.com/apportion/apportion/internal/number"
)

// Status is the outcome of a search. In JSON it is its name.
type Status uint8

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

// statusNames has the texts of the outcomes, in their order.
var statusNames = []string{
	Invalid: "invalid", Optimal: "optimal", Feasible: "feasible", Infeasible: "infeasible",
	Unbounded: "unbounded", LimitReached: "limit reached", Cancelled: "cancelled",
}

// String returns the outcome in lower case, for instance "limit reached".
func (s Status) String() string { return enum.String(s, statusNames) }

// MarshalText returns the name, and refuses a number that is no Status.
func (s Status) MarshalText() ([]byte, error) { return enum.Marshal(s, statusNames) }

// UnmarshalText reads a name, and refuses any other text.
func (s *Status) UnmarshalText(text []byte) error { return enum.Unmarshal(s, text, statusNames) }

// Solution is the answer of a search. It survives encoding/json unchanged, infinities and NaN included.
type Solution struct {
	// Status says what the other fields mean.
	// The fields have no omitempty but Reason: a zero is an answer.
	Status Status `json:"status"`
	// Objective is the objective at Values; NaN without values.
	Objective float64 `json:"objective"`
	// Bound is proven: no feasible point is better. It is infinite where nothing is proven.
	Bound float64 `json:"bound"`
	// Values holds one value a variable, whole for integer variables; nil without a solution.
	Values []float64 `json:"values"`
	// Nodes counts the subproblems solved, where the back-end counts them.
	Nodes int64 `json:"nodes"`
	// Reason says in words what ended the search early; it may be empty.
	Reason string `json:"reason,omitempty"`
}

// HasSolution reports whether Values holds a feasible point. It can be true for Optimal, Feasible
// and Cancelled.
func (s Solution) HasSolution() bool { return s.Values != nil }

// Value returns the value of x, a variable of the solved model. The solution must have values.
func (s Solution) Value(x Var) float64 { return s.Values[x.index] }

// Gap returns |Bound - Objective| / |Bound|: the part of the bound by which the solution may fall short.
// It is 0 where both are equal, and +Inf without a solution, without a bound, or where only the
// bound is 0.
func (s Solution) Gap() float64 {
	if s.Values == nil || math.IsInf(s.Bound, 0) {
		return math.Inf(1)
	}
	return relativeGap(s.Objective, s.Bound)
}

func relativeGap(objective, bound float64) float64 {
	// 0 comes first: a bound of 0 that is reached has no gap, though 0/0 is NaN.
	difference := math.Abs(objective - bound)
	if difference == 0 {
		return 0
	}
	return difference / math.Abs(bound)
}

// solutionFields is a Solution without its methods.
type solutionFields Solution

// solutionJSON is the form of a Solution in JSON, which has no infinities.
type solutionJSON struct {
	// The outer fields have the names of embedded ones and hide them, so each number is written
	// once.
	solutionFields
	Objective number.Float `json:"objective"`
	Bound     number.Float `json:"bound"`
}

// MarshalJSON writes what is infinite or NaN as text.
func (s Solution) MarshalJSON() ([]byte, error) {
	return json.Marshal(solutionJSON{solutionFields(s), number.Float(s.Objective), number.Float(s.Bound)})
}

// UnmarshalJSON reads what MarshalJSON writes.
// Numbers and the texts for what is infinite are both taken; see internal/number.
func (s *Solution) UnmarshalJSON(text []byte) error {
	var read solutionJSON
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	// s is written at the end alone: a text that cannot be read leaves it unchanged.
	*s = Solution(read.solutionFields)
	s.Objective, s.Bound = float64(read.Objective), float64(read.Bound)
	return nil
}
