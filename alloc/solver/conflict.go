// This file holds the names of the constraints, what a violation of one is, and why an Instance has no solution:
// Constraint, ErrViolated and Conflict.

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

// Conflict explains why an Instance has no solution: the named constraints cannot hold together
// for the named applications.
type Conflict struct {
	// Constraints has at least one entry; Need and Have are the two sides of the first one, the
	// others held:
	//
	//	Capacity, Kind >= 0   units of that kind
	//	Capacity, Kind -1     parts of all there is, each kind counted at a price
	//	Minimum               containers
	//	Fairness              shares
	//	Adjust                applications
	Constraints []Constraint `json:"constraints"`
	// Apps are the applications involved, ascending; empty: all of them.
	Apps []int `json:"apps"`
	// Kind is the kind of resource that is short, or -1.
	Kind int `json:"kind"`
	// Need is the least that the others leave possible, Have what there is; both 0: not known.
	Need float64 `json:"need"`
	Have float64 `json:"have"`
}
