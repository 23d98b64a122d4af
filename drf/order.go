// This file shows the order of the clients of a Sorter: the next, two compared, and all from the top.

package drf

import (
	"cmp"
	"iter"
)

// Next returns the active client that is due to be served, nil where none is active.
func (s *Sorter) Next() *Client { return s.groups[0].head }

// Compare returns a negative number if a stands before b in the order, a positive one if after it, and 0 only for
// the same client. Active clients come before others, and these are in the order of their IDs. Both must be
// of this sorter. O(d).
func (s *Sorter) Compare(a, b *Client) int {
	switch {
	case a.place < 0 && b.place < 0:
		return cmp.Compare(a.id, b.id)
	case a.place < 0:
		return 1
	case b.place < 0:
		return -1
	}
	// Both ways up are followed to the queue where they meet.
	for deep, other := a.depth(), b.depth(); deep != other; {
		if deep > other {
			a, deep = &a.parent.key, deep-1
		} else {
			b, other = &b.parent.key, other-1
		}
	}
	for a.parent != b.parent {
		a, b = &a.parent.key, &b.parent.key
	}
	switch {
	case a.below == b.below:
		return compareExactly(a, b)
	case a.below:
		return -1
	default:
		return 1
	}
}

// depth returns how many queues are above c, the root included.
func (c *Client) depth() int {
	depth := 0
	for ; c.parent != nil; c = &c.parent.key {
		depth++
	}
	return depth
}

// Order appends all active clients to dst, in order, and returns it. It takes O(n log n), and
// less where little has changed since the last call; it allocates only if dst is too short.
// It sorts in place, and so counts among the methods that need the Sorter alone; All does not.
func (s *Sorter) Order(dst []*Client) []*Client { return s.groups[0].order(dst) }

// order appends the clients below a queue. A sorted list is a heap as well, so that nothing has to be put back.
func (g *group) order(dst []*Client) []*Client {
	for _, list := range [...]queue{g.first, g.rest} {
		list.sort()
		for i := range list {
			if child := list[i].client; child.group != nil {
				dst = child.group.order(dst)
			} else {
				dst = append(dst, child)
			}
		}
	}
	return dst
}

// All returns the active clients in order. Without queues the first k take O(k log k), whatever the number of clients, so
// that a scheduler may look for the first that fits. Nothing is changed by it, and nothing may be changed
// meanwhile.
func (s *Sorter) All() iter.Seq[*Client] {
	return func(yield func(*Client) bool) { s.groups[0].each(yield) }
}

// each yields the clients below a queue in order, and reports whether to go on.
func (g *group) each(yield func(*Client) bool) bool {
	going := true
	visit := func(child *Client) bool {
		if child.group != nil {
			going = child.group.each(yield)
		} else {
			going = yield(child)
		}
		return going
	}
	g.first.inOrder(visit)
	if going {
		g.rest.inOrder(visit)
	}
	return going
}

// inOrder yields the clients of a heap in order: an entry may come only after its parent in the heap, so that
// the candidates for the next place are few. For k clients it keeps k + 1 places at most, and compares about 2 k log k times.
func (q queue) inOrder(yield func(*Client) bool) {
	if len(q) == 0 {
		return
	}
	// The frontier is a heap of places in the heap.
	frontier := []int{0}
	for len(frontier) > 0 {
		at := frontier[0]
		if !yield(q[at].client) {
			return
		}
		last := len(frontier) - 1
		frontier[0] = frontier[last]
		frontier = frontier[:last]
		q.sink(frontier)
		for child := 2*at + 1; child <= 2*at+2 && child < len(q); child++ {
			frontier = append(frontier, child)
			q.rise(frontier)
		}
	}
}

// sink moves the first place of a frontier down to where it belongs.
func (q queue) sink(frontier []int) {
	for i, child := 0, 1; child < len(frontier); i, child = child, 2*child+1 {
		if child+1 < len(frontier) && before(&q[frontier[child+1]], &q[frontier[child]]) {
			child++
		}
		if before(&q[frontier[i]], &q[frontier[child]]) {
			return
		}
		frontier[i], frontier[child] = frontier[child], frontier[i]
	}
}

// rise moves the last place of a frontier up to where it belongs.
func (q queue) rise(frontier []int) {
	for i := len(frontier) - 1; i > 0; {
		parent := (i - 1) / 2
		if before(&q[frontier[parent]], &q[frontier[i]]) {
			return
		}
		frontier[i], frontier[parent] = frontier[parent], frontier[i]
		i = parent
	}
}
