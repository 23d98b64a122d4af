// This file holds what a solver answers: Solution, its gap and its form in JSON.

package solver

import (
	"encoding/json"
	"math"

	"github.com/apportion/apportion/internal/number"
)

// Solution is a solver's answer to an Instance. It survives encoding/json unchanged, infinite bounds
// included.
type Solution struct {
	Status Status `json:"status"`
	// Counts is the allocation; nil unless Status.HasSolution.
	Counts Counts `json:"counts"`
	// Objective is the utilization (10) of Counts.
	Objective float64 `json:"objective"`
	// Bound is an upper bound on the utilization of every solution, at most the Cap of the instance;
	// -Inf when Infeasible.
	Bound float64 `json:"bound"`
	// Proven is how far down the lexicographic preference Counts is proven best.
	Proven Rank `json:"proven"`
	// Certificate proves Bound, or as much of it as can be proven without another search.
	Certificate `json:"certificate,omitzero"`
	// Conflict says what cannot be had together when Infeasible.
	Conflict *Conflict `json:"conflict,omitempty"`
	// Effort counts the solver's own steps; comparable only within one solver.
	Effort int64 `json:"effort,omitempty"`
	// Interrupted says that the context ended before the solver had finished.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Gap returns Gap(Objective, Bound): 0 when Optimal, +Inf without a solution or without a bound.
func (s *Solution) Gap() float64 {
	switch {
	case s.Status == Optimal:
		return 0
	case s.Status != Feasible:
		return math.Inf(1)
	}
	return Gap(s.Objective, s.Bound)
}

// Gap returns (bound - objective) / |bound|, the part of the bound by which an answer may fall short:
// 0 where the objective has reached the bound, +Inf where the bound is infinite.
func Gap(objective, bound float64) float64 {
	switch {
	case math.IsInf(bound, 0):
		return math.Inf(1)
	case objective >= bound:
		return 0
	}
	return (bound - objective) / math.Max(math.Abs(bound), ObjectiveTolerance)
}

// plain is a Solution without its methods.
type plain Solution

// solutionJSON is the form of a Solution in JSON, which has no infinities.
type solutionJSON struct {
	plain
	Bound number.Float `json:"bound"`
}

// MarshalJSON writes an infinite bound as text.
func (s Solution) MarshalJSON() ([]byte, error) {
	return json.Marshal(solutionJSON{plain(s), number.Float(s.Bound)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Solution) UnmarshalJSON(data []byte) error {
	var read solutionJSON
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*s = Solution(read.plain)
	s.Bound = float64(read.Bound)
	return nil
}
