// This file implements Sorter, the order of clients by weighted dominant share, kept up to date
// while resources come and go, [Ghodsi11] Algorithm 1.

package drf

import (
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// Sorter keeps clients in the order in which they are due to be served: the least weighted
// dominant share first, equal ones by ID. Equality is decided exactly, not on rounded shares.
//
// A scheduler asks Next whom to serve, starts a container for that client and reports it with
// Allocate. Next takes constant time; Allocate, Release, SetWeight and SetActive take
// O(K + log n) for n active clients and K kinds and allocate no memory. Allocations are whatever
// the caller reports: more than the total is legal, as happens when servers vanish. On an error
// nothing changes.
//
// Next, Compare, All, Lookup, Len, Snapshot and the methods of Client only read: several goroutines may call them
// at once while none calls another method. All other methods, Order among them, need the Sorter alone.
//
// Source: [Ghodsi11] Algorithm 1.
type Sorter struct {
	roster
	queue queue
}

// Client is one client of a [Sorter]: the handle by which it is called.
// A TreeSorter has one for each queue too, as the key by which the parent sorts it; no caller gets hold
// of these.
type Client struct {
	id     string
	weight float64
	held   apportion.Resources
	exact  level // weighted dominant share, kept up to date
	kind   int   // of the dominant share, -1 while that is 0
	place  int   // in the queue, -1 while inactive
	claim  int   // position among the claims of FillWhole; else unused
	// skipped says that Skip has taken the client out of the order for a while.
	skipped bool
	branch  *branch // in a TreeSorter, else nil
}

// NewSorter returns a sorter without clients for a cluster that has total. Kinds with total 0 take
// no part in shares. The error is [apportion.Faults]: no kinds at all, or a negative quantity.
func NewSorter(total apportion.Resources) (*Sorter, error) {
	var faults apportion.Faults
	kinds := checkCapacity(&faults, total, "Total")
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &Sorter{roster: roster{total: total.Clone(), kinds: kinds, clients: make(map[string]*Client)}}, nil
}

// SetTotal changes what the cluster has and orders all clients anew, in O(K n). A total below what
// is allocated is legal. The error is [apportion.Faults]: a wrong length, or a negative quantity.
func (s *Sorter) SetTotal(total apportion.Resources) error {
	if err := s.checkTotal(total); err != nil {
		return err
	}
	// The dominant kind of a client may change with the total, so that every client is rated anew; the
	// heap is rebuilt at once, which is less work than to fix every client.
	copy(s.total, total)
	for _, client := range s.clients {
		client.rate(s.total, nil)
	}
	s.queue.heapify()
	s.wake()
	return nil
}

// Add adds an active client that holds nothing. The error is [apportion.Faults]: an empty or
// repeated id, a weight outside [MinWeight, MaxWeight].
func (s *Sorter) Add(id string, weight float64) (*Client, error) {
	var faults apportion.Faults
	item := clientItem(id)
	switch {
	case id == "":
		faults.Add(item, "ID", apportion.ErrEmpty, "")
	case s.clients[id] != nil:
		faults.Add(item, "ID", apportion.ErrDuplicate, strconv.Quote(id))
	}
	checkWeight(&faults, weight, item)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	client := newClient(id, weight, make(apportion.Resources, len(s.total)))
	s.clients[id] = &client
	s.queue.push(&client)
	return &client, nil
}

// newClient returns a client that holds nothing and is not in the queue.
func newClient(id string, weight float64, held apportion.Resources) Client {
	return Client{
		id: id, weight: weight, held: held,
		exact: level{total: 1, weight: newRatio(weight)}, kind: -1, place: -1,
	}
}

// Remove takes a client out for good. A client that still holds resources is not removed
// (ErrHolding): those resources are in use, and nobody could release them later. Take it out of
// the order with SetActive meanwhile. The error is an [*apportion.FieldError].
func (s *Sorter) Remove(client *Client) error {
	if err := s.checkRemove(client); err != nil {
		return err
	}
	s.forget(client)
	s.queue.remove(client)
	delete(s.clients, client.id)
	return nil
}

// SetActive takes a client into the order or out of it; it keeps what it holds. Doing so twice
// changes nothing. The error is [*apportion.FieldError], ErrUnknown.
func (s *Sorter) SetActive(client *Client, active bool) error {
	if err := s.own(client); err != nil {
		return err
	}
	s.forget(client)
	switch {
	// A client that is active already would be in the queue twice.
	case active && client.place < 0:
		s.queue.push(client)
	case !active:
		s.queue.remove(client)
	}
	return nil
}

// SetWeight changes the weight of a client. The error is [*apportion.FieldError] with ErrUnknown,
// or [apportion.Faults] for a weight outside [MinWeight, MaxWeight].
func (s *Sorter) SetWeight(client *Client, weight float64) error {
	if err := s.reweigh(client, weight); err != nil {
		return err
	}
	s.queue.fix(client)
	return nil
}

// Allocate adds r to what a client holds. The error is an [*apportion.FieldError] (ErrUnknown,
// ErrOverflow) or [apportion.Faults] (ErrLength, ErrNegative).
func (s *Sorter) Allocate(client *Client, r apportion.Resources) error {
	if err := s.checkCall(client, r); err != nil {
		return err
	}
	// AddTo writes nothing where any sum overflows.
	if err := exact.AddTo(client.held, client.held, r); err != nil {
		return s.overflow(client, r, err)
	}
	client.rate(s.total, nil)
	s.queue.fix(client)
	return nil
}

// Release takes r off what a client holds. The error is an [*apportion.FieldError] (ErrUnknown,
// ErrNotHeld) or [apportion.Faults] (ErrLength, ErrNegative).
func (s *Sorter) Release(client *Client, r apportion.Resources) error {
	if err := s.checkRelease(client, r); err != nil {
		return err
	}
	for k, q := range r {
		client.held[k] -= q
	}
	client.rate(s.total, nil)
	s.queue.fix(client)
	s.wake()
	return nil
}

// wake brings back all clients that are skipped.
// In any order: the order of clients is total, so that the heap serves them alike however it was built.
func (s *Sorter) wake() {
	for _, client := range s.skipped {
		client.skipped = false
		s.queue.push(client)
	}
	s.skipped = s.skipped[:0]
}

// Next returns the active client that is due to be served, nil where none is active.
func (s *Sorter) Next() *Client {
	if len(s.queue) == 0 {
		return nil
	}
	return s.queue[0].client
}

// Order appends all active clients to dst, in order, and returns it. It takes O(n log n), and
// less where little has changed since the last call; it allocates only if dst is too short.
// It sorts in place, and so counts among the methods that need the Sorter alone; All does not.
func (s *Sorter) Order(dst []*Client) []*Client {
	// A sorted list is a heap as well, so that nothing has to be put back.
	s.queue.sort()
	dst = slices.Grow(dst, len(s.queue))
	for i := range s.queue {
		dst = append(dst, s.queue[i].client)
	}
	return dst
}

// clientItem names a client in an error. Clients have no list, so that the index is 0.
func clientItem(id string) apportion.Item { return check.Item("client", id, 0) }

// ID returns the name under which the client was added.
func (c *Client) ID() string { return c.id }

// Weight returns the client's weight.
func (c *Client) Weight() float64 { return c.weight }

// Held returns a copy of what the client holds.
func (c *Client) Held() apportion.Resources { return c.held.Clone() }

// Active reports whether the client is in the order. One that is skipped is not.
func (c *Client) Active() bool { return c.place >= 0 }

// Queue returns the ID of the queue of a [Tree] that the client belongs to, empty for none.
func (c *Client) Queue() string {
	if c.branch == nil || c.branch.parent == nil {
		return ""
	}
	return c.branch.parent.key.id
}

// Share returns the dominant share and its kind, 0 and -1 for a client without any. The share is
// above 1 where more is allocated than there is. A removed client has share 0.
func (c *Client) Share() (share float64, kind int) {
	return float64(c.exact.amount) / float64(c.exact.total), c.kind
}

// Level returns Share/Weight, the rounded form of what the order compares exactly.
func (c *Client) Level() float64 {
	share, _ := c.Share()
	return share / c.weight
}

// rate finds the share by which the client is ordered: the largest that it holds of total, of any kind that demand has,
// nil for all kinds. The first of equal ones counts.
// Whoever calls it must put the client where it belongs afterwards, with fix, heapify or update. O(K).
func (c *Client) rate(total, demand apportion.Resources) {
	// 0/1 is the level of whoever holds nothing, or only kinds that the cluster has none of.
	c.kind, c.exact.amount, c.exact.total = -1, 0, 1
	for k, held := range c.held {
		if held == 0 || total[k] == 0 || demand != nil && demand[k] == 0 {
			continue
		}
		if exact.Less(c.exact.amount, total[k], held, c.exact.total) {
			c.kind, c.exact.amount, c.exact.total = k, held, total[k]
		}
	}
}
