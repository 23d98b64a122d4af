// This file tests the choice of whom to free, and what one application chooses, against trying everything.

package lagrange

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// No set within the budget has a larger sum of scores than F*, and Least and Next are what exchanges cost.
func TestChooseAgainstAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gains := rapid.SliceOfN(rapid.IntRange(-3, 3), 0, 7).Draw(t, "gains")
		budget := rapid.IntRange(-1, 5).Draw(t, "budget")
		sel := Selection{Budget: int64(budget), InChosen: make([]bool, len(gains)), Often: make([]int, len(gains))}
		best, without := 0, math.MinInt
		sel.clear()
		for i, gain := range gains {
			sel.add(int32(i), float64(gain))
		}
		sel.choose()
		sum := 0
		for _, sc := range sel.Chosen {
			sum += gains[sc.App]
		}
		for set := range 1 << len(gains) {
			worth, hasLast := 0, false
			for i, gain := range gains {
				if set>>i&1 != 0 {
					worth += gain
					hasLast = hasLast || len(sel.Chosen) > 0 && sel.Chosen[len(sel.Chosen)-1].App == int32(i)
				}
			}
			if bits.OnesCount(uint(set)) <= max(0, budget) {
				best = max(best, worth)
				if !hasLast {
					without = max(without, worth)
				}
			}
		}
		if sum != best || len(sel.Chosen) > max(0, budget) {
			t.Fatalf("%v with budget %d: chosen %v, the best sum is %d", gains, budget, sel.Chosen, best)
		}
		// Leaving its last member out costs Least - Next where the budget is used up.
		if n := len(sel.Chosen); n > 0 && n == budget && float64(best-without) != sel.Least-sel.Next {
			t.Fatalf("%v with budget %d: %g and %g, leaving out the last costs %d", gains, budget, sel.Least, sel.Next, best-without)
		}
		for i := range gains {
			if sel.InChosen[i] != (sel.Often[i] == 1) {
				t.Fatalf("application %d is chosen: %v, %d times", i, sel.InChosen[i], sel.Often[i])
			}
		}
	})
}

// Counting goes over rounds until it is forgotten, and a new round unmarks the last one's choice.
func TestSelectionCounts(t *testing.T) {
	sel := Selection{Budget: 1, InChosen: make([]bool, 2), Often: make([]int, 2), Used: []float64{3}}
	for _, winner := range []int32{0, 1, 1} {
		sel.clear()
		sel.add(winner, 2)
		sel.add(1-winner, 1)
		sel.choose()
		if !sel.InChosen[winner] || sel.InChosen[1-winner] {
			t.Errorf("marked %v, want only %d", sel.InChosen, winner)
		}
	}
	if sel.Often[0] != 1 || sel.Often[1] != 2 || sel.Rounds != 3 {
		t.Errorf("%v in %d rounds", sel.Often, sel.Rounds)
	}
	if sel.Forget(); sel.Often[1] != 0 || sel.Rounds != 0 || sel.Used[0] != 0 {
		t.Errorf("after Forget: %v in %d rounds, %v used", sel.Often, sel.Rounds, sel.Used)
	}
}

// drawDual draws a dual of a tiny instance that has been evaluated at random prices.
func drawDual(t *rapid.T) (*Dual, []float64) {
	p := problem.New(instancetest.Tiny(draws(t)))
	if p.Impossible() {
		t.Skip("no prices needed")
	}
	d := NewDual(p, rapid.Bool().Draw(t, "coarse"))
	x := make([]float64, d.Dim())
	for c := range x {
		x[c] = rapid.Float64Range(0, 1).Draw(t, "price")
		if c < len(x)-1 {
			x[c] *= 0.2 // profits on either side of 0
		}
	}
	d.Evaluate(x)
	return d, x
}

// The count of a free application is the best of all within its bounds.
func TestBestCountAgainstAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, x := drawDual(t)
		for i := range d.Problem.Apps {
			a := &d.Problem.Apps[i]
			all := takeSteps(nil, allOf(d, x, a.Type), a.Max, a.Max, math.Inf(-1))
			want := math.Inf(-1)
			for n := a.Min; n <= min(a.Max, fullest(all)); n++ {
				want = math.Max(want, fill(all, n)-d.Lambda(x)*d.Problem.Loss(int32(i), n))
			}
			if got := d.Free[i]; got != want && math.Abs(got-want) > 1e-9 {
				t.Fatalf("application %d: %d containers are worth %.12g, the best count %.12g", i, d.count[i], got, want)
			}
		}
	})
}

// allOf lists what every class holds of type t.
func allOf(d *Dual, x []float64, t int32) []step {
	var heap []step
	for g := range d.Size {
		if n := d.capOf(t)[g]; n > 0 {
			heap = append(heap, step{profit: d.profit(x, t, g), class: int32(g), end: n})
		}
	}
	return heap
}
