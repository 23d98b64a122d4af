// This file chooses the units in which the rows of (6) count large quantities.

package mip

import (
	"math"

	"github.com/apportion/apportion/internal/exact"
)

// maxExact is the largest integer up to which float64 holds every integer.
const maxExact = 1 << 53

// chooseUnits sets b.unit to 1 for every kind of which no place has more than maxExact, and to the
// least multiple of the greatest common divisor g of the demands that brings the others below it. Rows
// divide demands and capacities by the unit, rounded down. With the unit g that is exact, since what a
// place uses is a multiple of g. With a larger unit u it is a relaxation: where sum_i d_i x_i <= c, also
// sum_i floor(d_i/u) x_i <= c/u, and the left side is whole.
func (b *builder) chooseUnits(p places) {
	b.unit = make([]int64, len(b.inst.Total))
	for k := range b.unit {
		b.unit[k] = 1
		most := 0.0
		for j, capacity := range p.capacity {
			most = math.Max(most, float64(p.size[j])*float64(capacity[k]))
		}
		if most <= maxExact {
			continue
		}
		common := int64(0)
		for i := range b.inst.Apps {
			common = gcd(common, b.inst.Apps[i].Demand[k])
		}
		if common == 0 {
			continue // nobody demands it, so that it has no rows
		}
		times := max(1, int64(math.Ceil(most/float64(common)/maxExact)))
		b.unit[k] = mulSaturated(common, times)
		b.rounded = b.rounded || times > 1
	}
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
