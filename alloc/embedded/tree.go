// This file implements branch and bound on who is freed, [Land60]: the decomposition bounds a node, the
// residual problem answers a leaf, and what the scores rule out is fixed.

package embedded

import (
	"container/heap"
	"context"
	"math"
	"slices"
)

const (
	// rootRounds and nodeRounds are the subgradient rounds at the root and at each other node.
	rootRounds, nodeRounds = 100, 12
	// rootTries is how often the root tries its F*, visits how often a node is bounded again after
	// applications were fixed.
	rootTries, visits = 4, 3
	// aim is the target of the step rule in parts of the incumbent.
	aim = 0.997
	// mostLately is from how many earlier nodes a node may take its first multipliers.
	mostLately = 8
	// boxesUnit is how many residual problems at leaves one unit of effort pays for.
	boxesUnit = 50
	// mostOpenBytes is about what the nodes that wait may take; the search ends there.
	mostOpenBytes = 64 << 20
)

// node leaves some choices open. Its bound is that of its parent until it is worked on.
type node struct {
	choices []choice
	limits  limits
	x       []float64 // where the parent's descent ended
	isNew   newLimit
	bound   float64
	order   int64
}

// nodes is a heap: the largest bound first, ties to the newest.
type nodes []*node

func (h nodes) Len() int { return len(h) }
func (h nodes) Less(a, b int) bool {
	if h[a].bound != h[b].bound {
		return h[a].bound > h[b].bound
	}
	return h[a].order > h[b].order
}
func (h nodes) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h *nodes) Push(n any)   { *h = append(*h, n.(*node)) }
func (h *nodes) Pop() any {
	old := *h
	n := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return n
}

// bounder is the bound that a tree uses: it depends on multipliers and on the choices of a node.
type bounder interface {
	oracle
	decide(choices []choice)
	state() *selection
}

// tree is one search for the best set of free applications.
type tree struct {
	*answers
	by  answerer
	ev  bounder
	sel *selection // of ev
	d   *descent
	// each is how many rounds a node takes, leafRounds a leaf before it is settled.
	each, leafRounds int
	open             nodes
	// rootX and rootBound are the multipliers of the root and what they prove.
	rootX     []float64
	rootBound float64
	// cold is where a descent begins that knows nothing, lately where those of the last nodes ended.
	cold   []float64
	lately [][]float64
	// proven is a bound on the whole tree, from the root or from an earlier search.
	proven float64
	// lost is the largest bound of what was given up without a proof that it is no better.
	lost float64
	// limiting: nodes limit the use of kinds; limitsAt is where the multipliers of limits start, -1
	// where the bound has none.
	limiting bool
	limitsAt int
	nodes    int64
	choice   []choice // of the node worked on
}

// newTree bounds the root with the decomposition. warm may change where the descent begins; nil: it does not.
func newTree(ctx context.Context, l *leaves, warm func(x []float64)) *tree {
	ev := newEval(l.s)
	ev.decide(make([]choice, len(l.p.apps)))
	d := newSplitDescent(ev)
	cold := slices.Clone(d.x)
	if warm != nil {
		warm(d.x)
	}
	d.start()
	t := newTreeOf(l, ev, d)
	t.limitsAt, t.cold = limitsAt(l.s), cold
	for range rootTries {
		t.d.run(ctx, rootRounds/rootTries, t.target(), t.cut())
		t.d.back()
		t.try()
	}
	t.plant()
	return t
}

// newTreeOf makes a tree of what d has come to, which is about ev.
func newTreeOf(by answerer, ev bounder, d *descent) *tree {
	t := &tree{answers: by.known(), by: by, ev: ev, sel: ev.state(), d: d, each: nodeRounds, lost: math.Inf(-1), limitsAt: -1}
	t.choice = make([]choice, len(t.p.apps))
	t.plant()
	return t
}

// plant makes the root of what the descent has come to.
func (t *tree) plant() {
	t.rootX, t.rootBound, t.proven = slices.Clone(t.d.best), t.d.bound, t.d.bound
	t.open = nodes{{choices: slices.Clone(t.choice), limits: noLimits(t.p), x: t.rootX, bound: t.d.bound}}
}

// target is what the step rule aims at.
func (t *tree) target() float64 {
	switch {
	case t.found:
		return aim * t.value
	case t.d.bound > 0:
		return blindTarget * t.d.bound
	}
	return t.d.bound - 1
}

// bound returns the bound on the whole tree.
func (t *tree) bound() float64 {
	bound := math.Max(t.value, t.lost)
	if len(t.open) > 0 {
		bound = math.Max(bound, t.open[0].bound)
	}
	return math.Min(bound, t.proven)
}

// drop notes that something with that bound is not looked at any more.
func (t *tree) drop(bound float64) {
	if !t.found || bound > t.value+t.least() {
		t.lost = math.Max(t.lost, bound)
	}
}

// run works until there have been so many nodes, and begins none once leaves have taken so much work, or the
// nodes that wait take mostOpenBytes. It reports whether the tree is finished.
func (t *tree) run(ctx context.Context, nodes, work int64) bool {
	for len(t.open) > 0 {
		n := heap.Pop(&t.open).(*node)
		for n != nil {
			if ctx.Err() != nil || t.nodes >= nodes || t.work >= work || len(t.open)+1 >= t.mostOpen() {
				heap.Push(&t.open, n)
				return false
			}
			if n.bound <= t.cut() {
				t.drop(n.bound)
				break
			}
			t.nodes++
			n = t.visit(ctx, n)
		}
	}
	return true
}

