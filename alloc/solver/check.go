// This file is the referee: Check tells whether Counts satisfy (6)-(9), (15), (16) and (G).

package solver

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// Check returns nil if counts is a solution of inst: one entry per application, ascending servers
// that exist and are open to it, positive counts, capacities (6) held exactly, allowed numbers (7)(8), fairness
// loss (15) within LossTolerance, adjustments (16), ceilings (G) and one option of each Choice. Otherwise it returns the
// first violation, wrapping ErrViolated. O(applications + placements + servers + applications of all groups) times
// kinds.
func (inst *Instance) Check(counts Counts) error {
	if len(counts) != len(inst.Apps) {
		return fmt.Errorf("%w: %d entries for %d applications", ErrViolated, len(counts), len(inst.Apps))
	}
	// Shapes come before sums: Used indexes servers by what checkApp has found to exist.
	for i := range inst.Apps {
		if err := inst.CheckApp(i, counts[i]); err != nil {
			return err
		}
	}
	// Each application's number is an int64; the sum of what they use may still leave it.
	used, err := inst.Used(counts)
	if err != nil {
		return fmt.Errorf("%w: (6): %w", ErrViolated, err)
	}
	// The first server that is too full is told, with all that is used there.
	for j, capacity := range inst.Capacity {
		if !used[j].FitsIn(capacity) {
			return fmt.Errorf("%w: (6): server %d uses %v of %v", ErrViolated, j, used[j], capacity)
		}
	}
	if err := inst.checkGroups(counts); err != nil {
		return err
	}
	if err := inst.checkChoices(counts); err != nil {
		return err
	}
	// Capacities and counts are compared exactly; only the loss is a sum of floats and needs a
	// tolerance.
	if loss := inst.FairnessLoss(counts); loss > inst.LossBudget+LossTolerance {
		return fmt.Errorf("%w: (15): loss %g, budget %g", ErrViolated, loss, inst.LossBudget)
	}
	if cost := inst.AdjustCost(counts); cost > inst.AdjustBudget {
		return fmt.Errorf("%w: (16): adjustments cost %d, budget %d", ErrViolated, cost, inst.AdjustBudget)
	}
	return nil
}

// restrictions says in an error which numbers between the bounds are allowed; "" where all are.
func (a *App) restrictions() string {
	switch {
	case a.Counts != nil:
		return fmt.Sprintf(", of %v", a.Counts)
	case a.Step > 1:
		return fmt.Sprintf(", multiples of %d", a.Step)
	}
	return ""
}

// CheckApp returns the first violation of what concerns application i alone if placed is what it has: the
// servers and their order (9), how many there are (7)(8), and whether it stays if it must; nil: there is none.
// O(placements).
func (inst *Instance) CheckApp(i int, placed []apportion.Placement) error {
	app := &inst.Apps[i]
	// Whoever stays exactly as it is may keep places that are closed to it; its numbers and limits hold all the same.
	stays := app.Running && !app.Adjusted(placed)
	if app.Pinned && !stays {
		return fmt.Errorf("%w: application %d is pinned and does not stay as it is", ErrViolated, i)
	}
	if app.tooWide(placed) {
		return fmt.Errorf("%w: application %d is on %d servers, at most %d", ErrViolated, i, len(placed), app.MaxServers)
	}
	var n int64
	last := -1
	for _, p := range placed {
		if p.Server <= last || p.Server >= len(inst.Capacity) || p.Count <= 0 {
			return fmt.Errorf("%w: (9): application %d has %d containers on server %d after server %d",
				ErrViolated, i, p.Count, p.Server, last)
		}
		last = p.Server
		// What it holds now it may keep where nothing new may come.
		if !stays && !inst.Open(i, p.Server) {
			return fmt.Errorf("%w: server %d is not open to application %d", ErrViolated, p.Server, i)
		}
		if app.PerServer > 0 && p.Count > app.PerServer {
			return fmt.Errorf("%w: application %d has %d containers on server %d, at most %d", ErrViolated, i, p.Count, p.Server, app.PerServer)
		}
		sum, ok := exact.Add(n, p.Count)
		if !ok {
			return fmt.Errorf("%w: (7): application %d: %w", ErrViolated, i, apportion.ErrOverflow)
		}
		n = sum
	}
	if !app.Allows(n) {
		return fmt.Errorf("%w: (7)(8): application %d has %d containers, bounds %d and %d%s",
			ErrViolated, i, n, app.Min, app.Max, app.restrictions())
	}
	return nil
}
