// This file holds what a solver answers: Solution with the Certificate that proves it and who gave it, its gap and its
// form in JSON.

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

// Certificate is the proof that comes with an answer, as data: with it and the instance anyone can
// compute an upper bound afresh, see Certified. It survives encoding/json unchanged.
type Certificate struct {
	// Multipliers are prices for DualBound and for explanations, Copies such for CopyBound; each is
	// nil where the solver has none.
	Multipliers *Multipliers `json:"multipliers,omitempty"`
	Copies      *CopyPrices  `json:"copies,omitempty"`
	// Searched says that the solver's bound is lower than the prices prove: branch and bound or
	// enumeration ruled out the rest, which only doing it again can verify, or no utilization lies
	// between, since they come in steps.
	Searched bool `json:"searched,omitempty"`
	// By says who gave the answer and what it was told, so that it can be asked again.
	By Settings `json:"by,omitzero"`
}

// Settings name a solver and all that its answer depends on beside the instance.
type Settings struct {
	// Solver is its name, for instance "embedded" or "highs"; empty: not known.
	Solver string `json:"solver"`
	// Form is how P2 was written as a linear program; empty where it was not.
	Form string `json:"form,omitempty"`
	// Effort, Gap, Seed and Preference are the options of that name; 0 where the solver has none.
	Effort     int64   `json:"effort,omitempty"`
	Gap        float64 `json:"gap,omitempty"`
	Seed       uint64  `json:"seed,omitempty"`
	Preference Rank    `json:"preference,omitempty"`
	// Warm says that the search started from what an earlier decision had left: asked again without
	// it, the solver may prefer another of several equally good answers.
	Warm bool `json:"warm,omitempty"`
}

// solutionJSON is the form of a Solution in JSON, which has no infinities: its Bound hides that of plain.
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
