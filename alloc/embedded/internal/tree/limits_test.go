// This file tests branching on how much of a kind is used.

package tree

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/cellstest"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// The two parts of a node leave out no whole use, and nothing is in both.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s := cellstest.Draw(t, draws(t))
		l := leaf.NewLeaves(s)
		tree := New(t.Context(), l, tuning.Standard(), nil)
		k := rapid.IntRange(0, s.Problem.Kinds-1).Draw(t, "kind")
		if s.Problem.Unit[k] == 0 || s.Problem.Total[k] < s.Problem.Unit[k] {
			t.Skip("nobody uses the kind")
		}
		most := rapid.Int64Range(0, s.Problem.Total[k]/s.Problem.Unit[k]-1).Draw(t, "most") * s.Problem.Unit[k]
		below, above := tree.part(tree.Open[0], k, most)
		for used := int64(0); used <= s.Problem.Total[k]; used += s.Problem.Unit[k] {
			in := 0
			for _, n := range []*node{below, above} {
				if n.limits.Lo[k] <= used && used <= n.limits.Hi[k] {
					in++
				}
			}
			if in != 1 {
				t.Fatalf("use %d lies in %d parts: at most %v, at least %v", used, in, below.limits, above.limits)
			}
		}
	})
}

// A tree that begins again has its root back, and no bound is lost.
func TestBeginLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s := cellstest.Draw(t, draws(t))
		tree := New(t.Context(), leaf.NewLeaves(s), tuning.Standard(), nil)
		tree.Run(t.Context(), rapid.Int64Range(0, 4).Draw(t, "nodes"), math.MaxInt64)
		before := tree.Bound()
		tree.BeginLimits()
		root := tree.Open[0]
		if len(tree.Open) != 1 || root.bound != tree.RootBound || slices.ContainsFunc(root.choices, func(c problem.Choice) bool { return c != problem.Open }) {
			t.Fatalf("%d nodes, the first with bound %g and choices %v", len(tree.Open), root.bound, root.choices)
		}
		if after := tree.Bound(); after != before {
			t.Fatalf("bound %g, was %g", after, before)
		}
	})
}
