// This file shows the order of the clients of a Sorter: the next, two compared, and all from the top.

package drf

import (
	"cmp"
	"container/heap"
	"iter"
)

// Next returns the active client that is due to be served, nil where none is active.
func (s *Sorter) Next() *Client { return s.groups[0].head }

// Compare returns a negative number if a stands before b in the order, a positive one if after it, and 0 only for
// the same client. Active clients come before others, and these are in the order of their IDs. Both must be
// of this sorter. O(d).
func (s *Sorter) Compare(a, b *Client) int {
	switch {
	case !a.Active() && !b.Active():
		return cmp.Compare(a.id, b.id)
	case !a.Active():
		return 1
	case !b.Active():
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

// Order appends all active clients to dst, in order, and returns it. It takes O(n log n); where c of n clients have
// changed since the last call, up to a fourth, O(n + c log c).
// It keeps the order, and so counts among the methods that need the Sorter alone; All does not.
func (s *Sorter) Order(dst []*Client) []*Client { return s.groups[0].order(dst) }

// order appends the clients below a queue.
func (g *group) order(dst []*Client) []*Client {
	for _, q := range [...]*queue{&g.first, &g.rest} {
		for _, e := range g.inOrder(q) {
			if child := g.clients[e.slot]; child.group != nil {
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
	for _, q := range [...]*queue{&g.first, &g.rest} {
		f := frontier{group: g, list: q.list}
		if q.size() > 0 {
			heap.Push(&f, root)
		}
		for len(f.places) > 0 {
			at := heap.Pop(&f).(int)
			child := g.clients[q.list[at].slot]
			if child.group != nil && !child.group.each(yield) || child.group == nil && !yield(child) {
				return false
			}
			for next := 4 * (at - 2); next < min(4*(at-1), len(q.list)); next++ {
				heap.Push(&f, next)
			}
		}
	}
	return true
}

// frontier is a heap of places in a heap: an entry may come only after its parent there, so that the candidates for the next
// place are few, 3k + 1 after k clients.
type frontier struct {
	group  *group
	list   []entry
	places []int
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (f *frontier) Len() int { return len(f.places) }

func (f *frontier) Less(i, j int) bool {
	return f.group.before(&f.list[f.places[i]], &f.list[f.places[j]])
}

func (f *frontier) Swap(i, j int) { f.places[i], f.places[j] = f.places[j], f.places[i] }

func (f *frontier) Push(place any) { f.places = append(f.places, place.(int)) }

func (f *frontier) Pop() any {
	last := len(f.places) - 1
	place := f.places[last]
	f.places = f.places[:last]
	return place
}
