// This file implements progressive filling of a tree with divisible containers, [Bhattacharya13] §4.

package drf

import (
	"math"

	"github.com/apportion/apportion"
)

// fluidTolerance is the relative distance within which two levels, or a use and its limit, count as equal: the
// rounding of some hundred additions. Where more rounding drives two levels apart, a short step brings them together.
const fluidTolerance = 0x1p-44

// Fill raises the levels of a tree, as [Fill] does of a list of claims, in the order that [Tree] states; without
// queues it gives the same. Every Min is given first. Where all Min below a queue do not fit its ceiling
// together, these are taken as 0, see FilledQueue.ShortOf; those of the whole cluster in Filling.ShortOf.
//
// The result is exact up to rounding, about 1e-9 of the capacity. The order of the claims has no influence.
// Level of a claim is its Share over its Weight. The error is [apportion.Faults]: bad claims, a queue that does not
// exist (ErrUnknown) or has queues below it (ErrConflict).
//
// The time is O(e K d (n + q)) for n claims, q queues, K kinds, depth d and e events: a claim that reaches its Max or
// another one's level, a kind that is used up, a guarantee or a ceiling that is reached.
//
// Source: [Bhattacharya13].
func (t *Tree) Fill(claims []Claim) (*TreeFilling[float64], error) {
	if err := t.validate(claims); err != nil {
		return nil, err
	}
	f := newFluid(t, claims)
	// 1. Within guarantees, until no claim is left whose next container is within any above it. 2. All others.
	for f.within = true; ; f.within = false {
		for f.survey() {
			f.step(f.nextEvent())
		}
		if !f.within {
			return f.finish(), nil
		}
	}
}

// fluid is the state of a divisible filling of a tree.
type fluid struct {
	tree   *Tree
	claims []Claim
	nodes  []fluidNode
	leaves []fluidLeaf // one for each claim
	// within says that only claims within a guarantee are served.
	within bool
	out    *TreeFilling[float64]
}

// fluidLeaf is one claim.
type fluidLeaf struct {
	n     float64 // containers
	delta float64 // dominant share of one
	pace  float64 // containers for a unit of level
	done  bool    // stopped for good
	// served says that the claim is among the least of its queue at present.
	served bool
}

// fluidNode is one queue, or the root.
type fluidNode struct {
	used []float64
	// full and spent say of each kind that the ceiling, or the guarantee, has been reached: it stays so.
	full, spent []bool
	children    []int // in nodes
	claims      []int
	current
}

// current is the direction in which a node is served at present.
type current struct {
	open   bool // somebody below may be served
	first  bool // below its guarantee
	served bool // among the least of its parent
	// low is the level of the children that are served, next the least of the others, +Inf for none.
	low, next float64
	// level is that of the node, rate its use for a unit of it, and pace the rise of low for a unit of it.
	level, pace float64
	rate        []float64
	// scale is the rise of low for a unit of the root's low.
	scale float64
}

// newFluid returns the state in which every claim has its floor.
func newFluid(t *Tree, claims []Claim) *fluid {
	f := &fluid{
		tree: t, claims: claims, nodes: make([]fluidNode, len(t.nodes)), leaves: make([]fluidLeaf, len(claims)),
		out: &TreeFilling[float64]{
			Filling: Filling[float64]{Claims: make([]Filled[float64], len(claims)), HaltedBy: -1},
			Queues:  make([]FilledQueue[float64], len(t.nodes)-1),
		},
	}
	// Floors are given before the first level rises, so that a queue with large minima begins above its siblings
	// and waits for them.
	kinds, below := len(t.capacity), t.below(claims)
	floors, short := t.floors(claims)
	f.out.ShortOf = short[0]
	for at := range f.nodes {
		n := &f.nodes[at]
		// rate keeps its storage for all events; look clears it.
		n.used, n.rate = make([]float64, kinds), make([]float64, kinds)
		n.full, n.spent = make([]bool, kinds), make([]bool, kinds)
		n.claims = below[at]
		if up := t.nodes[at].parent; up >= 0 {
			f.nodes[up].children = append(f.nodes[up].children, at)
			f.out.Queues[t.nodes[at].position].ShortOf = short[at]
		}
	}
	// Claims by ID within each node, so that sums do not depend on the order of the input.
	for at := range f.nodes {
		for _, i := range f.nodes[at].claims {
			f.enter(i, at, float64(floors[i]))
		}
	}
	f.settle()
	return f
}

// enter puts claim i below node at, with what it starts with.
func (f *fluid) enter(i, at int, n float64) {
	claim, leaf := &f.claims[i], &f.leaves[i]
	f.out.Claims[i].ID = claim.ID
	if k := unservable(f.tree.capacity, claim.Demand); k >= 0 {
		f.stop(i, Stop{Cause: Unservable, Kind: k})
		return
	}
	// delta is positive: the claim demands something, and all that it demands exists.
	leaf.delta, _ = claim.Demand.DominantShare(f.tree.capacity)
	leaf.pace = claim.Weight / leaf.delta
	// The floor counts in every node up to the root, which checks it against ceilings and guarantees at once.
	leaf.n = n
	for ; at >= 0; at = f.tree.nodes[at].parent {
		for k, q := range claim.Demand {
			f.nodes[at].used[k] += float64(n * float64(q))
		}
	}
}

