// This file holds the names of the constraints, Constraint, and what a violation of one is, ErrViolated.

package solver

import "errors"

// Constraint names a constraint of P2. It is a plain text, so that it can stand in an
// apportion.Reason and be compared with the constants below.
type Constraint = string

// The constraints of P2 that can stand in the way, with Dorm's equation numbers.
const (
	Capacity Constraint = "capacity (6)"
	Minimum  Constraint = "minimum containers (8)"
	Fairness Constraint = "fairness loss (15)"
	Adjust   Constraint = "adjustment (16)"
)

// ErrViolated is what every violation found by Check is.
var ErrViolated = errors.New("solver: constraint violated")
