// This file relaxes limits on how much of a kind is used in all, [Geoffrion74].

package lagrange

import (
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// Limits bound by kind how much the applications use in all, lo_k <= sum_i d_ik n_i <= hi_k. The
// decomposition prices them with sigma_k of any sign: the bound gains
//
//	sum_k max(sigma_k lo_k, sigma_k hi_k)
//
// and a container of type t costs sum_k sigma_k d_tk more, of whatever application.
// In units of the kind; 0 <= Lo <= Hi. The tree narrows them when it branches on how
// much of a scarce kind is used: exact, as both halves together hold every solution.
type Limits struct{ Lo, Hi []int64 }

// NoLimits is what every solution keeps.
// Hi is the slice of the problem itself: whoever narrows limits must write into slices of his own.
func NoLimits(p *problem.Problem) Limits { return Limits{make([]int64, p.Kinds), p.Total} }

// surcharges sets into to what a container of each type costs more at multipliers sigma: utilization per
// container, and negative where a lower limit pays for use. O(types x kinds).
func surcharges(p *problem.Problem, sigma, into []float64) {
	for t := range into {
		// surcharge_t = sum_k sigma_k d_tk
		into[t] = 0
		for k, q := range p.DemandOf(int32(t)) {
			into[t] += float64(sigma[k] * float64(q))
		}
	}
}

// price returns what the limit on kind k adds to a bound at multiplier sigma when used of it is used, and
// the part of the subgradient:
//
//	(hi_k if sigma > 0, lo_k if sigma < 0) - used
//
// At sigma = 0 any right side between has the same bound; the one nearest to used makes it flat there.
func (l Limits) price(k int, sigma, used float64) (part, slope float64) {
	lo, hi := float64(l.Lo[k]), float64(l.Hi[k])
	limit := math.Min(math.Max(used, lo), hi)
	if sigma > 0 {
		limit = hi
	} else if sigma < 0 {
		limit = lo
	}
	return float64(sigma * limit), limit - used
}
