// This file implements Sorter, the order of clients by weighted dominant share, kept up to date
// while resources come and go, [Ghodsi11] Algorithm 1, [Bhattacharya13].

package drf

import (
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// Sorter keeps the clients of a tree in the order in which they are due to be served, as [Tree] states it: from
// the root down, the child below its guarantee first, then the least level, then the ID. In a cluster without queues that
// is the least weighted dominant share first, equal ones by ID. Every comparison is exact.
//
// A scheduler asks Next for the client to serve, starts a container for that client and reports it with Allocate. Next takes
// constant time; Allocate, Release, Skip and the setters of one client take O(d (K + log c)) for depth d, K
// kinds and c children of a queue, and allocate no memory. Allocations are whatever the caller reports: more than the total
// or a ceiling is legal. Ask Room before a container is started. On an error nothing changes.
//
// Next, Compare, All, Room, Lookup, Len, Snapshot, Balances and the methods of Client only read: several goroutines may
// call them at once while none calls another method. All other methods, Order among them, need the Sorter alone.
//
// Source: [Ghodsi11] Algorithm 1; [Bhattacharya13].
type Sorter struct {
	tree    *Tree
	total   apportion.Resources
	shared  apportion.Resources // as of Tree, of total
	kinds   apportion.Kinds     // numbers, for messages
	groups  []group             // as the nodes of tree
	clients map[string]*Client
	skipped []*Client
}

// NewSorter returns a sorter without clients for the tree. The tree is kept, and not changed.
func (t *Tree) NewSorter() *Sorter {
	s := &Sorter{
		tree: t, total: t.capacity.Clone(), shared: t.shared.Clone(), kinds: make(apportion.Kinds, len(t.capacity)),
		groups: make([]group, len(t.nodes)), clients: make(map[string]*Client),
	}
	for k := range s.kinds {
		s.kinds[k] = strconv.Itoa(k)
	}
	for at := range s.groups {
		node, g := &t.nodes[at], &s.groups[at]
		g.node, g.key = node, newClient(node.id, node.weight, make(apportion.Resources, len(t.capacity)))
		g.key.group = g
		g.first.mark, g.rest.mark = 1, 2
		if node.parent >= 0 {
			g.key.parent = &s.groups[node.parent]
			g.key.parent.enlist(&g.key)
		}
	}
	return s
}

// Lookup returns the client called id, or nil.
func (s *Sorter) Lookup(id string) *Client { return s.clients[id] }

// Len returns the number of clients, active or not.
func (s *Sorter) Len() int { return len(s.clients) }

// Add adds an active client that holds nothing: ID, Queue, Weight and Demand are those of the claim, Min and Max are not
// looked at. Demand is what the next container needs. In a cluster without queues it may be nil; then Room always finds room.
//
// The error is [apportion.Faults]: an empty or repeated ID, a queue that does not exist (ErrUnknown) or has
// queues (ErrConflict), a weight outside [MinWeight, MaxWeight], a demand of nothing or of the wrong length.
func (s *Sorter) Add(claim Claim) (*Client, error) {
	var faults apportion.Faults
	item := clientItem(claim.ID)
	check.ID(&faults, map[string]bool{claim.ID: s.clients[claim.ID] != nil}, claim.ID, item)
	if claim.Demand != nil || len(s.groups) > 1 {
		checkDemand(&faults, s.kinds, claim.Demand, item)
		s.tree.derived.check(&faults, claim.Demand, item, "Demand")
	}
	checkWeight(&faults, claim.Weight, item)
	s.tree.checkQueue(&faults, claim.Queue, item)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	// Up to four quantities lie beside their client, where the cache has both.
	beside := new(struct {
		Client
		held [4]int64
	})
	client, held := &beside.Client, beside.held[:]
	if len(s.total) > len(held) {
		held = make(apportion.Resources, len(s.total))
	}
	*client = newClient(claim.ID, claim.Weight, held[:len(s.total):len(s.total)])
	client.parent, client.demand, client.active = &s.groups[s.tree.index[claim.Queue]], claim.Demand.Clone(), true
	client.owner = s
	s.clients[claim.ID] = client
	client.parent.enlist(client)
	s.update(client)
	return client, nil
}

// update brings a client and all queues above it into order. It must follow every change of what the client holds, demands
// or weighs, and whether it is in the order. O(d (K + log c)).
func (s *Sorter) update(client *Client) {
	client.rate(s.shared, nil)
	if client.active && !client.skipped && client.parent.places[client.slot] >= 0 {
		client.parent.fix(&client.parent.rest, client) // the hot call
	} else {
		client.settle(client.active && !client.skipped, false)
	}
	for g := client.parent; g != nil; g = g.key.parent {
		g.lift(s.shared)
	}
}

// Allocate adds r to what a client and all queues above it hold. The error is an [*apportion.FieldError]
// (ErrUnknown; ErrOverflow of what all clients hold together) or [apportion.Faults] (ErrLength, ErrNegative).
func (s *Sorter) Allocate(client *Client, r apportion.Resources) error {
	if err := s.checkCall(client, r); err != nil {
		return err
	}
	// The root holds the most of all: where its sum fits, every sum below it does. AddTo writes nothing where any overflows.
	root := &s.groups[0].key
	if err := exact.AddTo(root.held, root.held, r); err != nil {
		return &apportion.FieldError{Item: clientItem(client.id), Field: "Held", Err: err, Detail: s.kinds.Format(r)}
	}
	for c := client; c != root; c = &c.parent.key {
		for k, q := range r {
			c.held[k] += q
		}
	}
	s.update(client)
	return nil
}

// Release takes r off what a client and all queues above it hold, and brings back all clients that are skipped, also where r
// is nothing. The error is an [*apportion.FieldError] (ErrUnknown, ErrNotHeld) or [apportion.Faults] (ErrLength,
// ErrNegative).
func (s *Sorter) Release(client *Client, r apportion.Resources) error {
	if err := s.checkCall(client, r); err != nil {
		return err
	}
	if !r.FitsIn(client.held) {
		return &apportion.FieldError{
			Item: clientItem(client.id), Field: "Release", Err: ErrNotHeld,
			Detail: s.kinds.Format(r) + ", held " + s.kinds.Format(client.held),
		}
	}
	root := &s.groups[0].key
	for c := client; ; c = &c.parent.key {
		for k, q := range r {
			c.held[k] -= q
		}
		if c == root {
			break
		}
	}
	s.update(client)
	s.wake()
	return nil
}

// Room returns whether one more container of a client's demand fits: the first kind that lacks, -1 for none, and
// the ID of the queue whose ceiling it is, empty for the cluster. The cluster comes before the queues, and a
// queue before those below it. O(d K).
func (s *Sorter) Room(client *Client) (kind int, queue string) {
	// From the client up, and kinds from the last to the first: the last that is found is returned. More may be held than a
	// limit allows; neither is negative, so that the difference is exact.
	kind = -1
	for g := client.parent; g != nil; g = g.key.parent {
		limit, root := g.node.ceiling, g.key.parent == nil
		if root {
			limit = s.total
		}
		for k := len(client.demand) - 1; k >= 0; k-- {
			q := client.demand[k]
			if q > 0 && (limit[k] < NoLimit || root) && q > limit[k]-g.key.held[k] {
				kind, queue = k, g.key.id
			}
		}
	}
	return kind, queue
}

// Remove takes a client out for good. A client that still holds resources is not removed (ErrHolding): they are in use, and
// could not be released later. Take it out of the order with SetActive meanwhile. The error is an [*apportion.FieldError].
func (s *Sorter) Remove(client *Client) error {
	if err := s.own(client); err != nil {
		return err
	}
	if !client.held.IsZero() {
		return &apportion.FieldError{Item: clientItem(client.id), Err: ErrHolding, Detail: s.kinds.Format(client.held)}
	}
	s.activate(client, false)
	client.parent.strike(client)
	client.owner = nil
	delete(s.clients, client.id)
	return nil
}

// SetActive takes a client into the order or out of it; it keeps what it holds, and is not skipped any more. The error is
// [*apportion.FieldError], ErrUnknown.
func (s *Sorter) SetActive(client *Client, active bool) error {
	if err := s.own(client); err != nil {
		return err
	}
	s.activate(client, active)
	return nil
}

func (s *Sorter) activate(client *Client, active bool) {
	s.unskip(client)
	client.active = active
	s.update(client)
}

// SetDemand changes what the next container of a client needs; the client is not skipped any more. The error is
// [*apportion.FieldError] (ErrUnknown) or [apportion.Faults] (ErrNoDemand, ErrLength, ErrNegative).
func (s *Sorter) SetDemand(client *Client, demand apportion.Resources) error {
	if err := s.own(client); err != nil {
		return err
	}
	var faults apportion.Faults
	checkDemand(&faults, s.kinds, demand, clientItem(client.id))
	s.tree.derived.check(&faults, demand, clientItem(client.id), "Demand")
	if err := faults.Err(); err != nil {
		return err
	}
	client.demand = append(client.demand[:0], demand...)
	s.unskip(client)
	s.update(client)
	return nil
}

// SetWeight changes the weight of a client. The error is [*apportion.FieldError] with ErrUnknown, or
// [apportion.Faults] for a weight outside [MinWeight, MaxWeight].
func (s *Sorter) SetWeight(client *Client, weight float64) error {
	if err := s.own(client); err != nil {
		return err
	}
	var faults apportion.Faults
	checkWeight(&faults, weight, clientItem(client.id))
	if err := faults.Err(); err != nil {
		return err
	}
	client.weight, client.exact.weight = weight, newRatio(weight)
	s.update(client)
	return nil
}

// SetTotal changes what the cluster has, orders everything anew and brings back all clients that are skipped, in O(K n). A
// total below what is allocated is legal. Guarantees and ceilings of queues stay. The error is [apportion.Faults]: a wrong
// length, or a negative quantity.
func (s *Sorter) SetTotal(total apportion.Resources) error {
	var faults apportion.Faults
	check.Resources(&faults, s.kinds, total, apportion.Item{}, "Total")
	s.tree.derived.check(&faults, total, apportion.Item{}, "Total")
	if err := faults.Err(); err != nil {
		return err
	}
	copy(s.total, total)
	copy(s.shared, s.tree.derived.Shared(total))
	for _, client := range s.clients {
		client.rate(s.shared, nil)
	}
	// Children come after their parents. A heap is rebuilt at once, once the keys of all its children are right.
	for at := len(s.groups) - 1; at >= 0; at-- {
		g := &s.groups[at]
		g.heapify(&g.first)
		g.heapify(&g.rest)
		g.lift(s.shared)
	}
	s.wake()
	return nil
}

// Skip takes an active client out of the order until something changes that may help it: the next Release by
// any client, SetTotal, or SetActive or SetDemand of this client. It is for a client whose next container fits nowhere. A
// client that is not active stays so. The error is [*apportion.FieldError], ErrUnknown.
func (s *Sorter) Skip(client *Client) error {
	if err := s.own(client); err != nil {
		return err
	}
	if client.Active() {
		client.skipped = true
		s.skipped = append(s.skipped, client)
		s.update(client)
	}
	return nil
}

// wake brings back all clients that are skipped, in any order: that of the clients is total.
func (s *Sorter) wake() {
	for _, client := range s.skipped {
		client.skipped = false
		s.update(client)
	}
	s.skipped = s.skipped[:0]
}

// unskip makes a client one that is not skipped; update must follow. O(clients that are skipped).
func (s *Sorter) unskip(client *Client) {
	if client.skipped {
		client.skipped = false
		s.skipped = slices.DeleteFunc(s.skipped, func(c *Client) bool { return c == client })
	}
}

// own refuses a client that is not of this sorter (any more).
func (s *Sorter) own(client *Client) error {
	if client == nil || client.owner != s {
		return &apportion.FieldError{Field: "Client", Err: apportion.ErrUnknown}
	}
	return nil
}

// checkCall refuses a client of another sorter, and resources that have the wrong length or a negative
// quantity. A sound call allocates nothing.
func (s *Sorter) checkCall(client *Client, amount apportion.Resources) error {
	if err := s.own(client); err != nil {
		return err
	}
	var faults apportion.Faults
	check.Resources(&faults, s.kinds, amount, apportion.Item{}, "Resources")
	s.tree.derived.check(&faults, amount, apportion.Item{}, "Resources")
	for _, fault := range faults {
		fault.Item = clientItem(client.id)
	}
	return faults.Err()
}

// clientItem names a client in an error. Clients have no list, so that the index is 0.
func clientItem(id string) apportion.Item { return check.Item("client", id, 0) }
