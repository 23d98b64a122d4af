// This file implements progressive filling of a tree with divisible containers, [Bhattacharya13] §4, and of a list of
// claims, which is a tree without queues, [Ghodsi11] §4.1.

package drf

import (
	"github.com/apportion/apportion"
)

// Fill raises the weighted dominant share of all claims together, as water rises in a vessel. A
// claim i with dominant share delta[i] a container has
//
//	n[i] = clamp(level * Weight[i] / delta[i], Min[i], Max[i])
//
// containers, until a kind that it demands is used up; then it keeps what it has, and the others
// go on. Kinds of capacity zero take no part in shares, and a claim that demands one gets nothing.
// If all Min together do not fit, they are dropped (see [Filling].ShortOf).
//
// The result is exact up to the rounding of a handful of float operations: it is an exact filling of
// a cluster whose capacities differ by less than a relative 1e-12 from the given ones, for all
// weights and quantities. Precision is therefore relative to the capacity, not to the claim. Where
// two kinds are used up at nearly the same level, a claim that has less than a millionth of the
// cluster (for instance because of a weight a million times smaller than another) may be farther
// than a relative 1e-9 from what it has in rational numbers; [FillWhole] is exact. The order of the
// claims has no influence, not even on the last bit. The error is [apportion.Faults] with every
// fault of the input.
//
// The time is O(K² n) for n claims and K kinds: each claim meets at most two events, and each of
// the K kinds that may be used up looks at every claim once. The scratch is O(n).
//
// Source: [Ghodsi11] §4.1 (progressive filling), §4.3 (weights); [Parkes15] (zero demands).
func Fill(capacity apportion.Resources, claims []Claim) (*Filling[float64], error) {
	filling, err := newTree(capacity, nil).Fill(claims)
	if err != nil {
		return nil, err
	}
	return &filling.Filling, nil
}

// Fill raises the levels of a tree, as [Fill] does of a list of claims, in the order that [Tree] states; without
// queues it is the same. Every Min is given first. Where all Min below a queue do not fit its ceiling
// together, these are taken as 0, see FilledQueue.ShortOf; those of the whole cluster in Filling.ShortOf.
//
// The result is exact up to rounding, about 1e-9 of the capacity. The order of the claims has no influence.
// Level of a claim is that of its queue's claims when it stopped. The error is [apportion.Faults]: bad claims, a queue that
// does not exist (ErrUnknown) or has queues below it (ErrConflict).
//
// The time is O(n d (K + log q) + L (K d n' + K q' log q)) for n claims, q queues, K kinds, depth d and L limits that are
// reached, each of which looks at the n' claims and the q' queues below it; L is at most K for the cluster and each queue with limits, twice
// with guarantees.
//
// Source: [Bhattacharya13].
func (t *Tree) Fill(claims []Claim) (*TreeFilling[float64], error) {
	if err := t.validate(claims); err != nil {
		return nil, err
	}
	return t.fill(claims), nil
}

// fill is Fill of claims that have been checked.
func (t *Tree) fill(claims []Claim) *TreeFilling[float64] {
	f := newFluid(t, claims)
	// Claims within guarantees come first, until none is left whose next container is within any above it.
	if t.guarantees() {
		f.within = true
		f.pass()
		f.within = false
	}
	f.pass()
	return f.finish()
}

// guarantees reports whether any queue has a guarantee.
func (t *Tree) guarantees() bool {
	for at := range t.nodes {
		if !t.nodes[at].guarantee.IsZero() {
			return true
		}
	}
	return false
}

// fluid is the state of a divisible filling.
type fluid struct {
	tree   *Tree
	claims []Claim
	drops  []drop
	// vessels are those of the nodes of the tree, in their order; waters have the claims of some.
	vessels []vessel
	waters  []*vessel
	// vectors, flags and sums are what is left of those that vessels are made of.
	vectors []float64
	flags   []bool
	sums    []waterKind
	// within says that only claims within a guarantee are served.
	within bool
	out    *TreeFilling[float64]
}