// stop ends the filling of claim i.
func (f *fluid) stop(i int, why Stop) {
	f.leaves[i].done = true
	f.out.Claims[i].StoppedBy = why
}

// settle notes every limit that has been reached, and stops the claims that this concerns.
// It runs after every step, O(K (n d + q)). What it finds stays so: uses never fall during a filling.
func (f *fluid) settle() {
	// Limits first, for all nodes: a claim below two full queues must be told of the upper one.
	for at := range f.nodes {
		n, node := &f.nodes[at], &f.tree.nodes[at]
		for k, used := range n.used {
			// NoLimit is none, but the root's is the capacity, however large.
			limited := at == 0 || node.ceiling[k] < NoLimit
			n.full[k] = n.full[k] || limited && reached(used, node.ceiling[k])
			n.spent[k] = n.spent[k] || reached(used, node.guarantee[k])
		}
	}
	for at := range f.nodes {
		for _, i := range f.nodes[at].claims {
			if f.leaves[i].done {
				continue
			}
			// The number is set to Max itself: sums of later events must not carry the rounding of this one on.
			if f.leaves[i].n >= float64(f.claims[i].Max)*(1-fluidTolerance) {
				f.leaves[i].n = float64(f.claims[i].Max)
				// AtMax comes before a kind that is used up at the same level: the claim could not have had more.
				f.stop(i, Stop{Cause: AtMax, Kind: -1})
			} else if why, blocked := f.blocked(f.claims[i].Demand, at); blocked {
				f.stop(i, why)
			}
		}
	}
}

// reached reports whether a use has come to a limit, up to rounding.
func reached(used float64, limit int64) bool { return used >= float64(limit)*(1-fluidTolerance) }

// blocked returns the full kind that stops a claim below node at. The cluster comes before any queue, and a
// queue before those below it: a limit that is further up concerns more.
func (f *fluid) blocked(demand apportion.Resources, at int) (why Stop, blocked bool) {
	for ; at >= 0; at = f.tree.nodes[at].parent {
		// Downwards, so that the first of several full kinds is the one that is told.
		for k := len(demand) - 1; k >= 0; k-- {
			if demand[k] > 0 && f.nodes[at].full[k] {
				why, blocked = Stop{Cause: AtCeiling, Kind: k, Queue: f.tree.nodes[at].id}, true
			}
		}
	}
	// The last one found is the highest: the root has no name, and its ceiling is the capacity.
	if why.Queue == "" && blocked {
		why.Cause = Exhausted
	}
	return why, blocked
}

// guaranteed reports whether any guarantee above a claim below node at has something left of all that it
// demands.
// The root guarantees nothing: all its kinds are spent from the first settle on.
func (f *fluid) guaranteed(demand apportion.Resources, at int) bool {
	for ; at >= 0; at = f.tree.nodes[at].parent {
		// One kind that is spent is enough for a container not to be within the guarantee.
		left := true
		for k, q := range demand {
			left = left && (q == 0 || !f.nodes[at].spent[k])
		}
		if left {
			return true
		}
	}
	return false
}

// survey finds out who is served at present and in which direction each node moves, from the lowest nodes
// to the root, and then how fast, from the root down. It reports whether anybody is served.
func (f *fluid) survey() bool {
	// Parents come before their children in nodes, so that the way back meets children first.
	for at := len(f.nodes) - 1; at >= 0; at-- {
		f.look(at)
	}
	root := &f.nodes[0]
	root.scale = 1
	for at := range f.nodes {
		n := &f.nodes[at]
		for _, c := range n.children {
			child := &f.nodes[c]
			// Who is least below a queue that is not served itself waits as well.
			child.served = child.served && n.scale > 0
			child.scale = 0
			if child.served {
				// Rates of change are multiplied along the way down, by the chain rule.
				child.scale = n.scale * child.pace
			}
		}
	}
	return root.open
}

// look finds the least children of a node, the sum of their rates and the node's level.
func (f *fluid) look(at int) {
	n := &f.nodes[at]
	n.current = current{low: math.Inf(1), next: math.Inf(1), rate: n.rate}
	clear(n.rate)
	// The least level of those below their guarantees, or else of all.
	// A first child resets the least level: those below their guarantees are compared among themselves.
	f.eachOpen(at, func(_ *bool, level float64, first bool, _ func()) {
		n.open = true
		if first && !n.first {
			n.first, n.low = true, math.Inf(1)
		}
		if first == n.first {
			n.low = min(n.low, level)
		}
	})
	f.eachOpen(at, func(served *bool, level float64, first bool, flow func()) {
		// All that are least within rounding rise together, or the next event would lie at no distance.
		*served = first == n.first && level <= n.low*(1+fluidTolerance)
		switch {
		case *served:
			flow()
		case first == n.first:
			n.next = min(n.next, level)
		}
	})
	if n.open {
		f.rise(at)
	}
}

