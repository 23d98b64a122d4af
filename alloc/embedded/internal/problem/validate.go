// This file refuses what is no P2 instance, so that nothing further on can fail.

package problem

import (
	"fmt"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// Validate returns the first fault of inst as a *apportion.FieldError, or nil.
func Validate(inst *solver.Instance) error {
	var faults apportion.Faults
	if len(inst.Capacity) == 0 {
		faults.Add(apportion.Item{}, "Capacity", apportion.ErrEmpty, "")
	}
	total := make(apportion.Resources, len(inst.Total))
	for j, capacity := range inst.Capacity {
		field := fmt.Sprintf("Capacity[%d]", j)
		if checkVector(&faults, capacity, len(total), field) && exact.AddTo(total, total, capacity) != nil {
			faults.Add(apportion.Item{}, field, apportion.ErrOverflow, "with those before it")
		}
	}
	if len(faults) == 0 && !total.Equal(inst.Total) {
		faults.Add(apportion.Item{}, "Total", apportion.ErrConflict, "not the sum of Capacity")
	}
	if math.IsNaN(inst.LossBudget) || math.IsInf(inst.LossBudget, 0) {
		faults.Add(apportion.Item{}, "LossBudget", apportion.ErrNotFinite, "")
	}
	for i := range inst.Apps {
		checkApp(&faults, inst, i)
	}
	if len(faults) > 0 {
		return faults[0]
	}
	return nil
}

func checkVector(faults *apportion.Faults, r apportion.Resources, kinds int, field string) bool {
	if len(r) != kinds {
		faults.Add(apportion.Item{}, field, apportion.ErrLength, fmt.Sprintf("%d quantities for %d kinds", len(r), kinds))
		return false
	}
	for _, q := range r {
		if q < 0 {
			faults.Add(apportion.Item{}, field, apportion.ErrNegative, "")
			return false
		}
	}
	return true
}

func checkApp(faults *apportion.Faults, inst *solver.Instance, i int) {
	app := &inst.Apps[i]
	field := fmt.Sprintf("Apps[%d].", i)
	if checkVector(faults, app.Demand, len(inst.Total), field+"Demand") && app.Demand.IsZero() {
		faults.Add(apportion.Item{}, field+"Demand", apportion.ErrRange, "zero in every kind")
	}
	if app.Min < 0 || app.Max < 1 || app.Min > app.Max {
		faults.Add(apportion.Item{}, field+"Min", apportion.ErrRange, fmt.Sprintf("bounds %d and %d", app.Min, app.Max))
	}
	for _, x := range [...]float64{app.Value, app.Delta, app.Share} {
		if !(x >= 0) || math.IsInf(x, 1) {
			faults.Add(apportion.Item{}, field+"Value", apportion.ErrNotFinite, "Value, Delta and Share are finite and not negative")
		}
	}
	last, held := -1, int64(0)
	for _, placed := range app.Previous {
		sum, ok := exact.Add(held, placed.Count)
		if placed.Server <= last || placed.Server >= len(inst.Capacity) || placed.Count < 1 || !ok {
			faults.Add(apportion.Item{}, field+"Previous", apportion.ErrRange, fmt.Sprintf("%d on server %d", placed.Count, placed.Server))
			return
		}
		last, held = placed.Server, sum
	}
}
