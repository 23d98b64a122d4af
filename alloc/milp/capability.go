// This file implements Capability: what a back-end can do, checked before every call.

package milp

import (
	"fmt"
	"math"
	"strings"
)

// Capability is a set of things that a back-end can do.
type Capability uint32

// The capabilities, to be combined with |.
const (
	// CanContinuous: variables that are not integer.
	CanContinuous Capability = 1 << iota
	// CanInteger: integer variables.
	CanInteger
	// CanInfiniteBounds: variables without a lower or an upper bound.
	CanInfiniteBounds
	// CanInterrupt: an ended context stops the search.
	CanInterrupt
	// CanTimeLimit, CanNodeLimit and CanMemoryLimit: the limits in Options.
	CanTimeLimit
	CanNodeLimit
	CanMemoryLimit
	// CanGaps: RelativeGap and AbsoluteGap other than the default.
	CanGaps
	// CanTolerances: FeasibilityTolerance and IntegralityTolerance other than the default.
	CanTolerances
	// CanWorkers: more than one worker.
	CanWorkers
	// CanSeed: a seed other than 0.
	CanSeed
	// CanLog: the log callback.
	CanLog
	// CanHint: a starting solution.
	CanHint

	// capabilityEnd stands after the last capability, so that CanEverything follows by itself when
	// one is added.
	capabilityEnd
	// CanEverything is what a back-end without a Capabilities method promises.
	CanEverything = capabilityEnd - 1
)

// capabilityNames has the texts of the capabilities, in the order of their bits.
var capabilityNames = [...]string{
	"continuous variables", "integer variables", "infinite bounds", "interruption", "time limit",
	"node limit", "memory limit", "gaps", "tolerances", "several workers", "seed", "log callback",
	"starting solution",
}

// String lists the capabilities, separated by commas.
// The set without anything is "".
func (c Capability) String() string {
	var has []string
	// The k-th name belongs to bit k; bits beyond the names are no capabilities and are left out.
	for k, name := range capabilityNames {
		if c&(1<<k) != 0 {
			has = append(has, name)
		}
	}
	return strings.Join(has, ", ")
}

// Capable is implemented by a Solver that cannot do everything.
type Capable interface {
	Capabilities() Capability
}

// Capabilities returns what the solver can do: its own word, or CanEverything.
func Capabilities(solver Solver) Capability {
	// The method is optional, so that the smallest back-end is one method. What it then cannot do,
	// it must do all the same.
	if capable, ok := solver.(Capable); ok {
		return capable.Capabilities()
	}
	return CanEverything
}

// CapabilityError reports a call that the back-end cannot honour. The call was not made.
type CapabilityError struct {
	// Solver is the Go type of the back-end.
	Solver string
	// Missing is what the model or the options need and the back-end lacks.
	Missing Capability
}

// Error returns "milp: bb.Solver cannot do: several workers".
func (e *CapabilityError) Error() string {
	return fmt.Sprintf("milp: %s cannot do: %s", e.Solver, e.Missing)
}

// Needs returns the capabilities without which the model cannot be stated. O(variables).
func (m *Model) Needs() Capability {
	var needs Capability
	for j, integer := range m.integer {
		// A model asks only for what it uses: a program without integers is open to engines for
		// linear programs.
		if integer {
			needs |= CanInteger
		} else {
			needs |= CanContinuous
		}
		if math.IsInf(m.lower[j], 0) || math.IsInf(m.upper[j], 0) {
			needs |= CanInfiniteBounds
		}
	}
	return needs
}
