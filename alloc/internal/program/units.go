// This file holds the places of containers, and chooses the units in which the rows of (6) count large
// quantities.

package program

import (
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// maxExact is the largest integer up to which float64 holds every integer; large is what no back-end finds too much, as a
// petabyte of bytes: SCIP may loop beyond it.
const maxExact, large = 1 << 53, 1e15

// places are where containers may be: servers, or classes of equal ones.
type places struct {
	capacity []apportion.Resources // of one server
	size     []int64               // how many servers it stands for
	first    []int                 // one of these servers; all of them are open to the same applications
}

// most returns how many containers of an application place j holds by itself. It is as tight as one
// server allows, which tightens the relaxation, also as big M.
func (p places) most(app *solver.App, j int) int64 {
	// Where no number is allowed AtMost is -1.
	return max(0, min(app.AtMost(app.Max), mulSaturated(p.size[j], p.each(app, j))))
}

// each returns how many containers of an application one server of place j holds.
func (p places) each(app *solver.App, j int) int64 {
	each := min(app.Max, app.Demand.CountIn(p.capacity[j]))
	if app.PerServer > 0 {
		each = min(each, app.PerServer)
	}
	return each
}

// servers returns every server as a place of its own.
// The forms Verbatim and Disjunctive decide for each server; only Class pools them.
func servers(inst *solver.Instance) places {
	p := places{inst.Capacity, make([]int64, len(inst.Capacity)), make([]int, len(inst.Capacity))}
	for j := range p.size {
		p.size[j], p.first[j] = 1, j
	}
	return p
}

// unitsFor returns 1 for every kind of which no place has more than large, and for the others the
// least multiple of the greatest common divisor g of the demands that brings them below maxExact. Rows divide
// demands and capacities by the unit, rounded down. With the unit g that is exact, since what a place
// uses is a multiple of g. With a larger unit u it is a relaxation, and rounded is true: where
// sum_i d_i x_i <= c, also sum_i floor(d_i/u) x_i <= c/u, and the left side is whole.
func unitsFor(apps []solver.App, p places) (unit []int64, rounded bool) {
	unit = make([]int64, len(p.capacity[0]))
	for k := range unit {
		most := 0.0
		// The product is a float, which cannot overflow; that it is rounded matters only within a
		// part in 2^53.
		for j, capacity := range p.capacity {
			most = math.Max(most, float64(p.size[j])*float64(capacity[k]))
		}
		common := int64(0)
		for i := range apps {
			common = gcd(common, apps[i].Demand[k])
		}
		var inexact bool
		unit[k], inexact = unitFor(common, most)
		rounded = rounded || inexact
	}
	return unit, rounded
}

// unitFor returns the unit of a sum of multiples of common that is at most most, see unitsFor.
func unitFor(common int64, most float64) (unit int64, rounded bool) {
	if most <= large || common == 0 { // what nobody demands has no rows
		return 1, false
	}
	// times is at least 1, because dividing by the common divisor alone loses nothing.
	times := max(1, int64(math.Ceil(most/float64(common)/maxExact)))
	return mulSaturated(common, times), times > 1
}

// gcd returns the greatest common divisor of two numbers that are not negative; that of 0 and b is b.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// mulSaturated returns a*b, or the largest int64 where that overflows; neither is negative.
func mulSaturated(a, b int64) int64 {
	if product, ok := exact.Mul(a, b); ok {
		return product
	}
	return math.MaxInt64
}
