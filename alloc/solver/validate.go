// This file refuses what is no P2 instance, so that no solver need fear its input.

package solver

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// Validate returns the first fault of inst as a *apportion.FieldError, or nil: vectors of unequal length,
// negative quantities, a Total below the sum, bounds that contradict each other, numbers that are
// not finite, placements on servers that do not exist. A solver begins with it. O(size of inst).
func (inst *Instance) Validate() error {
	var faults apportion.Faults
	if len(inst.Capacity) == 0 {
		faults.Add(apportion.Item{}, "Capacity", apportion.ErrEmpty, "")
	}
	// 1. Servers. The number of kinds is that of Total, with which all other vectors are compared.
	total := make(apportion.Resources, len(inst.Total))
	for j, capacity := range inst.Capacity {
		item := check.Item("server", "", j)
		if checkVector(&faults, capacity, len(total), item, "Capacity") && exact.AddTo(total, total, capacity) != nil {
			faults.Add(item, "Capacity", apportion.ErrOverflow, "with those before it")
		}
	}
	// The sum is compared only where every vector has its length; else the difference says nothing
	// new.
	if len(faults) == 0 && !total.FitsIn(inst.Total) {
		faults.Add(apportion.Item{}, "Total", apportion.ErrConflict, "less than the sum of Capacity")
	}
	if inst.Class != nil && len(inst.Class) != len(inst.Capacity) {
		faults.Add(apportion.Item{}, "Class", apportion.ErrLength, fmt.Sprintf("%d classes for %d servers", len(inst.Class), len(inst.Capacity)))
	}
	// Classes are names, and need not be without gaps; classOf has no use for a negative one.
	for j, class := range inst.Class {
		if class < 0 {
			faults.Add(check.Item("server", "", j), "Class", apportion.ErrNegative, strconv.Itoa(class))
		}
	}
	// 2. What concerns the whole. A LossBudget below 0 is legal: no allocation holds it, which is for a solver to say.
	if !priceOK(inst.LossPrice) {
		faults.Add(apportion.Item{}, "LossPrice", apportion.ErrRange, strconv.FormatFloat(inst.LossPrice, 'g', -1, 64))
	}
	if math.IsNaN(inst.LossBudget) || math.IsInf(inst.LossBudget, 0) {
		faults.Add(apportion.Item{}, "LossBudget", apportion.ErrNotFinite, "")
	}
	// 3. Applications, then groups and choices, whose positions mean something only beside these.
	for i := range inst.Apps {
		checkApp(&faults, inst, i)
	}
	for g := range inst.Groups {
		checkGroup(&faults, inst, g)
	}
	taken := make([]bool, len(inst.Apps))
	for c := range inst.Choices {
		checkOptions(&faults, inst, c, taken)
	}
	if len(faults) > 0 {
		return faults[0]
	}
	return nil
}

// checkVector adds what is wrong with one vector, the first fault of it alone, and reports whether nothing is: a length other
// than kinds, or a negative quantity.
func checkVector(faults *apportion.Faults, r apportion.Resources, kinds int, item apportion.Item, field string) bool {
	if len(r) != kinds {
		faults.Add(item, field, apportion.ErrLength, fmt.Sprintf("%d quantities for %d kinds", len(r), kinds))
		return false
	}
	for _, q := range r {
		if q < 0 {
			faults.Add(item, field, apportion.ErrNegative, strconv.FormatInt(q, 10))
			return false
		}
	}
	return true
}

