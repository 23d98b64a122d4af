// This file tests the relaxation against a sort of all edges.

package schedule

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The relaxation, slot by slot, costs what the cheapest edges of all hulls so far cost when sorted.
func TestRelaxationProperty(t *testing.T) {
	job := ratio{1, 1}
	rapid.Check(t, func(t *rapid.T) {
		work := rapid.IntRange(1, 30).Draw(t, "work")
		var h hulls
		var x relaxation
		var edges []stretch
		h.reset()
		x.reset()
		for slot := range rapid.IntRange(1, 8).Draw(t, "slots") {
			h.add(drawTable(t, 9), job, 0)
			hull := h.of(slot)
			for i := 1; i < len(hull); i++ {
				edges = append(edges, stretch{slope(hull[i-1], hull[i]), hull[i].workers - hull[i-1].workers})
			}
			x.add(hull, work)
			got, lambda, ok := x.bound(work)
			slices.SortFunc(edges, func(a, b stretch) int { return cmp.Compare(a.slope, b.slope) })
			left, want, last := work, 0.0, 0.0
			for _, e := range edges {
				if n := min(left, e.width); n > 0 {
					want, left, last = want+e.slope*float64(n), left-n, e.slope
				}
			}
			if ok != (left == 0) || ok && (math.Abs(got-want) > 1e-9 || lambda != last) {
				t.Fatalf("bound %g, lambda %g, %v, want %g, %g, %d left", got, lambda, ok, want, last, left)
			}
		}
	})
}
