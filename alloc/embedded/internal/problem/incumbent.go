// This file holds what every search hands on: the best solution met, containers by type and server.

package problem

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// Incumbent is the best state met that is a solution.
type Incumbent struct {
	Found     bool
	On        [][]Slot
	Free      []bool
	Objective float64
	Loss      float64
	Freed     int64
}

// Preferred reports whether inc is preferred to other.
func (inc *Incumbent) Preferred(other *Incumbent) bool {
	if d := inc.Objective - other.Objective; math.Abs(d) > solver.ObjectiveTolerance {
		return d > 0
	}
	if d := inc.Loss - other.Loss; math.Abs(d) > solver.LossTolerance {
		return d < 0
	}
	return inc.Freed < other.Freed
}

// Slot is some free containers of one type on one server.
type Slot struct {
	Typ   int32
	Count int64
}
