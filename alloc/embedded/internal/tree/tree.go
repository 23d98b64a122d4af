// This file implements branch and bound on who is freed, [Land60]: the decomposition bounds a node, the
// residual problem answers a leaf, and what the scores rule out is fixed.

package tree

import (
	"container/heap"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// mostOpenBytes is about what the nodes that wait may take; the search ends there.
const mostOpenBytes = 64 << 20

// bounder is the bound that a tree uses: it depends on multipliers and on the choices of a node.
type bounder interface {
	lagrange.Oracle
	Decide(choices []problem.Choice)
	State() *lagrange.Selection
}

// Tree is one search for the best set of free applications.
type Tree struct {
	*leaf.Answers
	by      leaf.Answerer
	ev      bounder
	sel     *lagrange.Selection // of ev
	Descent *lagrange.Descent
	tune    *tuning.Numbers
	// Each is how many rounds a node takes, LeafRounds a leaf before it is settled.
	Each, LeafRounds int
	Open             nodes
	// RootX and RootBound are the multipliers of the root and what they prove.
	RootX     []float64
	RootBound float64
	// lately is where the descents of the last nodes ended.
	lately [][]float64
	// proven is a bound on the whole tree, from the root or from an earlier search.
	proven float64
	// Lost is the largest bound of what was given up without a proof that it is no better.
	Lost float64
	// limiting: nodes limit the use of kinds; LimitsAt is where the multipliers of limits start, -1
	// where the bound has none.
	limiting bool
	limitsAt int
	Nodes    int64
	choice   []problem.Choice // of the node worked on
}

// New bounds the root with the decomposition. warm may change where the descent begins; nil: it does not.
func New(ctx context.Context, l *leaf.Leaves, tune *tuning.Numbers, warm func(x []float64)) *Tree {
	ev := lagrange.NewDecomposition(l.S)
	ev.Decide(make([]problem.Choice, len(l.Problem.Apps)))
	d := lagrange.NewCopyDescent(ev)
	if warm != nil {
		warm(d.X)
	}
	d.Start()
	t := Of(l, ev, d, tune)
	t.Each = tune.NodeRounds
	t.limitsAt = lagrange.LimitsAt(l.S)
	for range tune.RootTries {
		t.Descent.Run(ctx, tune.RootRounds/tune.RootTries, t.target(), t.Cut())
		t.Descent.Back()
		t.try()
	}
	t.setRoot()
	return t
}

// Of makes a tree of what d has come to, which is about ev, the prices by server.
func Of(by leaf.Answerer, ev bounder, d *lagrange.Descent, tune *tuning.Numbers) *Tree {
	t := &Tree{Answers: by.Known(), by: by, ev: ev, sel: ev.State(), Descent: d, tune: tune, Each: tune.PriceRounds, Lost: math.Inf(-1), limitsAt: -1}
	t.choice = make([]problem.Choice, len(t.Problem.Apps))
	t.setRoot()
	return t
}

// setRoot makes the root of what the descent has come to.
func (t *Tree) setRoot() {
	t.RootX, t.RootBound, t.proven = slices.Clone(t.Descent.Best), t.Descent.Bound, t.Descent.Bound
	t.Open = nodes{{choices: slices.Clone(t.choice), limits: lagrange.NoLimits(t.Problem), x: t.RootX, bound: t.Descent.Bound}}
}

// target is what the step rule aims at.
func (t *Tree) target() float64 {
	switch {
	case t.Found:
		return t.tune.Aim * t.Value
	case t.Descent.Bound > 0:
		return lagrange.BlindTarget * t.Descent.Bound
	}
	return t.Descent.Bound - 1
}

// Bound returns the bound on the whole tree.
func (t *Tree) Bound() float64 {
	bound := math.Max(t.Value, t.Lost)
	if len(t.Open) > 0 {
		bound = math.Max(bound, t.Open[0].bound)
	}
	return math.Min(bound, t.proven)
}

// drop notes that something with that bound is not looked at any more.
func (t *Tree) drop(bound float64) {
	if !t.Found || bound > t.Value+t.Least() {
		t.Lost = math.Max(t.Lost, bound)
	}
}

// Run works until there have been so many nodes, and begins none once leaves have taken so much work, or the
// nodes that wait take mostOpenBytes. It reports whether the tree is finished.
func (t *Tree) Run(ctx context.Context, nodes, work int64) bool {
	for len(t.Open) > 0 {
		n := heap.Pop(&t.Open).(*node)
		for n != nil {
			if ctx.Err() != nil || t.Nodes >= nodes || t.Work >= work || len(t.Open)+1 >= t.mostOpen() {
				heap.Push(&t.Open, n)
				return false
			}
			if n.bound <= t.Cut() {
				t.drop(n.bound)
				break
			}
			t.Nodes++
			n = t.visit(ctx, n)
		}
	}
	return true
}

// mostOpen returns how many nodes may wait: each has its choices and limits, and shares its multipliers with
// one other.
func (t *Tree) mostOpen() int {
	const node = 256 // bytes, beside these
	return mostOpenBytes / (node + len(t.choice) + 16*t.Problem.Kinds + 4*len(t.RootX))
}

// visit works on a node, and returns the child to go on with, or nil.
func (t *Tree) visit(ctx context.Context, n *node) *node {
	t.enter(n)
	for visit := range t.tune.Visits {
		t.Descent.Run(ctx, t.rounds(n, visit), t.target(), t.Cut())
		t.Descent.Back()
		t.remember()
		n.bound = math.Min(n.bound, t.Descent.Bound)
		if n.bound <= t.Cut() {
			t.drop(n.bound)
			return nil
		}
		t.try()
		if t.sel.Budget <= 1 {
			t.last(ctx)
			return nil
		}
		if t.fix() == 0 {
			break
		}
		t.ev.Decide(t.choice)
		copy(t.Descent.X, t.Descent.Best)
		t.Descent.Start()
	}
	if k, most := t.scarce(n); k >= 0 {
		below, above := t.part(n, k, most)
		heap.Push(&t.Open, above)
		return below
	}
	i := t.pick()
	if i < 0 {
		t.leaf(ctx, n.bound)
		return nil
	}
	x := slices.Clone(t.Descent.Best)
	child := func(c problem.Choice) *node {
		choices := slices.Clone(t.choice)
		choices[i] = c
		return &node{choices: choices, limits: n.limits, x: x, bound: n.bound, order: t.Nodes}
	}
	heap.Push(&t.Open, child(problem.Kept))
	return child(problem.Freed)
}

// rounds returns how many rounds a visit of n takes: many where the bound has to get used to a new limit, for
// which the effort counts as many nodes.
func (t *Tree) rounds(n *node, visit int) int {
	if visit > 0 || !n.limited {
		return t.Each
	}
	t.Nodes += int64(t.tune.LimitRounds / t.Each)
	return t.tune.LimitRounds
}

// enter takes over what n has decided, and starts where its parent ended, or at those multipliers that
// proved most at another node lately, whichever proves more here.
func (t *Tree) enter(n *node) {
	copy(t.choice, n.choices)
	t.limit(n.limits)
	t.ev.Decide(t.choice)
	x, least := n.x, t.ev.Evaluate(n.x)
	for _, other := range t.lately {
		if bound := t.ev.Evaluate(other); bound < least {
			x, least = other, bound
		}
	}
	copy(t.Descent.X, x)
	t.sel.Forget()
	t.Descent.Start()
}

// remember keeps the multipliers of a node for others.
func (t *Tree) remember() {
	if len(t.lately) < t.tune.Recent {
		t.lately = append(t.lately, slices.Clone(t.Descent.Best))
		return
	}
	if t.tune.Recent > 0 {
		copy(t.lately[t.Nodes%int64(t.tune.Recent)], t.Descent.Best)
	}
}

// fix decides what the scores leave no choice about, and returns how many that are: to free another
// one costs the worst of F* its place, to keep one of F* lets the best outside in.
func (t *Tree) fix() int {
	sel, cut := t.sel, t.Cut()
	fixed := 0
	for at, sc := range sel.All {
		switch {
		case at < len(sel.Chosen) && t.Descent.Bound-sc.Gain+sel.Next <= cut:
			t.choice[sc.App] = problem.Freed
			fixed++
		case at >= len(sel.Chosen) && t.Descent.Bound-sel.Least+sc.Gain <= cut:
			t.choice[sc.App] = problem.Kept
			fixed++
		}
	}
	return fixed
}

// pick returns the open application to branch on, or -1: the one that was in F* about half of the time.
func (t *Tree) pick() int {
	best, most := -1, -1.0
	for i, c := range t.choice {
		if c != problem.Open || !t.Problem.Apps[i].Pinnable {
			continue
		}
		f := float64(t.sel.Often[i]) / float64(max(1, t.sel.Rounds))
		if merit := f * (1 - f); merit > most {
			best, most = i, merit
		}
	}
	return best
}

// last settles a node that may free one application more: each candidate makes a leaf. Those that are
// left when ctx ends are given up.
func (t *Tree) last(ctx context.Context) {
	base := t.Descent.Bound
	for _, sc := range t.sel.Chosen {
		base -= sc.Gain
	}
	candidates := slices.Clone(t.sel.All)
	if t.sel.Budget < 1 {
		candidates = nil
	}
	for i, c := range t.choice {
		if c == problem.Open {
			t.choice[i] = problem.Kept
		}
	}
	t.leaf(ctx, base)
	for _, sc := range candidates {
		if ctx.Err() != nil {
			t.drop(base + sc.Gain)
			continue
		}
		t.choice[sc.App] = problem.Freed
		t.leaf(ctx, base+sc.Gain)
		t.choice[sc.App] = problem.Kept
	}
}

// leaf settles the leaf that frees whom the choices do; bound may rule it out, and so may the
// multipliers, which start where those of the last node or leaf ended.
func (t *Tree) leaf(ctx context.Context, bound float64) {
	if bound > t.Cut() && t.LeafRounds > 0 {
		t.ev.Decide(t.choice)
		copy(t.Descent.X, t.Descent.Best)
		t.Descent.Start()
		t.Descent.Run(ctx, t.LeafRounds, t.target(), t.Cut())
		bound = math.Min(bound, t.Descent.Bound)
	}
	if bound > t.Cut() {
		bound = math.Min(bound, t.by.Settle(ctx, func(i int32) bool { return t.choice[i] == problem.Freed }))
	}
	t.drop(bound)
}

// try judges F*.
func (t *Tree) try() {
	t.by.Judge(func(a int32) bool { return t.sel.InChosen[a] || t.choice[a] == problem.Freed })
}
