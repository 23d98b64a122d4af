// This file empties clusters by half.

package instancetest

import (
	"github.com/apportion/apportion/alloc/solver"
)

// Half returns inst without every second application that runs: a full cluster of which half has finished, the state
// in which a bound has the most room to be wrong. The shares of the others stay as they were, and the adjustment
// budget is a tenth of those that run, rounded up.
func Half(inst *solver.Instance) *solver.Instance {
	half := Clone(inst)
	half.Apps = nil
	running := 0
	for _, app := range inst.Apps {
		if app.Running {
			// The first goes, the second stays, and so on.
			if running++; running%2 == 1 {
				continue
			}
		}
		half.Apps = append(half.Apps, app)
	}
	half.AdjustBudget = int64((running/2 + 9) / 10)
	return half
}
