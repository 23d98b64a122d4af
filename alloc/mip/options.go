// This file holds the options of a Solver.

package mip

import (
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Options adjusts a Solver. nil and the zero value mean the defaults.
type Options struct {
	// Name is the name of the back-end in the certificate of every answer; empty: its Go type.
	Name string
	// Search is handed to every solve; the zero value asks for the proven optimum without limits.
	Search milp.Options
	// Preference is how far down the lexicographic preference to go after the utilization: ByLoss
	// solves a second model, ByAdjusted a third, ByMoved and below a fourth. 0 and ByUtilization:
	// utilization only. Each level is another solve of about the same size, and the order of x, ByOrder, is
	// not written.
	Preference solver.Rank
}
