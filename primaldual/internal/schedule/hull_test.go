// This file tests hulls against their definition.

package schedule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A hull is convex, touches the table at its corners, and lies nowhere above it.
func TestHullProperty(t *testing.T) {
	job := ratio{2, 5}
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t, 20)
		nu := float64(rapid.IntRange(0, 3).Draw(t, "nu"))
		shifted := slices.Clone(table)
		for y := range shifted {
			shifted[y] -= nu * float64(job.PSFor(int64(y)))
		}
		var h hulls
		h.reset()
		h.add(table, job, nu)
		hull := h.of(0)
		if hull[0] != (vertex{0, 0}) || hull[len(hull)-1] != (vertex{len(table) - 1, shifted[len(table)-1]}) {
			t.Fatalf("hull %v of %v", hull, shifted)
		}
		for i := 1; i < len(hull); i++ {
			if i > 1 && slope(hull[i-2], hull[i-1]) >= slope(hull[i-1], hull[i]) {
				t.Fatalf("hull %v of %v is not convex", hull, shifted)
			}
			for y := hull[i-1].workers; y <= hull[i].workers; y++ {
				line := hull[i-1].cost + slope(hull[i-1], hull[i])*float64(y-hull[i-1].workers)
				if line > shifted[y]+1e-9 || y == hull[i].workers && hull[i].cost != shifted[y] {
					t.Fatalf("hull %v of %v is %g at %d", hull, shifted, line, y)
				}
			}
		}
	})
}
