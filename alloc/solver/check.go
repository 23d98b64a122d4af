// This file is the referee: Check tells whether Counts satisfy (6)-(9), (15) and (16).

package solver

import (
	"errors"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// ErrViolated is what every violation found by Check is.
var ErrViolated = errors.New("solver: constraint violated")

// Check returns nil if counts is a solution of inst: one entry per application, ascending servers
// that exist, positive counts, capacities (6) held exactly, bounds (7)(8), fairness loss (15) within
// LossTolerance and adjustments (16). Otherwise it returns the first violation, wrapping
// ErrViolated. O(applications + placements + servers) times kinds.
func (inst *Instance) Check(counts Counts) error {
	if len(counts) != len(inst.Apps) {
		return fmt.Errorf("%w: %d entries for %d applications", ErrViolated, len(counts), len(inst.Apps))
	}
	// Shapes come before sums: Used indexes servers by what checkApp has found to exist.
	for i := range inst.Apps {
		if err := inst.checkApp(i, counts[i]); err != nil {
			return err
		}
	}
	used, err := inst.Used(counts)
	if err != nil {
		return fmt.Errorf("%w: (6): %w", ErrViolated, err)
	}
	for j, capacity := range inst.Capacity {
		if !used[j].FitsIn(capacity) {
			return fmt.Errorf("%w: (6): server %d uses %v of %v", ErrViolated, j, used[j], capacity)
		}
	}
	// Capacities and counts are compared exactly; only the loss is a sum of floats and needs a
	// tolerance.
	if loss := inst.FairnessLoss(counts); loss > inst.LossBudget+LossTolerance {
		return fmt.Errorf("%w: (15): loss %g, budget %g", ErrViolated, loss, inst.LossBudget)
	}
	if adjusted := inst.AdjustedApps(counts); adjusted > inst.AdjustBudget {
		return fmt.Errorf("%w: (16): %d adjusted, budget %d", ErrViolated, adjusted, inst.AdjustBudget)
	}
	return nil
}

// checkApp checks (7)-(9) for application i: where its containers are, and how many.
func (inst *Instance) checkApp(i int, placed []apportion.Placement) error {
	var n int64
	last := -1
	for _, p := range placed {
		if p.Server <= last || p.Server >= len(inst.Capacity) || p.Count <= 0 {
			return fmt.Errorf("%w: (9): application %d has %d containers on server %d after server %d",
				ErrViolated, i, p.Count, p.Server, last)
		}
		last = p.Server
		sum, ok := exact.Add(n, p.Count)
		if !ok {
			return fmt.Errorf("%w: (7): application %d: %w", ErrViolated, i, apportion.ErrOverflow)
		}
		n = sum
	}
	if app := &inst.Apps[i]; n < app.Min || n > app.Max {
		return fmt.Errorf("%w: (7)(8): application %d has %d containers, bounds %d and %d",
			ErrViolated, i, n, app.Min, app.Max)
	}
	return nil
}