// checkApp adds what is wrong with application i by itself. Previous may overfill servers, and be outside the bounds: that
// is what a solver is asked to repair.
func checkApp(faults *apportion.Faults, inst *Instance, i int) {
	app := &inst.Apps[i]
	item := check.Item("application", "", i)
	if checkVector(faults, app.Demand, len(inst.Total), item, "Demand") && app.Demand.IsZero() {
		faults.Add(item, "Demand", apportion.ErrNoDemand, "")
	}
	if app.Min < 0 || app.Max < 1 || app.Min > app.Max {
		faults.Add(item, "Min", apportion.ErrRange, fmt.Sprintf("bounds %d and %d", app.Min, app.Max))
	}
	checkChoice(faults, inst, i, item)
	// The comparison is written so that NaN fails it.
	for _, x := range [...]float64{app.Value, app.Delta, app.Share} {
		if !(x >= 0) || math.IsInf(x, 1) {
			faults.Add(item, "Value", apportion.ErrNotFinite, "Value, Delta and Share are finite and not negative")
		}
	}
	// Servers ascend strictly, so that none is there twice; the sum of containers is an int64 wherever it is formed.
	last, held := -1, int64(0)
	for _, placed := range app.Previous {
		sum, ok := exact.Add(held, placed.Count)
		if placed.Server <= last || placed.Server >= len(inst.Capacity) || placed.Count < 1 || !ok {
			faults.Add(item, "Previous", apportion.ErrRange, fmt.Sprintf("%d on server %d", placed.Count, placed.Server))
			return
		}
		last, held = placed.Server, sum
	}
}

// checkChoice adds what is wrong with the optional fields of application i, those that say which numbers and places it may
// choose from.
func checkChoice(faults *apportion.Faults, inst *Instance, i int, item apportion.Item) {
	app := &inst.Apps[i]
	for _, f := range [...]struct {
		field string
		n     int64
	}{{"Step", app.Step}, {"PerServer", app.PerServer}, {"MaxServers", app.MaxServers}, {"Cost", app.Cost}, {"FreeAbove", app.FreeAbove}} {
		if f.n < 0 {
			faults.Add(item, f.field, apportion.ErrNegative, strconv.FormatInt(f.n, 10))
		}
	}
	ascends := func(a, b int64) int {
		if a <= b { // equals do not ascend either
			return -1
		}
		return 1
	}
	if app.Counts != nil && (len(app.Counts) == 0 || app.Counts[0] < 1 || !slices.IsSortedFunc(app.Counts, ascends)) {
		faults.Add(item, "Counts", apportion.ErrRange, fmt.Sprintf("%v do not ascend from 1 or more", app.Counts))
	}
	if !slices.IsSorted(app.Classes) {
		faults.Add(item, "Classes", apportion.ErrRange, "they do not ascend")
	}
	checkWorth(faults, app, item)
	checkSpread(faults, app, item)
	checkLosses(faults, app, item)
	if app.Pinned && (!app.Running || app.Displaced) {
		faults.Add(item, "Pinned", apportion.ErrConflict, "it does not run, or cannot stay")
	}
}

// checkGroup adds what is wrong with group g: a ceiling that is no vector, or positions that do not ascend or are none. An empty
// group is legal, and limits nobody.
func checkGroup(faults *apportion.Faults, inst *Instance, g int) {
	group, item := &inst.Groups[g], check.Item("group", "", g)
	checkVector(faults, group.Ceiling, len(inst.Total), item, "Ceiling")
	last := -1
	for _, i := range group.Apps {
		if i <= last || i >= len(inst.Apps) {
			faults.Add(item, "Apps", apportion.ErrRange, strconv.Itoa(i))
			return
		}
		last = i
	}
}

// checkOptions adds what is wrong with choice c; taken says which applications are in one before it, and is added to. That all
// options lose and are worth the same without containers is what lets Apart count it once.
func checkOptions(faults *apportion.Faults, inst *Instance, c int, taken []bool) {
	choice, item := &inst.Choices[c], check.Item("choice", "", c)
	if len(choice.Apps) == 0 {
		faults.Add(item, "Apps", apportion.ErrEmpty, "")
	}
	last, runs := -1, 0
	for _, i := range choice.Apps {
		if i <= last || i >= len(inst.Apps) || taken[i] {
			faults.Add(item, "Apps", apportion.ErrRange, strconv.Itoa(i))
			return
		}
		taken[i], last = true, i
		app, first := &inst.Apps[i], &inst.Apps[choice.Apps[0]]
		if app.Loss(0) != first.Loss(0) || app.Idle != first.Idle || !app.Allows(0) {
			faults.Add(item, "Apps", apportion.ErrConflict, fmt.Sprintf("application %d has another loss or worth of having nothing, or must have something", i))
		}
		if app.Running {
			runs++
		}
	}
	if runs > 1 {
		faults.Add(item, "Apps", apportion.ErrConflict, "it runs in two ways at once")
	}
}