// mostOpen returns how many nodes may wait: each has its choices and limits, and shares its multipliers with
// one other.
func (t *tree) mostOpen() int {
	const node = 256 // bytes, beside these
	return mostOpenBytes / (node + len(t.choice) + 16*t.p.kinds + 4*len(t.rootX))
}

// visit works on a node, and returns the child to go on with, or nil.
func (t *tree) visit(ctx context.Context, n *node) *node {
	t.enter(n)
	for range visits {
		if n.isNew != none {
			t.settleLimits(ctx, n)
		}
		t.d.run(ctx, t.each, t.target(), t.cut())
		t.d.back()
		t.remember()
		n.bound = math.Min(n.bound, t.d.bound)
		if n.bound <= t.cut() {
			t.drop(n.bound)
			return nil
		}
		t.try()
		if t.sel.budget <= 1 {
			t.last(ctx)
			return nil
		}
		if t.fix() == 0 {
			break
		}
		t.ev.decide(t.choice)
		t.d.bound = t.d.back()
	}
	if k, most := t.scarce(n); k >= 0 {
		below, above := t.part(n, k, most)
		heap.Push(&t.open, above)
		return below
	}
	i := t.pick()
	if i < 0 {
		t.leaf(ctx, n.bound)
		return nil
	}
	x := slices.Clone(t.d.best)
	child := func(c choice) *node {
		choices := slices.Clone(t.choice)
		choices[i] = c
		return &node{choices: choices, limits: n.limits, x: x, bound: n.bound, order: t.nodes}
	}
	heap.Push(&t.open, child(kept))
	return child(freed)
}

// enter takes over what n has decided, and starts where its parent ended, or at those multipliers that
// proved most at another node lately, whichever proves more here.
func (t *tree) enter(n *node) {
	copy(t.choice, n.choices)
	t.limit(n.limits)
	t.ev.decide(t.choice)
	x, least := n.x, t.ev.evaluate(n.x)
	for _, other := range t.lately {
		if bound := t.ev.evaluate(other); bound < least {
			x, least = other, bound
		}
	}
	copy(t.d.x, x)
	t.sel.forget()
	t.d.start()
}

// remember keeps the multipliers of a node for others.
func (t *tree) remember() {
	if len(t.lately) < mostLately {
		t.lately = append(t.lately, slices.Clone(t.d.best))
		return
	}
	copy(t.lately[t.nodes%mostLately], t.d.best)
}

// fix decides what the scores leave no choice about, and returns how many that are: to free another
// one costs the worst of F* its place, to keep one of F* lets the best outside in.
func (t *tree) fix() int {
	sel, cut := t.sel, t.cut()
	fixed := 0
	for at, sc := range sel.all {
		switch {
		case at < len(sel.chosen) && t.d.bound-sc.gain+sel.next <= cut:
			t.choice[sc.app] = freed
			fixed++
		case at >= len(sel.chosen) && t.d.bound-sel.least+sc.gain <= cut:
			t.choice[sc.app] = kept
			fixed++
		}
	}
	return fixed
}

// pick returns the open application to branch on, or -1: the one that was in F* about half of the time.
func (t *tree) pick() int {
	best, most := -1, -1.0
	for i, c := range t.choice {
		if c != open || !t.p.apps[i].keepable {
			continue
		}
		f := float64(t.sel.often[i]) / float64(max(1, t.sel.rounds))
		if merit := f * (1 - f); merit > most {
			best, most = i, merit
		}
	}
	return best
}

// last settles a node that may free one application more: each candidate makes a leaf. Those that are
// left when ctx ends are given up.
func (t *tree) last(ctx context.Context) {
	base := t.d.bound
	for _, sc := range t.sel.chosen {
		base -= sc.gain
	}
	candidates := slices.Clone(t.sel.all)
	if t.sel.budget < 1 {
		candidates = nil
	}
	for i, c := range t.choice {
		if c == open {
			t.choice[i] = kept
		}
	}
	t.leaf(ctx, base)
	for _, sc := range candidates {
		if ctx.Err() != nil {
			t.drop(base + sc.gain)
			continue
		}
		t.choice[sc.app] = freed
		t.leaf(ctx, base+sc.gain)
		t.choice[sc.app] = kept
	}
}

// leaf settles the leaf that frees whom the choices do; bound may rule it out, and so may the
// multipliers, which start where those of the last node or leaf ended.
func (t *tree) leaf(ctx context.Context, bound float64) {
	if bound > t.cut() && t.leafRounds > 0 {
		t.ev.decide(t.choice)
		copy(t.d.x, t.d.best)
		t.d.start()
		t.d.run(ctx, t.leafRounds, t.target(), t.cut())
		bound = math.Min(bound, t.d.bound)
	}
	if bound > t.cut() {
		bound = math.Min(bound, t.by.settle(ctx, func(i int32) bool { return t.choice[i] == freed }))
	}
	t.drop(bound)
}

// try judges F*.
func (t *tree) try() {
	t.by.judge(func(a int32) bool { return t.sel.inChosen[a] || t.choice[a] == freed })
}
