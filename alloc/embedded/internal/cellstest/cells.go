// This file draws tiny instances together with their cells.

package cellstest

import (
	"github.com/apportion/apportion/alloc/embedded/internal/counting"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// skipper is the part of a test that splittable needs.
type skipper interface {
	Skip(args ...any)
	Fatal(args ...any)
}

// Draw draws a tiny instance and its split, or skips what counting already decides.
func Draw(t skipper, draw instancetest.Drawer) (*solver.Instance, *pattern.Cells) {
	inst := instancetest.Tiny(draw)
	p := problem.New(inst)
	if counting.Conflict(p) != nil {
		t.Skip("nothing to split")
	}
	s := pattern.New(p, pattern.MostPatterns)
	if s == nil {
		t.Fatal("too large for patterns")
	}
	return inst, s
}
