// This file draws tiny instances together with their cells.

package cellstest

import (
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// skipper is the part of a test that splittable needs.
// Both rapid.T and testing.T have these methods, so that properties and plain tests share one draw.
type skipper interface {
	Skip(args ...any)
	Fatal(args ...any)
}

// Draw draws a tiny instance and its split, or skips what Impossible already decides.
// A skip costs the property one of its draws, so that the instances are those of Tiny, a part of which
// it decides.
func Draw(t skipper, draw instancetest.Drawer) (*solver.Instance, *pattern.Cells) {
	inst := instancetest.Tiny(draw)
	// Order matters: pattern.New relies on what Impossible has ruled out, that each minimum fits and sums do not
	// overflow.
	p := problem.New(inst)
	if p.Impossible() {
		t.Skip("nothing to split")
	}
	s := pattern.New(p, pattern.MostPatterns)
	// Tiny servers have few patterns. A nil is a bug in the lists, which a skip would hide.
	if s == nil {
		t.Fatal("too large for patterns")
	}
	return inst, s
}
