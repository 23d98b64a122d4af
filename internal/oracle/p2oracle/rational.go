// This file computes utilizations in rational numbers, [Dorm] (10).

package p2oracle

import (
	"math/big"

	"github.com/apportion/apportion/alloc/solver"
)

// Most returns the greatest utilization of all solutions of inst, or nil where there is none.
// Instances must be of the paper's program: worths, prices and options are left out of the sum.
func Most(inst *solver.Instance) *big.Rat {
	// No tolerance takes part: two utilizations that differ in the thirtieth digit differ.
	var most *big.Rat
	walkOver(inst, func(counts solver.Counts) {
		if u := Utilization(inst, counts); most == nil || u.Cmp(most) > 0 {
			most = u
		}
	})
	return most
}

// Utilization returns (10) of counts: sum_i n_i sum_k d_ik / C_k, over kinds of which the cluster has some.
// It is computed from the demands, so that rounding in App.Value is seen too.
func Utilization(inst *solver.Instance, counts solver.Counts) *big.Rat {
	sum := new(big.Rat)
	for i, app := range inst.Apps {
		n := big.NewRat(solver.Containers(counts[i]), 1)
		for k, d := range app.Demand {
			// A kind that no server has takes no part, as in the instance's own values.
			if inst.Total[k] > 0 {
				sum.Add(sum, new(big.Rat).Mul(n, big.NewRat(d, inst.Total[k])))
			}
		}
	}
	return sum
}
