// This file ranks the children of a queue by their names, so that equal levels are decided without a look at strings.

package drf

import (
	"cmp"
	"slices"
)

// compareNames orders siblings by ID. Only at the root of a tree may a queue and a client have one: the queue comes first.
func compareNames(a, b *Client) int {
	if order := cmp.Compare(a.id, b.id); order != 0 || a == b {
		return order
	}
	if a.group == nil {
		return 1
	}
	return -1
}

// unrankedPart is the part of the names that may be without a rank before all are ranked anew. It bounds the time of n calls of
// enlist to five sorts of n names.
const unrankedPart = 4

// enlist gives a child a slot, and a rank if its name comes after all others. O(1), and O(n log n) where a fourth of all have no rank.
func (g *group) enlist(c *Client) {
	if last := len(g.free) - 1; last >= 0 {
		c.slot, g.free = g.free[last], g.free[:last]
		g.clients[c.slot] = c
	} else {
		c.slot = int32(len(g.clients))
		g.clients, g.places, g.changed = append(g.clients, c), append(g.places, -1), append(g.changed, 0)
	}
	if g.last == nil || compareNames(g.last, c) < 0 {
		g.ranks++
		c.rank, g.last = g.ranks, c
		return
	}
	c.rank = look
	if g.unranked++; unrankedPart*g.unranked > len(g.clients) {
		g.rankAnew()
	}
}

// strike takes a child, which is in no queue, out of its slot. Its rank stays unused.
func (g *group) strike(c *Client) {
	if c.rank == look {
		g.unranked--
	}
	if g.last == c {
		// The rank stays that of the last name; the next one to come after it is found by name.
		g.last = &Client{id: c.id, group: c.group}
	}
	g.clients[c.slot] = nil
	g.free = append(g.free, c.slot)
}

// rankAnew ranks all children. No entry changes its place.
func (g *group) rankAnew() {
	list := make([]*Client, 0, len(g.clients))
	for _, c := range g.clients {
		if c != nil {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, compareNames)
	for i, c := range list {
		c.rank = uint32(i + 1)
	}
	g.unranked, g.ranks, g.last = 0, uint32(len(list)), list[len(list)-1]
	for _, q := range [...]*queue{&g.first, &g.rest} {
		q.kept = false
		for i := root; i < len(q.list); i++ {
			q.list[i] = g.clients[q.list[i].slot].entry()
		}
	}
}
