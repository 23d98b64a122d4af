// This file bounds the objective of P2 without any multipliers, [Dorm (1), (7), (10)].

package solver

import "math"

// Cap returns an upper bound on the objective of every solution of inst that needs no search: the
// number of kinds that the cluster has any of, since no kind is used beyond what there is, or the sum
// of Value times Max, since no application holds more than its maximum, whichever is less; and the largest Worth
// and the Stay of every application beside that. Certified and the bound of every
// Solution are at most the cap. O(applications + kinds + entries of Worth).
func (inst *Instance) Cap() float64 {
	inst, added := inst.Apart()
	// u_k is at most 1 for each kind (1), and a kind of which there is none adds nothing to (10).
	kinds := 0.0
	for _, total := range inst.Total {
		if total > 0 {
			kinds++
		}
	}
	// Options are counted each by itself, as if all of them could run: looser, and still a bound.
	var all, extra float64 // summed as Objective does, so that rounding cannot put it below a solution
	for i := range inst.Apps {
		all += float64(inst.Apps[i].Value * float64(inst.Apps[i].Max))
		extra += inst.Apps[i].mostExtra()
	}
	// A loss is not negative, so that its price can only lower the objective.
	return math.Min(kinds, all) + extra - added
}
