// This file computes equations (1)-(4) for any Counts, [Dorm §IV-A].

package solver

import (
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// Objective returns the sum of App.WorthOf in the order of the applications, which in the paper's P2 is the
// utilization (10), less LossPrice times the fairness loss. counts need not satisfy anything but the form of Counts; the
// order of the sum is part of the result, so that everybody who recomputes it gets the same bits. O(placements + applications
// x log of their numbers).
func (inst *Instance) Objective(counts Counts) float64 {
	var sum float64
	if inst.LossPrice > 0 {
		sum = -float64(inst.LossPrice * inst.FairnessLoss(counts))
	}
	for i := range inst.Apps {
		sum += inst.Apps[i].WorthOf(counts[i])
	}
	_, idle := inst.unused()
	return sum - idle
}

// FairnessLoss returns the sum of l_i (2), of a Choice that of the option in use: the others lose what having nothing loses,
// which is taken off again. It is never negative but for rounding.
func (inst *Instance) FairnessLoss(counts Counts) float64 {
	var sum float64
	for i := range inst.Apps {
		sum += inst.Apps[i].Loss(Containers(counts[i]))
	}
	share, _ := inst.unused()
	return sum - share
}

// AdjustedApps returns the sum of r_i (4), whatever each adjustment costs.
func (inst *Instance) AdjustedApps(counts Counts) int64 {
	var sum int64
	for i := range inst.Apps {
		if inst.Apps[i].Adjusted(counts[i]) {
			sum++
		}
	}
	return sum
}

// CostOf returns what a change to n containers takes from AdjustBudget.
func (a *App) CostOf(n int64) int64 {
	if a.FreeAbove > 0 && n > a.FreeAbove {
		return 0
	}
	return a.Cost
}

// MayGrow reports whether a change of the application may take nothing from AdjustBudget.
func (a *App) MayGrow() bool { return a.Cost == 0 || a.FreeAbove > 0 && a.Max > a.FreeAbove }

// leastCost returns what a change takes from AdjustBudget at least.
func (a *App) leastCost() int64 {
	if a.MayGrow() {
		return 0
	}
	return a.Cost
}

// AdjustCost returns the left side of (16): the CostOf all that are adjusted, or the largest number where
// that is less.
func (inst *Instance) AdjustCost(counts Counts) int64 {
	var sum int64
	for i := range inst.Apps {
		if inst.Apps[i].Adjusted(counts[i]) {
			sum = addSaturated(sum, inst.Apps[i].CostOf(Containers(counts[i])))
		}
	}
	return sum
}

// addSaturated returns a + b, or the largest number where that is less.
func addSaturated(a, b int64) int64 {
	if sum, ok := exact.Add(a, b); ok {
		return sum
	}
	return math.MaxInt64
}

// Moved returns how many containers counts creates or destroys for running applications: the sum
// of |x[i][j] - xprev[i][j]|, of one that changes its option those that it had.
func (inst *Instance) Moved(counts Counts) int64 {
	var moved int64
	for i := range inst.Apps {
		if inst.Apps[i].Running {
			moved += difference(inst.Apps[i].Previous, counts[i])
		}
	}
	return moved
}

// difference returns the sum over servers of |a - b|; both ascend in Server.
func difference(a, b []apportion.Placement) int64 {
	// Both lists are merged: a server that is in one alone counts whole.
	var sum int64
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Server < b[0].Server:
			sum += a[0].Count
			a = a[1:]
		case len(a) == 0 || b[0].Server < a[0].Server:
			sum += b[0].Count
			b = b[1:]
		default:
			sum += max(a[0].Count-b[0].Count, b[0].Count-a[0].Count)
			a, b = a[1:], b[1:]
		}
	}
	return sum
}

// Used returns the resources that counts uses on every server, in one new vector per server. The
// counts must pass Check or come from an Instance's own Previous; sums that leave int64 give
// ErrOverflow.
func (inst *Instance) Used(counts Counts) ([]apportion.Resources, error) {
	// The vectors are fresh, since callers subtract from them.
	used := make([]apportion.Resources, len(inst.Capacity))
	for j := range used {
		used[j] = make(apportion.Resources, len(inst.Total))
	}
	for i := range counts {
		for _, p := range counts[i] {
			if err := exact.AddTimesTo(used[p.Server], used[p.Server], p.Count, inst.Apps[i].Demand); err != nil {
				return nil, err
			}
		}
	}
	return used, nil
}
