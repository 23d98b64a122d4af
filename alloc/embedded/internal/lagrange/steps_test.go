// This file tests steps against a plain list of all containers, and what limits cost.

package lagrange

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawHeap draws classes with few different profits, so that ties are common; at times they are too many to look at all of them.
func drawHeap(t *rapid.T) []step {
	most := rapid.SampledFrom([]int{6, 6, 2 * fewClasses}).Draw(t, "most")
	heap := make([]step, rapid.IntRange(0, most).Draw(t, "classes"))
	for g := range heap {
		heap[g] = step{
			profit: float64(rapid.IntRange(-3, 3).Draw(t, "profit")),
			class:  int32(g),
			end:    rapid.OneOf(rapid.Int64Range(1, 4), rapid.Just(int64(math.MaxInt64))).Draw(t, "containers"),
		}
	}
	return heap
}

// Steps are a prefix of all containers sorted by profit, then class, cut off where the rule says.
func TestTakeStepsAgainstSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		heap := drawHeap(t)
		least := rapid.Int64Range(0, 8).Draw(t, "least")
		most := least + rapid.OneOf(rapid.Int64Range(0, 8), rapid.Just(math.MaxInt64-least)).Draw(t, "more")
		floor := float64(rapid.IntRange(-4, 3).Draw(t, "floor"))
		sorted := slices.Clone(heap)
		slices.SortFunc(sorted, func(a, b step) int {
			return cmp.Or(cmp.Compare(b.profit, a.profit), cmp.Compare(a.class, b.class))
		})
		steps := takeSteps(nil, heap, least, most, floor)
		var end int64
		var filled float64
		at := 0
		for ; at < len(sorted) && end < most && (sorted[at].profit > floor || end < least); at++ {
			n := min(sorted[at].end, most-end)
			end += n
			filled += float64(n) * sorted[at].profit
			if want := (step{sorted[at].profit, sorted[at].class, end, filled}); at >= len(steps) || steps[at] != want {
				t.Fatalf("steps %v, want %v at %d", steps, want, at)
			}
		}
		if len(steps) != at {
			t.Fatalf("%d steps, want %d", len(steps), at)
		}
	})
}

// Classes hold a number if their room adds up to it, however large it is.
func TestHolds(t *testing.T) {
	for _, c := range []struct {
		ends []int64
		n    int64
		want bool
	}{
		{nil, 0, true}, {nil, 1, false}, {[]int64{2}, 0, true}, {[]int64{2, 1}, 3, true}, {[]int64{2, 1}, 4, false},
		{[]int64{math.MaxInt64, math.MaxInt64}, math.MaxInt64, true}, {[]int64{math.MaxInt64 - 1}, math.MaxInt64, false},
	} {
		var heap []step
		for _, end := range c.ends {
			heap = append(heap, step{end: end})
		}
		if got := holds(heap, c.n); got != c.want {
			t.Errorf("%v hold %d: %v", c.ends, c.n, got)
		}
	}
}

// What is asked of steps is what a list with one profit for each container says.
func TestStepsAgainstContainers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := takeSteps(nil, drawHeap(t), 100, 100, 0)
		var profits []float64
		for s, start := 0, int64(0); s < len(steps); s++ {
			for ; start < steps[s].end; start++ {
				profits = append(profits, steps[s].profit)
			}
		}
		if got := fullest(steps); got != int64(len(profits)) {
			t.Fatalf("fullest = %d, want %d", got, len(profits))
		}
		least := float64(rapid.IntRange(-4, 4).Draw(t, "least")) / 2
		above := 0
		for _, profit := range profits {
			if profit > least {
				above++
			}
		}
		if got := worth(steps, least); got != int64(above) {
			t.Fatalf("worth(%g) = %d, want %d of %v", least, got, above, profits)
		}
		var sum float64
		for n := range len(profits) + 1 {
			if got := fill(steps, int64(n)); math.Abs(got-sum) > 1e-12 {
				t.Fatalf("fill(%d) = %g, want %g", n, got, sum)
			}
			if n == len(profits) {
				break
			}
			if at := stepOf(steps, int64(n+1)); steps[at].profit != profits[n] {
				t.Fatalf("stepOf(%d) = %d, of profit %g, want %g", n+1, at, steps[at].profit, profits[n])
			}
			sum += profits[n]
		}
		if got := stepOf(steps, int64(len(profits)+1)); got != len(steps) {
			t.Fatalf("stepOf one too many = %d, want %d", got, len(steps))
		}
	})
}

// A limit adds the larger of its two sides, and its slope supports that from below at any other multiplier.
func TestLimitsPrice(t *testing.T) {
	l := Limits{Lo: []int64{2}, Hi: []int64{5}}
	for _, used := range []float64{0, 2, 3.5, 5, 9} {
		for _, sigma := range []float64{-2, -0.5, 0, 0.5, 2} {
			part, slope := l.price(0, sigma, used)
			if want := math.Max(2*sigma, 5*sigma); part != want {
				t.Errorf("price(%g) = %g, want %g", sigma, part, want)
			}
			for _, other := range []float64{-1, 0, 1} {
				at, _ := l.price(0, other, used)
				if got, tangent := at-used*other, part-used*sigma+slope*(other-sigma); got < tangent-1e-12 {
					t.Errorf("used %g: at %g it is %g, the tangent from %g says %g", used, other, got, sigma, tangent)
				}
			}
		}
		if _, slope := l.price(0, 0, used); used >= 2 && used <= 5 && slope != 0 {
			t.Errorf("within the limits the slope is %g without a price", slope)
		}
	}
}
