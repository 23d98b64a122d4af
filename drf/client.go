// This file holds the clients of a Sorter and the queues above them: the keys by which each queue orders its children,
// [Bhattacharya13].

package drf

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// Client is one client of a [Sorter]: the handle by which it is called.
// Each queue has one too, as the key by which its parent sorts it; held is then what all clients below hold.
type Client struct {
	// What a change of one client looks at comes first, in two lines of the cache.
	owner  *Sorter // nil once it was removed, and for queues
	parent *group  // nil for the root
	group  *group  // the queue whose key this is, nil for a client
	held   apportion.Resources
	weight float64
	exact  level  // weighted dominant share, kept up to date
	slot   int32  // among the children of the parent
	rank   uint32 // of its name among these, look where that is not known
	// active is set by SetActive, skipped by Skip; below says which heap of the parent it is in.
	active, skipped, below bool

	kind   int // of the dominant share, -1 while that is 0
	id     string
	demand apportion.Resources // of the next container; nil for a queue, and where none was given
	claim  int                 // position among the claims of a filling; else unused
}

// group is a queue, or the root, and the order of its children.
type group struct {
	key  Client
	node *treeNode
	// first are the children below their guarantees, rest the others; a child without active clients is in neither.
	first, rest queue
	head        *Client // next below the queue, nil for none
	// clients are the children by their slots, nil where one is free; places are those in first or rest, -1 in neither, and changed
	// has the marks of these.
	clients []*Client
	places  []int32
	changed []uint8
	free    []int32
	// last has the last of all names, ranks is its rank; unranked are those without.
	last     *Client
	ranks    uint32
	unranked int
}

// newClient returns a client that holds nothing and is not in the order.
func newClient(id string, weight float64, held apportion.Resources) Client {
	return Client{
		id: id, weight: weight, held: held,
		exact: level{total: 1, weight: newRatio(weight)}, kind: -1,
	}
}

// ID returns the name under which the client was added.
func (c *Client) ID() string { return c.id }

// Weight returns the client's weight.
func (c *Client) Weight() float64 { return c.weight }

// Held returns a copy of what the client holds.
func (c *Client) Held() apportion.Resources { return c.held.Clone() }

// Active reports whether the client is in the order. A client that is skipped is not.
func (c *Client) Active() bool { return c.owner != nil && c.parent.places[c.slot] >= 0 }

// Queue returns the ID of the queue of the [Tree] that the client belongs to, empty for none.
func (c *Client) Queue() string { return c.parent.key.id }

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
// nil for all kinds. The first of equal shares counts. settle, fix or heapify must follow. O(K).
func (c *Client) rate(total, demand apportion.Resources) {
	// 0/1 is the level of a client that holds nothing, or only kinds that the cluster has none of.
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

// settle puts a child where it belongs in the order of its parent, or takes it out if it is not to be served.
func (c *Client) settle(served, below bool) {
	g := c.parent
	from := g.queueOf(c)
	c.below = below
	to := g.queueOf(c)
	if !served || from != to {
		g.remove(from, c)
	}
	switch {
	case !served:
	case g.places[c.slot] < 0:
		g.push(to, c)
	default:
		g.fix(to, c)
	}
}

// queueOf returns the queue in which a child is, or belongs.
func (g *group) queueOf(c *Client) *queue {
	if c.below {
		return &g.first
	}
	return &g.rest
}

// lift finds the next client and the level of a queue anew, and puts it where it belongs in the order of its parent. Its own
// children must be in order.
func (g *group) lift(total apportion.Resources) {
	g.head = g.top()
	if g.key.parent == nil {
		return
	}
	below := false
	if g.head != nil {
		// The level counts only kinds that the next container demands, see Tree: it changes with the head.
		g.key.rate(total, g.head.demand)
		// A queue is below its guarantee with any queue below it that is.
		below = g.first.size() > 0 || g.within(g.head.demand)
	}
	g.key.settle(g.head != nil, below)
}

// top returns the next client of the first child, nil for none.
func (g *group) top() *Client {
	var child *Client
	switch {
	case g.first.size() > 0:
		child = g.clients[g.first.list[root].slot]
	case g.rest.size() > 0:
		child = g.clients[g.rest.list[root].slot]
	}
	if child != nil && child.group != nil {
		return child.group.head
	}
	return child
}

// within reports whether a container of demand is within the guarantee of a queue.
func (g *group) within(demand apportion.Resources) bool {
	for k, q := range demand {
		// No overflow: what is left of the guarantee is compared, not a sum.
		if q > 0 && q > g.node.guarantee[k]-g.key.held[k] {
			return false
		}
	}
	return true
}
