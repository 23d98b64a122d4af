// This file tests branching on how much of a kind is used.

package tree

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/cellstest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
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

// A limit moves its multiplier where it is narrower than what there is, on either side, and holds it where it is not.
func TestLimitMoves(t *testing.T) {
	tree := rooted(t, "scarce")
	p := tree.Problem
	for k, total := range p.Total {
		for name, c := range map[string]struct {
			lo, hi int64
			moves  bool
		}{"none": {0, total, false}, "from above": {0, total - 1, true}, "from below": {1, total, true}} {
			l := lagrange.Limits{Lo: make([]int64, p.Kinds), Hi: slices.Clone(p.Total)}
			l.Lo[k], l.Hi[k] = c.lo, c.hi
			tree.limit(l)
			for other := range p.Total {
				want := 0.0
				if other == k && c.moves {
					want = tree.tune.SurchargeScale / float64(total)
				}
				if got := tree.Descent.Scale[tree.limitsAt+other]; got != want {
					t.Errorf("kind %d limited %s: kind %d moves by %g, want %g", k, name, other, got, want)
				}
			}
			if tree.sel.Limits.Lo[k] != c.lo || tree.sel.Limits.Hi[k] != c.hi {
				t.Errorf("kind %d limited %s: the bound sees %v", k, name, tree.sel.Limits)
			}
		}
	}
	tree.limitsAt = -1
	before := tree.sel.Limits
	if tree.limit(lagrange.Limits{}); !slices.Equal(tree.sel.Limits.Hi, before.Hi) {
		t.Error("a bound without limits has taken some")
	}
}

// The tree branches on the kind of which a unit is worth most, among those that are used by parts of a unit within the
// limits of the node, and only where a unit is a good part of the gap.
func TestScarce(t *testing.T) {
	tree := rooted(t, "scarce")
	p := tree.Problem
	gpus := 1 // of 5
	if p.Total[gpus] != 5 || p.Unit[gpus] != 1 {
		t.Fatalf("%v of units %v: nothing is tested", p.Total, p.Unit)
	}
	for k := range p.Total {
		if k != gpus && float64(p.Unit[k])/float64(p.Total[k]) >= 0.2 {
			t.Fatalf("kind %d is as scarce as GPUs", k)
		}
	}
	gap := 0.01
	tree.Found, tree.Value, tree.sel.Rounds = true, tree.Descent.Bound-gap, 10
	tree.limiting = true
	node := tree.Open[0]
	use := func(mean float64) {
		clear(tree.sel.Used)
		tree.sel.Used[gpus] = 10 * mean
	}
	for name, c := range map[string]struct {
		mean float64
		lo   int64
		hi   int64
		kind int
		most int64
	}{
		"a part of one":               {3.5, 0, 5, gpus, 3},
		"a small part":                {3.2, 0, 5, gpus, 3},
		"nearly whole from above":     {3.05, 0, 5, -1, 0},
		"nearly whole from below":     {2.95, 0, 5, -1, 0},
		"the parts are within":        {3.5, 3, 4, gpus, 3},
		"the lower one is not within": {3.5, 4, 5, -1, 0},
		"the upper one is not within": {3.5, 0, 3, -1, 0},
	} {
		limits := lagrange.Limits{Lo: make([]int64, p.Kinds), Hi: slices.Clone(p.Total)}
		limits.Lo[gpus], limits.Hi[gpus] = c.lo, c.hi
		node.limits = limits
		use(c.mean)
		if kind, most := tree.scarce(node); kind != c.kind || kind >= 0 && most != c.most {
			t.Errorf("%s: kind %d, at most %d; want %d, at most %d", name, kind, most, c.kind, c.most)
		}
	}
	node.limits = lagrange.NoLimits(p)
	use(3.5)
	// A unit is a fifth of a kind: worth looking at while LeastUnit of the gap is at most that.
	for name, c := range map[string]struct {
		value float64
		kind  int
	}{"just": {tree.Descent.Bound - 0.2/tree.tune.LeastUnit + 1e-6, gpus}, "just not": {tree.Descent.Bound - 0.2/tree.tune.LeastUnit - 1e-6, -1}} {
		tree.Value = c.value
		if kind, _ := tree.scarce(node); kind != c.kind {
			t.Errorf("%s worth limiting: kind %d, want %d", name, kind, c.kind)
		}
	}
	tree.Value, tree.limiting = tree.Descent.Bound-gap, false
	if kind, _ := tree.scarce(node); kind != -1 {
		t.Errorf("without limits kind %d", kind)
	}
	if !tree.TurnsOnUnit() {
		t.Error("a gap of 0.01 does not turn on a fifth of the GPUs")
	}
	tree.Value, tree.proven = 0, 1e6
	tree.Open = nodes{{bound: 1e6}}
	if tree.TurnsOnUnit() {
		t.Error("a gap of 1e6 turns on a unit")
	}
}

// The parts of a node differ in their limit and in where its multiplier starts, and share nothing that is written to.
func TestPartsShareNothing(t *testing.T) {
	tree := rooted(t, "scarce")
	n := tree.Open[0]
	below, above := tree.part(n, 1, 3)
	at := tree.limitsAt + 1
	if want := tree.tune.Surcharge / 5; below.x[at] != want || above.x[at] != -want {
		t.Errorf("multipliers start at %g and %g, want %g and %g", below.x[at], above.x[at], want, -want)
	}
	if !below.limited || !above.limited || below.bound != n.bound || above.bound != n.bound {
		t.Errorf("parts %+v and %+v", below, above)
	}
	below.choices[0], below.limits.Lo[0], below.x[0] = problem.Kept, 7, 77
	if above.choices[0] == problem.Kept || above.limits.Lo[0] == 7 || above.x[0] == 77 || n.limits.Lo[0] == 7 || tree.RootX[0] == 77 {
		t.Error("what one part is given the other has too")
	}
}
