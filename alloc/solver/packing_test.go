package solver

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
)

// genPacking draws up to three items for a server of up to three kinds.
func genPacking(t *rapid.T) (*packing, apportion.Resources) {
	kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
	p := new(packing)
	for range rapid.IntRange(0, 3).Draw(t, "items") {
		demand := apportion.Resources(rapid.SliceOfN(rapid.Int64Range(0, 3), kinds, kinds).Draw(t, "demand"))
		demand[0] = max(demand[0], 1)
		p.add(demand, rapid.Float64Range(-.5, 2).Draw(t, "worth"))
	}
	return p, rapid.SliceOfN(rapid.Int64Range(0, 7), kinds, kinds).Draw(t, "left")
}

// enumerate returns the most that containers of the items are worth in left, by trying all of them.
func enumerate(items []item, left apportion.Resources) float64 {
	best := 0.0
	for _, it := range items {
		if !it.demand.FitsIn(left) {
			continue
		}
		rest := left.Clone()
		for k, d := range it.demand {
			rest[k] -= d
		}
		best = math.Max(best, it.worth+enumerate(items, rest))
	}
	return best
}

// The packing is the best of all, and the bound that stands in for it is never below.
func TestPackingAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, left := genPacking(t)
		want := enumerate(p.items, left)
		before := left.Clone()
		if got := p.best(left); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v in %v: %g, want %g", p.items, left, got, want)
		}
		if !left.Equal(before) {
			t.Errorf("the room was changed from %v to %v", before, left)
		}
		if got := p.fractional(left); got < want-1e-9 {
			t.Errorf("%+v in %v: bounded by %g, %g is packed", p.items, left, got, want)
		}
		for k := range left { // another room, asked of the same packing: nothing is mixed up
			left[k]++
			if got, want := p.best(left), enumerate(p.items, left); math.Abs(got-want) > 1e-9 {
				t.Errorf("%+v in %v: %g, want %g", p.items, left, got, want)
			}
		}
	})
}

// More room is never worth less.
func TestPackingGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, left := genPacking(t)
		worth, bound := p.best(left), p.fractional(left)
		left[rapid.IntRange(0, len(left)-1).Draw(t, "kind")] += rapid.Int64Range(1, 3).Draw(t, "more")
		if p.best(left) < worth-1e-9 || p.fractional(left) < bound-1e-9 {
			t.Errorf("%g and at most %g in %v, with less room %g and %g", p.best(left), p.fractional(left), left, worth, bound)
		}
	})
}

// Of equal demands the dearest counts, and what is worth nothing is not packed.
func TestPackingAdds(t *testing.T) {
	var p packing
	for _, it := range []item{{apportion.Resources{2}, 1}, {apportion.Resources{2}, 3}, {apportion.Resources{2}, 2}, {apportion.Resources{1}, 0}, {apportion.Resources{1}, -1}} {
		p.add(it.demand, it.worth)
	}
	if len(p.items) != 1 || p.items[0].worth != 3 {
		t.Errorf("%+v, want one item of worth 3", p.items)
	}
	if got := p.best(apportion.Resources{5}); got != 6 {
		t.Errorf("two containers of worth 3 and a unit of nothing: %g", got)
	}
}

// A packing that would take too long ends, with a bound; the next one is not hurried by it. The search starts
// with none of the first item, the best one, and so ends far below what fits.
func TestPackingEnds(t *testing.T) {
	var p packing
	p.add(apportion.Resources{3, 1}, 6)
	for d := range int64(4) {
		p.add(apportion.Resources{2*d + 5, 1}, float64(2*d+5))
	}
	left := apportion.Resources{4001, 4000}
	if got := p.best(left); p.steps <= mostSteps || got != p.fractional(left) || got < 1333*6 || got > 2*4001+1e-9 {
		t.Errorf("%g after %d steps, want the bound %g", got, p.steps, p.fractional(left))
	}
	if got := p.best(apportion.Resources{8, 8}); got != 12 || p.steps > mostSteps {
		t.Errorf("twice 3 in 8, and 5 beside one is less: %g after %d steps", got, p.steps)
	}
}
