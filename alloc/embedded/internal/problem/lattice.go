// This file finds the lattice that utilizations lie on: two different ones differ by a step at least.

package problem

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// latticeStep returns the largest known s such that every sum of v_t N_t is a multiple of s: with D the
// least common multiple of the C_k, v_t D is whole, and s is their greatest common divisor over D. It
// is 0 where D or a product leaves int64, or where values are not sum_k d_k/C_k.
func (p *Problem) latticeStep() float64 {
	// common = lcm of the C_k. Kinds without capacity add nothing to any v_t.
	common := int64(1)
	for _, c := range p.Total {
		if c > 0 {
			// common/gcd is divided before it is multiplied: the product then overflows only where the
			// multiple itself does.
			product, ok := exact.Mul(common/gcd(common, c), c)
			if !ok {
				return 0
			}
			common = product
		}
	}
	var step int64
	for t := range p.Types {
		// value = v_t D = sum_k d_tk D/C_k, a whole number.
		var value int64
		for k, q := range p.DemandOf(int32(t)) {
			if p.Total[k] == 0 {
				continue
			}
			part, ok := exact.Mul(q, common/p.Total[k])
			if !ok {
				return 0
			}
			if value, ok = exact.Add(value, part); !ok {
				return 0
			}
		}
		// The Value of the instance may be any number, for instance a weighted one: then the lattice of the
		// demands says nothing about it. The tolerance lies far below that of utilizations, because a small
		// error for one container grows with their number.
		if math.Abs(p.Types[t].Value-float64(value)/float64(common)) > solver.ObjectiveTolerance*1e-3 {
			return 0
		}
		// s D = gcd over all t of v_t D: a sum with whole N_t cannot lie between two multiples.
		step = gcd(step, value)
	}
	return float64(step) / float64(common)
}
