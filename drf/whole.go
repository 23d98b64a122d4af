// This file implements progressive filling with whole containers: of a tree, [Bhattacharya13], and of a list of claims,
// which is a tree without queues, [Ghodsi11] Algorithm 1.

package drf

import (
	"fmt"
	"math"

	"github.com/apportion/apportion"
)

// WholeOptions are the choices of [FillWhole]; nil means all zero.
type WholeOptions struct {
	// StopAtFirst ends the whole filling at the first container that does not fit, as printed in
	// [Ghodsi11] Algorithm 1. False: only the claim that it is for stops, and the others go on,
	// which leaves less unused and is what schedulers do.
	StopAtFirst bool
}

// FillWhole hands out containers one by one, each to the claim with the least weighted dominant
// share so far; equal ones by ID, equality decided exactly.
//
// Every claim first gets its Min containers, all of them at once. If all Min together do not fit,
// they are dropped (see [Filling].ShortOf). A claim at Max leaves the order. Kinds of capacity
// zero take no part in shares, and a claim that demands one gets nothing. The order of the claims
// has no influence. The error is [apportion.Faults] with every fault of the input.
//
// The time is O(K n + c (K + log n)) for n claims, K kinds and c containers handed out above Min.
// Where c is many times n, containers are taken in bulk up to just before the next refusal, so that
// c counts only about leapEvery n containers, and one leap, for each claim that is refused one. The
// time does not depend on how many containers fit, nor on how much larger one is than another.
//
// Source: [Ghodsi11] Algorithm 1; weights §4.3.
func FillWhole(capacity apportion.Resources, claims []Claim, options *WholeOptions) (*Filling[int64], error) {
	t := newTree(capacity, nil)
	if err := t.validate(claims); err != nil {
		return nil, err
	}
	w := newWhole(t, claims)
	w.stopAtFirst = options != nil && options.StopAtFirst
	return &w.fill().Filling, nil
}

// mostTreeContainers is how many containers [Tree.FillWhole] may be asked to hand out one by one.
const mostTreeContainers = 1 << 24

// FillWhole hands out containers one by one in the order that [Tree] states; equal levels by ID, equality decided
// exactly. Every Min is given first, as in [Tree.Fill]. A claim whose turn comes while its container is within no
// guarantee above it is set aside until nobody else is left. A claim whose container does not fit the cluster or a
// ceiling stops, and the others go on. Without queues it is [FillWhole].
//
// The error is [apportion.Faults] as of Tree.Fill, and ErrRange for queues and a capacity that could hold more than
// 2^24: use larger units.
//
// The time is O(c d (K + log n)) for c containers above Min, depth d, K kinds and n claims.
//
// Source: [Ghodsi11] Algorithm 1 for each queue; [Bhattacharya13].
func (t *Tree) FillWhole(claims []Claim) (*TreeFilling[int64], error) {
	if err := t.validate(claims); err != nil {
		return nil, err
	}
	w := newWhole(t, claims)
	if most := w.most(); len(t.nodes) > 1 && most > mostTreeContainers {
		return nil, apportion.Faults{{Field: "Capacity", Err: apportion.ErrRange, Detail: fmt.Sprintf("%.3g containers could fit", most)}}
	}
	return w.fill(), nil
}

// whole is the state of a whole filling. Its sorter has the claims that may get more in its order.
type whole struct {
	tree   *Tree
	claims []Claim
	sorter *Sorter
	// clients has one for each claim, aside are those that wait for the second round.
	clients     []Client
	aside       []*Client
	stopAtFirst bool
	unit        []unit              // one container of each claim; nil with queues
	room        apportion.Resources // scratch of leap
	single      int                 // containers handed out since the last leap
	out         *TreeFilling[int64]
}

// newWhole returns the state in which every claim has its floor, and those that may get more are in the
// order. All clients and what they hold live in two allocations, as a filling may have a hundred thousand claims.
func newWhole(t *Tree, claims []Claim) *whole {
	kinds := len(t.capacity)
	w := &whole{
		tree: t, claims: claims, sorter: t.NewSorter(), clients: make([]Client, len(claims)), room: make(apportion.Resources, kinds),
		out: &TreeFilling[int64]{
			Filling: Filling[int64]{Claims: make([]Filled[int64], len(claims)), HaltedBy: -1},
			Queues:  make([]FilledQueue[int64], len(t.nodes)-1),
		},
	}
	floors, short := t.floors(claims, t.below(claims))
	w.out.ShortOf = short[0]
	for at := 1; at < len(short); at++ {
		w.out.Queues[t.nodes[at].position].ShortOf = short[at]
	}
	if len(t.nodes) == 1 {
		w.unit = make([]unit, len(claims))
		w.sorter.groups[0].rest.list = make([]entry, 0, len(claims)+root)
	}
	held := make(apportion.Resources, len(claims)*kinds)
	for i := range claims {
		w.enter(i, held[i*kinds:(i+1)*kinds], floors[i])
	}
	return w
}

