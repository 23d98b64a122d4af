// This file implements branch and bound on who is freed, [Land60]: the decomposition bounds a node, the
// residual problem answers a leaf, and what the scores rule out is fixed.

package tree

import (
	"container/heap"
	"context"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// mostOpenBytes is about what the nodes that wait may take; the search ends there.
// The unit is bytes. A bound by memory instead of by nodes keeps the contract of package embedded: a node of a
// large instance takes more, so that fewer of them may wait.
const mostOpenBytes = 64 << 20

// New bounds the root with the decomposition. warm may change where the descent begins; nil: it does not.
func New(ctx context.Context, l *leaf.Leaves, tune *tuning.Numbers, warm func(x []float64)) *Tree {
	// The bound of a node is that of solver.CopyBound: each server has a copy S_j of which of its applications are
	// freed.
	ev := lagrange.NewDecomposition(l.S)
	ev.Decide(make([]problem.Choice, len(l.Problem.Apps)))
	d := lagrange.NewCopyDescent(ev)
	// warm changes the start alone: every X bounds the problem, so a bad guess costs rounds and never the
	// proof.
	if warm != nil {
		warm(d.X)
	}
	d.Start()
	t := Of(l, ev, d, tune)
	t.Each = tune.NodeRounds
	t.limitsAt = lagrange.LimitsAt(l.S)
	// The set F* is tried after each part of the rounds: an early incumbent raises the target of the step
	// rule, which without one would have to guess.
	for range tune.RootTries {
		t.Descent.Run(ctx, tune.RootRounds/tune.RootTries, t.target(), t.Cut())
		// Back returns to the best multipliers, because F* at the last ones may be that of a round that
		// overshot.
		t.Descent.Back()
		t.try()
	}
	t.setRoot()
	return t
}

// Run works until there have been so many nodes, and begins none once leaves have taken so much work, or the
// nodes that wait take mostOpenBytes. It reports whether the tree is finished.
func (t *Tree) Run(ctx context.Context, nodes, work int64) bool {
	for len(t.Open) > 0 {
		// Best first: the node with the largest bound is the one that keeps the bound of the whole tree up.
		n := heap.Pop(&t.Open).(*node)
		// The inner loop plunges: visit returns the child that frees, and its sibling waits. A plunge reaches
		// leaves, and with them incumbents, after about as many nodes as the budget has adjustments.
		for n != nil {
			// A node is pushed back when the search stops, since Bound must still count it; thrown away it
			// would make the bound too small, and so invalid.
			if ctx.Err() != nil || t.Nodes >= nodes || t.Work >= work || len(t.Open)+1 >= t.mostOpen() {
				heap.Push(&t.Open, n)
				return false
			}
			// The cut may have risen since n was pushed. A node at or below the cut holds nothing that is
			// better by more than Least and Gap leave open.
			if n.bound <= t.Cut() {
				t.drop(n.bound)
				break
			}
			// Nodes is counted before the visit, because children take it as their order, and rounds adds to
			// it.
			t.Nodes++
			n = t.visit(ctx, n)
		}
	}
	return true
}

// mostOpen returns how many nodes may wait: each has its choices and limits, and shares its multipliers with
// one other.
func (t *Tree) mostOpen() int {
	// A node that waits owns its choices (1 byte each), two limits for each kind (8 bytes each) and half of an
	// x (8 bytes a multiplier).
	const node = 256 // bytes, beside these
	return mostOpenBytes / (node + len(t.choice) + 16*t.Problem.Kinds + 4*len(t.RootX))
}

// visit works on a node, and returns the child to go on with, or nil.
func (t *Tree) visit(ctx context.Context, n *node) *node {
	// Step 1: the node's choices and the best known multipliers for it are taken over.
	t.enter(n)
	// Step 2: the bound is lowered and what the scores rule out is fixed, in turns: each fixing tightens the
	// bound, which may fix more.
	for visit := range t.tune.Visits {
		t.Descent.Run(ctx, t.rounds(n, visit), t.target(), t.Cut())
		t.Descent.Back()
		t.remember()
		// A child's bound never exceeds its parent's, as its solutions are among the parent's; the descent may
		// not have come that far.
		n.bound = min(n.bound, t.Descent.Bound)
		if n.bound <= t.Cut() {
			t.drop(n.bound)
			return nil
		}
		// F* is tried at every node, because survivors of branch and bound feed their sets to the search.
		t.try()
		// With one adjustment left there are as many leaves as candidates, and last settles all of them:
		// further nodes would each decide about one.
		if t.sel.Budget <= 1 {
			t.last(ctx)
			return nil
		}
		if t.fix() == 0 {
			break
		}
		// The best multipliers stay valid after fixing, but Decide changes the function that they bound: the
		// descent has to begin again.
		t.ev.Decide(t.choice)
		copy(t.Descent.X, t.Descent.Best)
		t.Descent.Start()
	}
	// Step 3: the node branches on the use of a scarce kind, where a unit of it explains the gap; a choice
	// about one application may leave the mean use as it is.
	if k, most := t.scarce(n); k >= 0 {
		below, above := t.part(n, k, most)
		heap.Push(&t.Open, above)
		return below
	}
	// Step 4: the node branches on an application. Without an open one it is a leaf.
	i := t.pick()
	if i < 0 {
		t.leaf(ctx, n.bound)
		return nil
	}
	// x is cloned once and shared by both children, which only read it: most of the memory of a node is its
	// multipliers.
	x := slices.Clone(t.Descent.Best)
	child := func(c problem.Choice) *node {
		choices := slices.Clone(t.choice)
		choices[i] = c
		return &node{choices: choices, limits: n.limits, x: x, bound: n.bound, order: t.Nodes}
	}
	// "Freed" is plunged into: to free takes from the budget, so that at most Budget of them lead to a leaf,
	// whereas "kept" may go as deep as there are applications.
	heap.Push(&t.Open, child(problem.Kept))
	return child(problem.Freed)
}

// rounds returns how many rounds a visit of n takes: many where the bound has to get used to a new limit, for
// which the effort counts as many nodes.
func (t *Tree) rounds(n *node, visit int) int {
	if visit > 0 || !n.limited {
		return t.Each
	}
	// Time is counted in nodes here; without this a tree with limits would take up to LimitRounds / Each times
	// as long as it was given.
	t.Nodes += int64(t.tune.LimitRounds / t.Each)
	return t.tune.LimitRounds
}

// enter takes over what n has decided, and starts where its parent ended, or at those multipliers that
// proved most at another node lately, whichever proves more here.
func (t *Tree) enter(n *node) {
	copy(t.choice, n.choices)
	t.limit(n.limits)
	t.ev.Decide(t.choice)
	// Every x bounds every node, so a start may be borrowed from anywhere. An evaluation costs about one
	// round, and a good start saves several (row "recent" of the ablation).
	x, least := n.x, t.ev.Evaluate(n.x)
	for _, other := range t.lately {
		if bound := t.ev.Evaluate(other); bound < least {
			x, least = other, bound
		}
	}
	copy(t.Descent.X, x)
	// Often belongs to one node: counts of another would branch on whom this one has already decided.
	t.sel.Forget()
	t.Descent.Start()
}

// remember keeps the multipliers of a node for others.
func (t *Tree) remember() {
	// lately fills up first, and later each node overwrites one entry in turn.
	if len(t.lately) < t.tune.Recent {
		t.lately = append(t.lately, slices.Clone(t.Descent.Best))
		return
	}
	// Recent = 0 turns this off for the ablation; a modulus by it would panic.
	if t.tune.Recent > 0 {
		copy(t.lately[t.Nodes%int64(t.tune.Recent)], t.Descent.Best)
	}
}

// fix decides what the scores leave no choice about, and returns how many that are: to free another
// one costs the worst of F* its place, to keep one of F* lets the best outside in.
func (t *Tree) fix() int {
	// The rule is reduced-cost fixing, at the multipliers that the descent ended at (Back was called).
	sel, cut := t.sel, t.Cut()
	fixed := 0
	// All is sorted by score, and its first len(Chosen) are F*: the position alone tells on which side an
	// application is.
	for at, sc := range sel.All {
		switch {
		// In F*: freed if bound - score_i + Next <= cut. Without i its place goes to the best one outside,
		// Next, which is 0 where nobody wants it.
		case at < len(sel.Chosen) && t.Descent.Bound-sc.Gain+sel.Next <= cut:
			t.choice[sc.App] = problem.Freed
			fixed++
		// Not in F*: kept if bound - Least + score_i <= cut. With i the worst of F* has to go, Least, which is
		// 0 while the budget has a place left.
		case at >= len(sel.Chosen) && t.Descent.Bound-sel.Least+sc.Gain <= cut:
			t.choice[sc.App] = problem.Kept
			fixed++
		}
	}
	return fixed
}

// pick returns the open application to branch on, or -1: the one that was in F* about half of the time.
func (t *Tree) pick() int {
	// most starts below 0: an f of 0 or 1 has merit 0, and must still be picked where there is no other.
	best, most := -1, -1.0
	for i, c := range t.choice {
		// Those that are not pinnable are free anyway: there is no choice about them.
		if c != problem.Open || !t.Problem.Apps[i].Pinnable {
			continue
		}
		// f approximates 1 - z_i of the relaxation. Rounds may be 0 where the descent had no time: then all
		// merits are 0, and the lowest index is taken.
		f := float64(t.sel.Often[i]) / float64(max(1, t.sel.Rounds))
		// f (1 - f) is largest at 1/2, where either choice changes the bound most; ties go to the lowest
		// index, so that a run can be repeated.
		if merit := f * (1 - f); merit > most {
			best, most = i, merit
		}
	}
	return best
}

// last settles a node that may free one application more: each candidate makes a leaf. Those that are
// left when ctx ends are given up.
func (t *Tree) last(ctx context.Context) {
	// base is the bound with nobody of F* freed: base = bound - the sum of the gains of F*.
	base := t.Descent.Bound
	for _, sc := range t.sel.Chosen {
		base -= sc.Gain
	}
	// The list is copied, since leaf evaluates the bound anew and overwrites sel.All.
	candidates := slices.Clone(t.sel.All)
	// A budget below 1 leaves only the leaf that frees nobody more.
	if t.sel.Budget < 1 {
		candidates = nil
	}
	// Everybody open is kept from here on: each leaf differs from that by one application at most.
	for i, c := range t.choice {
		if c == problem.Open {
			t.choice[i] = problem.Kept
		}
	}
	t.leaf(ctx, base)
	// The largest gains come first: an incumbent from them rules out the rest by base + sc.Gain <= cut without
	// work.
	for _, sc := range candidates {
		if ctx.Err() != nil {
			// The candidate's bound joins Lost: what was not settled must stay in the bound of the tree.
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
	// A few rounds at the leaf's own choices rule out many leaves; Settle costs as much as many rounds.
	if bound > t.Cut() && t.LeafRounds > 0 {
		t.ev.Decide(t.choice)
		copy(t.Descent.X, t.Descent.Best)
		t.Descent.Start()
		t.descend(ctx)
		bound = min(bound, t.Descent.Bound)
	}
	if bound > t.Cut() {
		// Settle's bound is valid even where it ran out of states. Both bounds hold, so the smaller one is
		// kept.
		bound = min(bound, t.by.Settle(ctx, func(i int32) bool { return t.choice[i] == problem.Freed }))
	}
	// A leaf settled for good has the bound -Inf, and drop leaves Lost as it is; any other bound has to enter
	// the bound of the tree.
	t.drop(bound)
}

// leafStep is how long the first step at a leaf is in parts of that at a node: from leaf to leaf the multipliers have far to go, and a
// step that is too short spends rounds on growing.
const leafStep = 100

// leafLook is after how many rounds at a leaf each its pace is looked at.
const leafLook = 5

// descend lowers the bound of a leaf until that is ruled out. It ends where the pace of the last rounds would not do in those that are left,
// as a descent gets slower.
func (t *Tree) descend(ctx context.Context) {
	begin := t.Descent.Bound
	target := begin - float64(leafStep*(begin-t.target()))
	for rounds := t.LeafRounds; rounds > 0; rounds -= leafLook {
		before := t.Descent.Bound
		t.Descent.Run(ctx, min(leafLook, rounds), target, t.Cut())
		gained, left := before-t.Descent.Bound, t.Descent.Bound-t.Cut()
		if left <= 0 || leafLook*left > float64(gained)*float64(rounds-leafLook) {
			return
		}
	}
}

// try judges F*.
func (t *Tree) try() {
	// The set is F* together with whom the node has freed. It may be no solution; Judge says so and keeps
	// nothing.
	t.by.Judge(func(a int32) bool { return t.sel.InChosen[a] || t.choice[a] == problem.Freed })
}
