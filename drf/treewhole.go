// This file implements progressive filling of a tree with whole containers, [Bhattacharya13].

package drf

import (
	"fmt"
	"math"

	"github.com/apportion/apportion"
)

// mostTreeContainers is how many containers [Tree.FillWhole] may be asked to hand out one by one.
const mostTreeContainers = 1 << 24

// FillWhole hands out containers one by one in the order that [Tree] states; equal levels by ID, equality decided
// exactly. Every Min is given first, as in [Tree.Fill]. A claim whose turn comes while its container is within no
// guarantee above it is set aside until nobody else is left. A claim whose container does not fit the cluster or a
// ceiling stops, and the others go on.
//
// The error is [apportion.Faults] as of Tree.Fill, and ErrRange for a capacity that could hold more than
// 2^24: use larger units.
//
// The time is O(c d (K + log n)) for c containers above Min, depth d, K kinds and n claims.
//
// Source: [Ghodsi11] Algorithm 1 for each queue; [Bhattacharya13].
func (t *Tree) FillWhole(claims []Claim) (*TreeFilling[int64], error) {
	if err := t.validate(claims); err != nil {
		return nil, err
	}
	floors, short := t.floors(claims, t.below(claims))
	if most := t.mostContainers(claims, floors); most > mostTreeContainers {
		return nil, apportion.Faults{{Field: "Capacity", Err: apportion.ErrRange, Detail: fmt.Sprintf("%.3g containers could fit", most)}}
	}
	w := newTreeWhole(t, claims, floors, short)
	w.serve(true)
	for _, client := range w.aside {
		w.activate(client, true)
	}
	w.serve(false)
	return w.finish(), nil
}

// mostContainers returns a number of containers, above their floors, that claims can not have more of together: all have
// a dominant share of at most one for each kind.
// Every container takes least or more of some kind, and there are K kinds to be used up.
func (t *Tree) mostContainers(claims []Claim, floors []int64) float64 {
	// Two bounds: what the claims want in all, none more than the cluster holds, and the number of the smallest
	// containers that fill every kind.
	least, wanted := math.Inf(1), 0.0
	for i := range claims {
		if unservable(t.capacity, claims[i].Demand) < 0 {
			delta, _ := claims[i].Demand.DominantShare(t.capacity)
			least = min(least, delta)
			wanted += min(float64(claims[i].Max), 1/delta) - min(float64(floors[i]), 1/delta)
		}
	}
	return min(wanted, float64(len(t.capacity))/least)
}

// treeWhole is the state of a whole filling of a tree.
type treeWhole struct {
	tree   *Tree
	claims []Claim
	sorter *TreeSorter
	// clients has one for each claim, aside are those that wait for the second round.
	clients []*Client
	aside   []*Client
	out     *TreeFilling[int64]
}

// newTreeWhole returns the state in which every claim has its floor, and those that may get more are in the
// order.
func newTreeWhole(t *Tree, claims []Claim, floors []int64, short []int) *treeWhole {
	w := &treeWhole{
		tree: t, claims: claims, sorter: t.NewSorter(), clients: make([]*Client, len(claims)),
		out: &TreeFilling[int64]{
			Filling: Filling[int64]{Claims: make([]Filled[int64], len(claims)), HaltedBy: -1, ShortOf: short[0]},
			Queues:  make([]FilledQueue[int64], len(t.nodes)-1),
		},
	}
	// The root stands for the cluster and has no entry among the queues.
	for at := 1; at < len(short); at++ {
		w.out.Queues[t.nodes[at].position].ShortOf = short[at]
	}
	for i := range claims {
		claim := &claims[i]
		// Clients are made without Add: the claims have been checked, and none is looked up by name.
		b := &branch{parent: &w.sorter.nodes[t.index[claim.Queue]], demand: claim.Demand}
		b.key = newClient(claim.ID, claim.Weight, make(apportion.Resources, len(t.capacity)))
		b.key.branch, b.key.claim = b, i
		w.clients[i] = &b.key
		w.out.Claims[i].ID = claim.ID
		if k := unservable(t.capacity, claim.Demand); k >= 0 {
			w.out.Claims[i].StoppedBy = Stop{Cause: Unservable, Kind: k}
			continue
		}
		b.active = floors[i] < claim.Max
		// AtMax stands until serve has stopped the claim for another reason.
		w.out.Claims[i].StoppedBy = Stop{Cause: AtMax, Kind: -1}
		w.grant(&b.key, floors[i])
	}
	return w
}

// grant books n containers that fit in the capacity, and so cannot overflow.
// n may be 0, for a claim without a floor: update then puts it into the order.
func (w *treeWhole) grant(client *Client, n int64) {
	// The sums of all queues above change with the claim, and so may their places: update repairs them from the
	// bottom up.
	w.out.Claims[client.claim].Containers += n
	for b := client.branch; b != nil; b = b.parent {
		for k, q := range client.branch.demand {
			b.key.held[k] += n * q
		}
	}
	w.sorter.update(client.branch)
}

// activate takes a client into the order or out of it.
func (w *treeWhole) activate(client *Client, active bool) {
	client.branch.active = active
	w.sorter.update(client.branch)
}

// serve hands out containers until nobody is left in the order; in the first round only such as are within a
// guarantee.
// Each turn gives a container or takes a client out of the order, so that it ends after at most
// mostTreeContainers containers and a turn more for each client.
func (w *treeWhole) serve(within bool) {
	for client := w.sorter.Next(); client != nil; client = w.sorter.Next() {
		claim, filled := &w.claims[client.claim], &w.out.Claims[client.claim]
		// Who is set aside comes back in the second round. Once no container of a claim is within a guarantee none
		// will be, as uses only grow.
		if within && !guaranteed(client) {
			w.aside = append(w.aside, client)
			w.activate(client, false)
			continue
		}
		// Room never grows again during a filling, so that a refused claim is out for good.
		if kind, queue := w.sorter.Room(client); kind >= 0 {
			filled.StoppedBy = Stop{Cause: AtCeiling, Kind: kind, Queue: queue}
			if queue == "" {
				filled.StoppedBy.Cause = Exhausted
			}
			w.activate(client, false)
			continue
		}
		// Set before grant, whose update takes a claim that has its Max out of the order.
		client.branch.active = filled.Containers+1 < claim.Max
		w.grant(client, 1)
	}
}

// guaranteed reports whether the next container of a client is within the guarantee of any queue above it.
func guaranteed(client *Client) bool {
	for b := client.branch.parent; b != nil; b = b.parent {
		if b.within(client.branch.demand) {
			return true
		}
	}
	return false
}

// finish returns the filling once nobody is left in the order.
func (w *treeWhole) finish() *TreeFilling[int64] {
	for i, client := range w.clients {
		// Shares are rounded here, once, from exact fractions.
		w.out.Claims[i].Share, _ = client.Share()
		w.out.Claims[i].Level = client.Level()
	}
	w.out.Unused = w.tree.capacity.Clone()
	for k, q := range w.sorter.nodes[0].key.held {
		w.out.Unused[k] -= q
	}
	for at := 1; at < len(w.sorter.nodes); at++ {
		b := &w.sorter.nodes[at]
		queue := &w.out.Queues[b.node.position]
		// The sorter is not used any more: its vectors become those of the answer.
		queue.ID, queue.Used = b.node.id, b.key.held
		queue.Share, _ = b.key.held.DominantShare(w.tree.capacity)
	}
	return w.out
}