// enter makes the client of claim i, which gets floor containers. Add is not called: the claims have been checked, and none
// is looked up by name.
func (w *whole) enter(i int, held apportion.Resources, floor int64) {
	claim, client, capacity := &w.claims[i], &w.clients[i], w.tree.capacity
	*client = newClient(claim.ID, claim.Weight, held)
	client.parent, client.demand, client.claim = &w.sorter.groups[w.tree.index[claim.Queue]], claim.Demand, i
	client.owner = w.sorter
	client.parent.enlist(client)
	w.out.Claims[i].ID = claim.ID
	if k := unservable(capacity, claim.Demand); k >= 0 {
		w.out.Claims[i].StoppedBy = Stop{Cause: Unservable, Kind: k}
		return
	}
	// AtMax stands until serve has stopped the claim for another reason.
	w.out.Claims[i].StoppedBy = Stop{Cause: AtMax, Kind: -1}
	if w.unit != nil {
		// The dominant kind of a claim never changes while all its containers are alike.
		_, k := claim.Demand.DominantShare(w.tree.shared)
		w.unit[i] = newUnit(claim.Demand[k], capacity[k], claim.Weight)
	}
	w.grant(client, floor)
}

// most returns a number of containers that claims can not have more of together, above their floors.
// Two bounds: what the claims want in all, none more than the cluster holds, and the number of the smallest
// containers that fill every kind.
func (w *whole) most() float64 {
	least, wanted := math.Inf(1), 0.0
	for i := range w.claims {
		claim := &w.claims[i]
		if unservable(w.tree.capacity, claim.Demand) < 0 {
			delta, _ := claim.Demand.DominantShare(w.tree.shared)
			least = min(least, delta)
			wanted += min(float64(claim.Max), 1/delta) - min(float64(w.out.Claims[i].Containers), 1/delta)
		}
	}
	return min(wanted, float64(len(w.tree.capacity))/least)
}

// fill hands out containers until no claim is left in the order.
func (w *whole) fill() *TreeFilling[int64] {
	if w.tree.guarantees() {
		w.serve(true)
		for _, client := range w.aside {
			w.sorter.activate(client, true)
		}
	}
	w.serve(false)
	return w.finish()
}

// serve hands out containers until no client is left in the order; in the first round only such as are within a
// guarantee. Each turn gives a container or takes a client out of the order.
func (w *whole) serve(within bool) {
	for client := w.next(); client != nil; client = w.next() {
		// Once no container of a claim is within a guarantee none will be, as uses only grow.
		if within && !guaranteed(client) {
			w.aside = append(w.aside, client)
			w.sorter.activate(client, false)
			continue
		}
		kind, queue := w.sorter.Room(client)
		switch {
		case kind < 0:
			w.grant(client, 1)
			continue
		case queue == "":
			w.stop(client, Stop{Cause: Exhausted, Kind: kind})
		default:
			w.stop(client, Stop{Cause: AtCeiling, Kind: kind, Queue: queue})
		}
		if w.stopAtFirst {
			w.out.HaltedBy = client.claim
			for client := w.sorter.Next(); client != nil; client = w.sorter.Next() {
				w.stop(client, Stop{Cause: Halted, Kind: kind})
			}
		}
	}
}

// next returns the client that is due, nil at the end, after a leap if there are no queues and many containers were handed
// out one by one. Turns that end in a refusal count as well.
func (w *whole) next() *Client {
	w.single++
	if n := w.sorter.groups[0].rest.size(); w.unit != nil && n > 0 && w.single > leapEvery*(n+1) {
		w.single = 0
		w.leap()
	}
	return w.sorter.Next()
}

// guaranteed reports whether the next container of a client is within the guarantee of any queue above it.
func guaranteed(client *Client) bool {
	for g := client.parent; g != nil; g = g.key.parent {
		if g.within(client.demand) {
			return true
		}
	}
	return false
}

// grant books n containers, and puts the client where it belongs.
func (w *whole) grant(client *Client, n int64) {
	w.book(client, n)
	w.sorter.update(client)
}

// book books n containers that fit in the capacity, and so cannot overflow. A client with Max is not active any more.
func (w *whole) book(client *Client, n int64) {
	out := &w.out.Claims[client.claim]
	out.Containers += n
	client.active = out.Containers < w.claims[client.claim].Max
	for k, q := range client.demand {
		client.held[k] += n * q
	}
	for g := client.parent; g != nil; g = g.key.parent {
		for k, q := range client.demand {
			g.key.held[k] += n * q
		}
	}
}

// stop takes a claim out of the order: room never grows again during a filling.
func (w *whole) stop(client *Client, why Stop) {
	w.sorter.activate(client, false)
	w.out.Claims[client.claim].StoppedBy = why
}

// finish returns the filling once no client is left in the order. Shares are rounded here, once, from exact fractions.
func (w *whole) finish() *TreeFilling[int64] {
	for i := range w.clients {
		w.out.Claims[i].Share, _ = w.clients[i].Share()
		w.out.Claims[i].Level = w.clients[i].Level()
	}
	w.out.Unused = w.tree.capacity.Clone()
	for k, q := range w.sorter.groups[0].key.held {
		w.out.Unused[k] -= q
	}
	for at := 1; at < len(w.sorter.groups); at++ {
		g := &w.sorter.groups[at]
		queue := &w.out.Queues[g.node.position]
		// The sorter is not used any more: its vectors become those of the answer.
		queue.ID, queue.Used = g.key.id, g.key.held
		queue.Share, _ = g.key.held.DominantShare(w.tree.shared)
	}
	return w.out
}
