// This file implements what both bounds know of (16): the best gains that the adjustment budget pays for, as
// the linear relaxation of the knapsack problem has it, [Dorm (16)].

package solver

import (
	"cmp"
	"math"
	"slices"
)

// knapsack is the adjustment budget, and what those that may be adjusted gain by it.
type knapsack struct {
	budget int64
	items  []gain
}

// gain is what adjusting one application brings, and what it costs.
type gain struct {
	gain float64
	cost int64
}

// must charges an application that has to be adjusted in every solution. The budget goes no further below 0 than -1, which
// says all: more has to be adjusted than is paid for.
func (k *knapsack) must(cost int64) { k.budget -= min(cost, addSaturated(k.budget, 1)) }

// add adds an application that may be adjusted. One that gains nothing by it is left out, since nobody pays for that.
func (k *knapsack) add(g float64, cost int64) {
	if g > 0 {
		k.items = append(k.items, gain{g, cost})
	}
}

// best returns an upper bound on the gain within the budget, exact where all costs are equal; -Inf where the
// budget does not even pay for those that must be adjusted.
func (k *knapsack) best() float64 {
	if k.budget < 0 {
		return math.Inf(-1)
	}
	// What costs more than there is no solution pays for, not even in part.
	k.items = slices.DeleteFunc(k.items, func(item gain) bool { return item.cost > k.budget })
	// The dearest gain for its cost comes first; what costs nothing is always taken. Of equals the cheaper
	// one comes first, so that the order of the applications does not matter.
	slices.SortFunc(k.items, func(a, b gain) int {
		if order := cmp.Compare(b.gain*float64(a.cost), a.gain*float64(b.cost)); order != 0 {
			return order
		}
		return int(max(-1, min(1, a.cost-b.cost)))
	})
	// With one cost for all, the paper's case, the budget is a number of applications, and whole ones are the optimum.
	equal := true
	for _, item := range k.items {
		equal = equal && item.cost == k.items[0].cost
	}
	sum, left := 0.0, k.budget
	for _, item := range k.items {
		if item.cost > left {
			// A part of the next one bounds what any other choice can bring; of equal costs no part
			// can be had.
			if !equal {
				sum += float64(item.gain * (float64(left) / float64(item.cost)))
			}
			break
		}
		sum += item.gain
		left -= item.cost
	}
	return sum
}