func newFluid(t *Tree, claims []Claim) *fluid {
	f := &fluid{
		tree: t, claims: claims, vessels: make([]vessel, len(t.nodes)), drops: make([]drop, len(claims)),
		out: &TreeFilling[float64]{
			Filling: Filling[float64]{Claims: make([]Filled[float64], len(claims)), HaltedBy: -1},
			Queues:  make([]FilledQueue[float64], len(t.nodes)-1),
		},
	}
	below := t.below(claims)
	floors, short := t.floors(claims, below)
	f.out.ShortOf = short[0]
	kinds := len(t.capacity)
	// All vectors of one type are one allocation: of queues there may be as many as claims.
	f.vectors, f.flags, f.sums = make([]float64, 5*kinds*2*len(t.nodes)), make([]bool, 2*kinds*len(t.nodes)), make([]waterKind, kinds*len(t.nodes))
	for at := range f.vessels {
		v := &f.vessels[at]
		f.equip(v, at)
		v.full, v.spent = cut(&f.flags, kinds), cut(&f.flags, kinds)
		if len(below[at]) > 0 {
			w := &vessel{water: &water{claims: claims, drops: f.drops, list: below[at], kinds: cut(&f.sums, kinds)}}
			f.equip(w, at)
			f.waters = append(f.waters, w)
			v.adopt(w)
		}
		if up := t.nodes[at].parent; up >= 0 {
			f.vessels[up].adopt(v)
			f.out.Queues[t.nodes[at].position].ShortOf = short[at]
		}
	}
	for at := range f.vessels {
		if v := &f.vessels[at]; len(v.children) > 1 {
			v.rates = make([]exactSum, kinds)
		}
	}
	for i := range claims {
		f.enter(i, floors[i])
	}
	return f
}

func (f *fluid) equip(v *vessel, at int) {
	v.at = at
	for _, vector := range [...]*[]float64{&v.flow, &v.speed, &v.amount, &v.usedAt, &v.scale} {
		*vector = cut(&f.vectors, len(f.tree.capacity))
	}
	v.steep, v.events.byDue = 1, true
	for k, c := range f.tree.shared {
		if c > 0 { // else another kind counts in its place, or there is none of it
			v.scale[k] = 1 / (float64(c) * f.tree.nodes[at].weight)
		}
	}
}

// cut takes the next n off a list that was made for many.
func cut[T any](list *[]T, n int) []T {
	part := (*list)[:n:n]
	*list = (*list)[n:]
	return part
}

// adopt makes a vessel the last child of another.
func (v *vessel) adopt(c *vessel) {
	c.position = len(v.children)
	v.children = append(v.children, c)
}

// enter makes claim i one with n containers, or stops it where it cannot be served.
func (f *fluid) enter(i int, n int64) {
	claim, d, out := &f.claims[i], &f.drops[i], &f.out.Claims[i]
	out.ID = claim.ID
	if k := unservable(f.tree.capacity, claim.Demand); k >= 0 {
		out.StoppedBy = Stop{Cause: Unservable, Kind: k}
		return
	}
	// delta is positive: the claim demands something, and all that it demands exists.
	d.delta, _ = claim.Demand.DominantShare(f.tree.shared)
	d.pace, d.n, d.state = claim.Weight/d.delta, float64(n), waiting
}

// pass serves claims until none can be served.
func (f *fluid) pass() {
	for i := range f.drops {
		d, out := &f.drops[i], &f.out.Claims[i]
		switch {
		case d.state == stopped:
		case d.n >= float64(f.claims[i].Max):
			d.state = stopped
			out.Share, out.Level, out.StoppedBy = d.n*d.delta, d.n/d.pace, Stop{Cause: AtMax, Kind: -1}
		default:
			d.state = waiting
		}
	}
	for _, w := range f.waters {
		if f.within {
			f.putAside(w)
		}
		w.water.start(f.tree.capacity)
	}
	root := &f.vessels[0]
	for f.settle(); root.open; {
		root.riseTo(root.next.low)
		f.happen(root)
	}
}

