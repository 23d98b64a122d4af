package solver

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The bound is no less than what any set within the budget gains, just that where all costs are equal, and never
// more than one part of an item above it.
func TestKnapsack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int64{5, math.MaxInt64 / 2}).Draw(t, "most")
		k := knapsack{budget: rapid.Int64Range(0, 2*most).Draw(t, "budget")}
		equal, largest := rapid.Bool().Draw(t, "equal costs"), 0.0
		var items []gain
		for range rapid.IntRange(0, 6).Draw(t, "items") {
			item := gain{float64(rapid.IntRange(-4, 9).Draw(t, "gain")), rapid.Int64Range(0, most).Draw(t, "cost")}
			if equal {
				item.cost = 2
			}
			items = append(items, item)
			largest = math.Max(largest, item.gain)
			k.add(item.gain, item.cost)
		}
		best := 0.0
		for set := range 1 << len(items) {
			sum, cost := 0.0, int64(0)
			for i, item := range items {
				if set>>i&1 == 1 {
					sum, cost = sum+item.gain, addSaturated(cost, item.cost)
				}
			}
			if cost <= k.budget {
				best = math.Max(best, sum)
			}
		}
		if got := k.best(); got < best-1e-9 || got > best+largest+1e-9 || equal && got != best {
			t.Errorf("%+v within %d: bound %g, the best set gains %g", items, k.budget, got, best)
		}
	})
}

// Those that must be adjusted come first: what they leave is the budget of the others, and where they take too much
// there is no solution.
func TestKnapsackMust(t *testing.T) {
	for _, c := range []struct {
		budget int64
		must   []int64
		want   float64
	}{
		{3, nil, 7}, {3, []int64{1}, 5}, {3, []int64{1, 2}, 0}, {3, []int64{2, 2}, math.Inf(-1)}, {3, []int64{math.MaxInt64}, math.Inf(-1)},
		{3, []int64{math.MaxInt64, math.MaxInt64}, math.Inf(-1)}, {math.MaxInt64, []int64{math.MaxInt64}, 0}, {-1, nil, math.Inf(-1)},
	} {
		k := knapsack{budget: c.budget}
		for _, cost := range c.must {
			k.must(cost)
		}
		k.add(4, 2)
		k.add(3, 1)
		if got := k.best(); got != c.want {
			t.Errorf("%d less %v: %g, want %g", c.budget, c.must, got, c.want)
		}
	}
}

// What no budget pays for gains nothing, not even in part: who is dearer than the whole budget stays.
func TestKnapsackDearer(t *testing.T) {
	k := knapsack{budget: 1}
	k.add(4, 2)
	k.add(1, 3)
	if got := k.best(); got != 0 {
		t.Errorf("a budget of 1 gains %g by an adjustment that costs 2", got)
	}
}
