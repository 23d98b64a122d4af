// This file recomputes what the prices of a Certificate prove, and refuses those of another instance.

package solver

import "math"

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
	// ErrTooLarge refuses the whole certificate: what these prices claim nobody can check.
	if c.Copies != nil {
		copies, err := CopyBound(inst, c.Copies)
		if err != nil {
			return 0, err
		}
		bound = math.Min(bound, copies)
	}
	return bound, nil
}

// Check returns ErrMultipliers unless the prices of c have the shape of inst and are legal. It computes no bound, so that it
// is cheap enough to ask about every answer of a solver. O(prices).
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
