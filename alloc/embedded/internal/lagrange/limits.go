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
func NoLimits(p *problem.Problem) Limits { return Limits{make([]int64, p.Kinds), p.Total} }

// setSurcharges sets the surcharges of the types at multipliers sigma.
// A surcharge is utilization per container, and may be negative: a lower limit pays
// for use. It also forgets the containers of the last evaluation, which respectLimits
// counts.
func (ev *Decomposition) setSurcharges(sigma []float64) {
	clear(ev.total)
	for t := range ev.surcharge {
		// surcharge_t = sum_k sigma_k d_tk
		ev.surcharge[t] = 0
		for k, q := range ev.s.Problem.DemandOf(int32(t)) {
			ev.surcharge[t] += float64(sigma[k] * float64(q))
		}
	}
}

// respectLimits adds the limits' part to the bound, and sets that of the subgradient.
// It must come after the applications: the subgradient in sigma_k is
//
//	(hi_k if sigma_k > 0, lo_k if sigma_k < 0) - sum_t d_tk N_t
func (ev *Decomposition) respectLimits(sigma, slope []float64) {
	p := ev.s.Problem
	for k := range p.Kinds {
		var used float64
		for t, n := range ev.total {
			used += float64(float64(p.DemandOf(int32(t))[k]) * float64(n))
		}
		// Over the rounds this mean tells the tree near which use to branch.
		ev.Used[k] += used
		lo, hi := float64(ev.Limits.Lo[k]), float64(ev.Limits.Hi[k])
		limit := math.Min(math.Max(used, lo), hi) // at sigma = 0 any between has the same bound
		if sigma[k] > 0 {
			limit = hi
		} else if sigma[k] < 0 {
			limit = lo
		}
		ev.bound += float64(sigma[k] * limit)
		slope[k] = limit - used
	}
}