// happen carries out what is next in a vessel, and looks at it anew. It reports whether the whole tree was.
func (f *fluid) happen(v *vessel) (settled bool) {
	switch v.next.what {
	case inChild:
		c := v.events.list[0]
		v.pause(c)
		if c.water != nil {
			c.water.pass(f.out.Claims)
		} else if f.happen(c) {
			return true
		}
		f.look(c)
		v.changed(c)
	case joining:
		v.join()
	case ceiling, guarantee:
		reached := v.full
		if v.next.what == guarantee {
			reached = v.spent
		}
		reached[v.next.kind] = true
		// A limit further up that is reached with it concerns more claims, and is what these are told.
		if v.at == 0 || f.reachedAbove(v) {
			f.settle(v)
			return true
		}
		f.settleBelow(v)
		return false
	}
	f.look(v)
	return false
}

// look finds what a vessel is for its parent, and what happens in it next. O(K).
func (f *fluid) look(v *vessel) {
	if w := v.water; w != nil {
		v.open, v.low, v.due = w.growing > 0, clock{hi: w.level}, clock{hi: w.next()}
		v.level, v.next = v.low, happening{low: v.due}
		for k := range v.flow {
			v.flow[k] = w.kinds[k].growth
		}
		return
	}
	if !v.open {
		return
	}
	level := f.measure(v)
	v.next = happening{low: v.events.least(), what: inChild}
	v.consider(v.later.least(), joining, 0)
	f.considerLimits(v, level)
	for k := range v.flow {
		v.flow[k] = v.speed[k] / v.steep
	}
	v.level = clock{hi: level}
	v.due = v.level.plus(v.next.low.since(v.low) * v.steep)
}

// consider notes what happens at low if it comes before what was considered before it.
func (v *vessel) consider(low clock, what, kind int) {
	if low.compare(v.next.low) < 0 {
		v.next = happening{low, what, kind}
	}
}

// measure returns the level of a queue; it finds its rise, and the use of each kind, for a unit of low. Only kinds that a
// claim which is served below demands count, see Tree; of kinds that are level the steepest counts from here on.
func (f *fluid) measure(v *vessel) (level float64) {
	left := true
	v.steep = 0
	for k := range v.speed {
		if v.speed[k] = v.rate(k); v.speed[k] > 0 {
			left = left && !v.spent[k]
			v.amount[k] = v.used(k)
			level = max(level, v.amount[k]*v.scale[k])
		}
	}
	for k, speed := range v.speed {
		if speed > 0 && v.amount[k]*v.scale[k] >= level*(1-fluidTolerance) {
			v.steep = max(v.steep, speed*v.scale[k])
		}
	}
	v.first = v.at > 0 && (v.priority || left)
	if v.at == 0 { // its level is looked at by none
		v.steep = 1
		return v.low.hi
	}
	return level
}

// considerLimits considers the limits of a vessel, and where another kind becomes the one that counts most.
func (f *fluid) considerLimits(v *vessel, level float64) {
	node := &f.tree.nodes[v.at]
	for k, speed := range v.speed {
		if speed == 0 {
			continue
		}
		// NoLimit is none, but the root's is the capacity, however large.
		if limit := node.ceiling[k]; !v.full[k] && (v.at == 0 || limit < NoLimit) {
			v.consider(v.reaches(k, limit), ceiling, k)
		}
		if f.within && !v.spent[k] {
			v.consider(v.reaches(k, node.guarantee[k]), guarantee, k)
		}
		if faster := float64(speed*v.scale[k]) - v.steep; v.at > 0 && faster > v.steep*fluidTolerance {
			if gap := level - float64(v.amount[k]*v.scale[k]); gap > level*fluidTolerance {
				v.consider(v.low.plus(gap/faster), nothing, 0)
			}
		}
	}
}
