// This file tests placements of numbers that are known beforehand.

package embedded

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// A packer places numbers wherever trying every placement does, on tiny clusters, and never what does not fit; an application that stays is where
// it was.
func TestPackerAgainstTwin(t *testing.T) {
	placed, none := 0, 0
	rapidtest.Until(t, "all are placed, or none", func() bool { return placed > 0 && none > 0 }, func(r *rapid.T) {
		inst := &solver.Instance{LossBudget: 99, AdjustBudget: 99}
		for range rapid.IntRange(1, 3).Draw(r, "servers") {
			inst.Capacity = append(inst.Capacity, apportion.Resources{rapid.Int64Range(2, 7).Draw(r, "cpu"), rapid.Int64Range(1, 4).Draw(r, "gpu")})
		}
		var numbers []int64
		for i := range rapid.IntRange(1, 3).Draw(r, "apps") {
			app := solver.App{Demand: apportion.Resources{rapid.Int64Range(1, 3).Draw(r, "cpu"), rapid.Int64Range(0, 2).Draw(r, "gpu")}, Elective: true, Min: 1, Max: 9}
			n := rapid.Int64Range(0, 4).Draw(r, "number")
			if i == 0 && app.Demand.FitsIn(inst.Capacity[0]) && rapid.Bool().Draw(r, "stays") {
				app.Running, app.Cost, app.Previous = true, 1, []apportion.Placement{{Server: 0, Count: 1}}
				n = lagrange.Stays
			} else if rapid.Bool().Draw(r, "limited") {
				app.PerServer = 2
			}
			inst.Apps, numbers = append(inst.Apps, app), append(numbers, n)
		}
		instancetest.Finish(inst)
		q := packer{inst, tuning.Standard(), 0}
		got := q.first(t.Context(), [][]int64{numbers})
		if got == nil {
			none++
		} else {
			placed++
		}
		if want := fits(inst, numbers); want != (got != nil) {
			r.Fatalf("%v of %v on %v: placed %v, can be placed: %v", numbers, inst.Apps, inst.Capacity, got, want)
		}
		for i, n := range numbers {
			if n == lagrange.Stays {
				n = 1
			}
			if got != nil && (solver.Containers(got[i]) != n || numbers[i] == lagrange.Stays && inst.Apps[i].Adjusted(got[i])) {
				r.Fatalf("application %d has %v, want %d", i, got[i], numbers[i])
			}
		}
	})
}

// fits tries every placement.
func fits(inst *solver.Instance, numbers []int64) bool {
	one := *inst
	one.Apps = append([]solver.App(nil), inst.Apps...)
	for i, n := range numbers {
		app := &one.Apps[i]
		switch n {
		case lagrange.Stays:
			app.Pinned = true
		case 0:
			app.Max, app.Min = 0, 0
		default:
			app.Elective, app.Min, app.Max = false, n, n
		}
	}
	best, _ := p2oracle.Best(&one)
	return best != nil
}
