// This file holds what proves an answer: Certificate, and who gave it.

package solver

import "math"

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

// Certified returns the upper bound that c proves by itself, computed afresh from inst: the least of
// DualBound, CopyBound and Cap, so far as c has the prices for them. The error is ErrMultipliers for
// prices of another instance, and ErrTooLarge.
func (c *Certificate) Certified(inst *Instance) (float64, error) {
	// Each bound is valid by itself, so that the least of them is; the cap needs no prices and is
	// always there.
	bound := inst.Cap()
	if c.Multipliers != nil {
		dual, err := DualBound(inst, c.Multipliers)
		if err != nil {
			return 0, err
		}
		bound = math.Min(bound, dual)
	}
	if c.Copies != nil {
		copies, err := CopyBound(inst, c.Copies)
		if err != nil {
			return 0, err
		}
		bound = math.Min(bound, copies)
	}
	return bound, nil
}

// Check returns ErrMultipliers unless the prices of c have the shape of inst and are legal.
func (c *Certificate) Check(inst *Instance) error {
	if c.Multipliers != nil {
		if err := c.Multipliers.check(inst); err != nil {
			return err
		}
	}
	if c.Copies != nil {
		return c.Copies.check(inst)
	}
	return nil
}