// eachOpen calls visit for every child of a node that may be served: whether it is (to be set), its level, whether
// it is below its guarantee, and what adds its rate to that of the node.
func (f *fluid) eachOpen(at int, visit func(served *bool, level float64, first bool, flow func())) {
	n := &f.nodes[at]
	for _, c := range n.children {
		child := &f.nodes[c]
		if child.open {
			visit(&child.served, child.level, child.first, func() {
				for k, rate := range child.rate {
					n.rate[k] += rate
				}
			})
		}
	}
	for _, i := range n.claims {
		leaf, demand := &f.leaves[i], f.claims[i].Demand
		leaf.served = false
		if leaf.done || f.within && !f.guaranteed(demand, at) {
			continue
		}
		// A claim has no guarantee of its own; what is guaranteed above it is a matter of its queues.
		visit(&leaf.served, leaf.n/leaf.pace, false, func() {
			for k, q := range demand {
				n.rate[k] += float64(leaf.pace * float64(q))
			}
		})
	}
}

// rise sets the level of a node from the kinds that its rate has, and its rate for a unit of that level.
// Its node is open: somebody below is served, so that one rate at least is positive and steep with it.
func (f *fluid) rise(at int) {
	n, node := &f.nodes[at], &f.tree.nodes[at]
	// Only kinds that somebody next in line below demands count for the level, see Tree.
	left, steep := true, 0.0
	for k, rate := range n.rate {
		if rate > 0 {
			left = left && !n.spent[k]
			n.level = max(n.level, f.part(at, k, n.used[k]))
		}
	}
	// Of kinds that are level the steepest one sets the pace: it is the one that counts from here on.
	for k, rate := range n.rate {
		if rate > 0 && f.part(at, k, n.used[k]) >= n.level*(1-fluidTolerance) {
			steep = max(steep, f.part(at, k, rate))
		}
	}
	n.first = n.first || left && node.parent >= 0
	// The root's time is the level of its children.
	if at == 0 {
		steep = 1
	}
	// rate becomes the use for a unit of the level of the node, which is what its parent adds up.
	n.pace = 1 / steep
	for k := range n.rate {
		n.rate[k] /= steep
	}
}

// part returns what an amount of kind k counts for in the level of a node.
func (f *fluid) part(at, k int, amount float64) float64 {
	return amount / float64(f.tree.capacity[k]) / f.tree.nodes[at].weight
}

// nextEvent returns how far the root's level rises until something changes.
// It is finite while anybody is served, since all that rises meets a Max or the capacity in the end.
func (f *fluid) nextEvent() float64 {
	step := math.Inf(1)
	for at := range f.nodes {
		n, node := &f.nodes[at], &f.tree.nodes[at]
		if n.scale == 0 || !n.open {
			continue
		}
		// 1. The children that are served meet another one.
		step = min(step, (n.next-n.low)/n.scale)
		steep := 0.0 // the rise of the node's level
		if at > 0 {
			steep = n.scale / n.pace
		}
		for k := range n.rate {
			rate := n.rate[k] * n.scale / n.pace
			if rate == 0 {
				continue
			}
			// 2. A kind becomes the one that counts most for the node.
			// The first summand of the gap is the level, the second the kind that is behind: it catches up at the
			// difference of their slopes. A gap that is only rounding has been closed.
			if faster := f.part(at, k, rate) - steep; at > 0 && faster > steep*fluidTolerance {
				if gap := n.level - f.part(at, k, n.used[k]); gap > n.level*fluidTolerance {
					step = min(step, gap/faster)
				}
			}
			// 3. A ceiling or a guarantee is reached.
			if !n.full[k] && (at == 0 || node.ceiling[k] < NoLimit) {
				step = min(step, (float64(node.ceiling[k])-n.used[k])/rate)
			}
			if !n.spent[k] {
				step = min(step, (float64(node.guarantee[k])-n.used[k])/rate)
			}
		}
		// 4. A claim has its Max.
		for _, i := range n.claims {
			if f.leaves[i].served {
				step = min(step, (float64(f.claims[i].Max)-f.leaves[i].n)/(f.leaves[i].pace*n.scale))
			}
		}
	}
	return step
}

// step raises the root's level, and stops whoever has come to a limit.
func (f *fluid) step(by float64) {
	for at := range f.nodes {
		n := &f.nodes[at]
		if n.scale == 0 || !n.open {
			continue
		}
		for k, rate := range n.rate {
			n.used[k] += float64(rate * n.scale / n.pace * by)
		}
		for _, i := range n.claims {
			if leaf := &f.leaves[i]; leaf.served {
				leaf.n += float64(leaf.pace * n.scale * by)
			}
		}
	}
	f.settle()
}
