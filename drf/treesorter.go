// This file implements TreeSorter, the order of clients of a tree, kept up to date while resources come
// and go, [Bhattacharya13].

package drf

import (
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// TreeSorter keeps the clients of a tree in the order in which they are due to be served, as [Tree] states it: from
// the root down, the child below its guarantee first, then the least level, then the ID. Every comparison is
// exact.
//
// Next takes constant time; Allocate, Release, Skip and the setters of one client take O(d (K + log c)) for depth d, K
// kinds and c children of a queue, and allocate no memory. Ceilings are not looked at here: what has run must be
// booked whatever they say. Ask Room before a container is started. On an error nothing changes.
//
// Next, Compare, All, Room, Lookup, Len, Snapshot, Balances and the methods of Client only read: several goroutines may
// call them at once while none calls another method. All other methods need the TreeSorter alone.
type TreeSorter struct {
	roster
	tree  *Tree
	nodes []branch // as in tree
}

// branch is a queue or a client: a child in the order of its parent.
// A queue has a key like a client's, so that one heap orders both by the same comparison. Its held is
// what all below it hold.
type branch struct {
	key    Client // what the parent sorts it by; the handle itself, for a client
	parent *branch
	// first are the children below their guarantees, rest the others: those that have somebody to serve.
	first, rest queue
	below       bool    // in first of the parent, if in its order
	head        *Client // who is next below it, nil for nobody
	// Of a client: what its next container demands, and whether it is active.
	demand apportion.Resources
	active bool
	node   *treeNode // nil for a client
}

// isClient reports whether the branch is no queue.
func (b *branch) isClient() bool { return b.node == nil }

// NewSorter returns a sorter without clients for the tree. The tree is kept, and not changed.
func (t *Tree) NewSorter() *TreeSorter {
	s := &TreeSorter{
		roster: roster{total: t.capacity.Clone(), kinds: make(apportion.Kinds, len(t.capacity)), clients: make(map[string]*Client)},
		tree:   t, nodes: make([]branch, len(t.nodes)),
	}
	// Kinds have no names here; errors call them by their numbers.
	for k := range s.kinds {
		s.kinds[k] = strconv.Itoa(k)
	}
	// Parents come first in the tree, so that a pointer to the parent can be taken: the list is not moved any
	// more.
	for at := range s.nodes {
		node, b := &t.nodes[at], &s.nodes[at]
		b.node = node
		b.key = newClient(node.id, node.weight, make(apportion.Resources, len(t.capacity)))
		b.key.branch = b
		if node.parent >= 0 {
			b.parent = &s.nodes[node.parent]
		}
	}
	return s
}

// Add adds an active client that holds nothing to a queue that has no queues below it, or to none (""). demand is
// what its next container needs. The error is [apportion.Faults]: an empty or repeated ID, a queue that does not exist (ErrUnknown) or has
// queues (ErrConflict), a weight outside [MinWeight, MaxWeight], a demand of nothing or of the wrong length.
func (s *TreeSorter) Add(id, queue string, weight float64, demand apportion.Resources) (*Client, error) {
	var faults apportion.Faults
	item := clientItem(id)
	if s.clients[id] != nil {
		faults.Add(item, "ID", apportion.ErrDuplicate, strconv.Quote(id))
	}
	// The checks are those of a claim of this queue, so that sorter and filling refuse the same.
	claim := Claim{ID: id, Queue: queue, Weight: weight, Demand: demand}
	s.tree.check(&faults, []Claim{claim}, "client")
	if err := faults.Err(); err != nil {
		return nil, err
	}
	b := &branch{parent: &s.nodes[s.tree.index[queue]], demand: demand.Clone(), active: true}
	// The key of the branch is the client itself: its place is that in the queue of the parent.
	b.key = newClient(id, weight, make(apportion.Resources, len(s.total)))
	b.key.branch = b
	s.clients[id] = &b.key
	s.update(b)
	return &b.key, nil
}

// update brings a branch and all above it into order, once the branch itself or what it holds has changed.
// O(d (K + log c)).
// It must follow every change of what a branch holds, demands or weighs; until then Next may be wrong.
func (s *TreeSorter) update(b *branch) {
	// One branch after the other on the way up: each may change its level, its list and who is next below it, and
	// all that its parent needs to know is in the branch.
	for ; b.parent != nil; b = b.parent {
		below := b.rate(s.total)
		b.settle(below)
	}
	b.head = b.top()
}

// rate finds anew who is next below a branch, and its level. It reports whether the branch is below its
// guarantee.
// It looks at the children's lists only, which update or SetTotal has brought into order before.
func (b *branch) rate(total apportion.Resources) (below bool) {
	if b.isClient() {
		// A client is next below itself, unless it is out of the order.
		b.head = nil
		if b.active && !b.key.skipped {
			b.head = &b.key
		}
		b.key.rate(total, nil)
		return false
	}
	b.head = b.top()
	if b.head == nil {
		return false
	}
	// The level counts only kinds that the next container demands, see Tree: it changes with whoever is next.
	demand := b.head.branch.demand
	b.key.rate(total, demand)
	// A queue is below its guarantee with any queue below it that is.
	return len(b.first) > 0 || b.within(demand)
}

// top returns who is next among the children of a queue, nil for nobody.
func (b *branch) top() *Client {
	switch {
	// Those below their guarantees come before all others, whatever their levels.
	case len(b.first) > 0:
		return b.first[0].client.branch.head
	case len(b.rest) > 0:
		return b.rest[0].client.branch.head
	default:
		return nil
	}
}

// within reports whether a container of demand is within the guarantee of a queue.
// What is held may be above the guarantee, and the difference negative: then nothing that is demanded
// fits.
func (b *branch) within(demand apportion.Resources) bool {
	for k, q := range demand {
		// No overflow: what is left of the guarantee is compared, not a sum.
		if q > 0 && q > b.node.guarantee[k]-b.key.held[k] {
			return false
		}
	}
	return true
}

// settle puts a branch where it belongs in the order of its parent.
// It needs the new level in b.key and the new head, which rate has set. A queue that loses its last
// active client leaves the order of its parent, and comes back with the next one.
func (b *branch) settle(below bool) {
	// A branch with nobody to serve is in neither list.
	from, to := &b.parent.rest, &b.parent.rest
	if b.below {
		from = &b.parent.first
	}
	if below {
		to = &b.parent.first
	}
	if b.head == nil || from != to {
		from.remove(&b.key)
	}
	b.below = below
	switch {
	case b.head == nil:
	case b.key.place < 0:
		to.push(&b.key)
	default:
		to.fix(&b.key)
	}
}

// Next returns the client that is due to be served, nil where nobody is.
func (s *TreeSorter) Next() *Client { return s.nodes[0].head }

// Allocate adds r to what a client and all queues above it hold. The error is an [*apportion.FieldError]
// (ErrUnknown, ErrOverflow) or [apportion.Faults] (ErrLength, ErrNegative).
func (s *TreeSorter) Allocate(client *Client, r apportion.Resources) error {
	if err := s.checkCall(client, r); err != nil {
		return err
	}
	// The root holds the most of all: where its sum fits, every sum below it does.
	if err := exact.AddTo(s.nodes[0].key.held, s.nodes[0].key.held, r); err != nil {
		return s.overflow(client, r, err)
	}
	// AddTo has booked it at the root.
	for b := client.branch; b.parent != nil; b = b.parent {
		for k, q := range r {
			b.key.held[k] += q
		}
	}
	s.update(client.branch)
	return nil
}

// Release takes r off what a client and all queues above it hold, and brings back all who are skipped. The
// error is an [*apportion.FieldError] (ErrUnknown, ErrNotHeld) or [apportion.Faults] (ErrLength, ErrNegative).
// A release of nothing brings them back too: a caller may use it to say that something else has
// changed.
func (s *TreeSorter) Release(client *Client, r apportion.Resources) error {
	if err := s.checkRelease(client, r); err != nil {
		return err
	}
	for b := client.branch; b != nil; b = b.parent {
		for k, q := range r {
			b.key.held[k] -= q
		}
	}
	s.update(client.branch)
	s.wake()
	return nil
}

// Room returns whether one more container of a client's demand fits: the first kind that lacks, -1 for none, and
// the ID of the queue whose ceiling it is, empty for the cluster. The cluster comes before the queues, and a
// queue before those below it. O(d K).
// More may be held than a limit allows, and then there is no room; neither is negative, so that the
// difference is exact.
func (s *TreeSorter) Room(client *Client) (kind int, queue string) {
	// From the client up, and kinds from the last to the first: what is found last is what is told, the cluster
	// before queues and the first kind before others.
	kind = -1
	for b := client.branch.parent; b != nil; b = b.parent {
		limit := b.node.ceiling
		if b.parent == nil {
			limit = s.total
		}
		for k := len(limit) - 1; k >= 0; k-- {
			q := client.branch.demand[k]
			if q > 0 && (limit[k] < NoLimit || b.parent == nil) && q > limit[k]-b.key.held[k] {
				kind, queue = k, b.key.id
			}
		}
	}
	return kind, queue
}

// Remove takes a client out for good. A client that still holds resources is not removed (ErrHolding). The
// error is an [*apportion.FieldError].
// Its queue is brought into order first, while the branch still has its place there.
func (s *TreeSorter) Remove(client *Client) error {
	if err := s.checkRemove(client); err != nil {
		return err
	}
	s.forget(client)
	client.branch.active = false
	s.update(client.branch)
	delete(s.clients, client.id)
	return nil
}

// SetActive takes a client into the order or out of it; it keeps what it holds. The error is
// [*apportion.FieldError], ErrUnknown.
// A client that was skipped is so no more, whichever way it is set.
func (s *TreeSorter) SetActive(client *Client, active bool) error {
	if err := s.own(client); err != nil {
		return err
	}
	s.forget(client)
	client.branch.active = active
	s.update(client.branch)
	return nil
}

// SetDemand changes what the next container of a client needs. The error is [*apportion.FieldError] (ErrUnknown,
// ErrNoDemand) or [apportion.Faults] (ErrLength, ErrNegative).
// The levels of all queues above may change with it, as they count only the kinds that are demanded
// next.
func (s *TreeSorter) SetDemand(client *Client, demand apportion.Resources) error {
	if err := s.checkCall(client, demand); err != nil {
		return err
	}
	if demand.IsZero() {
		return &apportion.FieldError{Item: clientItem(client.id), Field: "Demand", Err: apportion.ErrNoDemand}
	}
	copy(client.branch.demand, demand)
	s.forget(client)
	s.update(client.branch)
	return nil
}

// SetWeight changes the weight of a client. The error is [*apportion.FieldError] with ErrUnknown, or
// [apportion.Faults] for a weight outside [MinWeight, MaxWeight].
func (s *TreeSorter) SetWeight(client *Client, weight float64) error {
	if err := s.reweigh(client, weight); err != nil {
		return err
	}
	s.update(client.branch)
	return nil
}

// SetTotal changes what the cluster has, orders everything anew and brings back all who are skipped, in O(K n). A total
// below what is allocated is legal. The error is [apportion.Faults]: a wrong length, or a negative quantity.
// Guarantees and ceilings of queues stay what they are; only the limit of the whole cluster moves.
func (s *TreeSorter) SetTotal(total apportion.Resources) error {
	if err := s.checkTotal(total); err != nil {
		return err
	}
	copy(s.total, total)
	// Levels of all clients first, in any order: each only moves within its queue.
	for _, client := range s.clients {
		client.branch.settle(client.branch.rate(s.total))
	}
	// Children come after their parents in nodes.
	for at := len(s.nodes) - 1; at > 0; at-- {
		b := &s.nodes[at]
		b.settle(b.rate(s.total))
	}
	s.nodes[0].head = s.nodes[0].top()
	s.wake()
	return nil
}

// Skip takes a client out of the order until something changes that may help it: the next Release by anybody,
// SetTotal, or SetActive or SetDemand of this client. The error is [*apportion.FieldError], ErrUnknown.
func (s *TreeSorter) Skip(client *Client) error {
	if err := s.own(client); err != nil {
		return err
	}
	// Who is not in the order cannot be skipped, and is not brought back by a release.
	if client.place >= 0 {
		s.skip(client)
		s.update(client.branch)
	}
	return nil
}

// wake brings back all clients that are skipped.
// O(d (K + log c)) for each of them, so that a release pays for all that were skipped before it.
func (s *TreeSorter) wake() {
	for _, client := range s.skipped {
		client.skipped = false
		s.update(client.branch)
	}
	s.skipped = s.skipped[:0]
}
