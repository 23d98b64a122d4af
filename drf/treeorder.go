// This file shows the order of the clients of a TreeSorter: two compared, and all from the top.

package drf

import "iter"

// Compare returns a negative number if a stands before b in the order, a positive one if after it, and 0 only for
// the same client. Active clients come before others, and these are in the order of their IDs. Both must be
// of this sorter. O(d).
func (s *TreeSorter) Compare(a, b *Client) int {
	// Who is in the order has a place in the list of its queue; the others are compared by name.
	if a.place < 0 || b.place < 0 {
		return compareIdle(a, b)
	}
	// Both ways are followed up to the queue where they meet.
	x, y := a.branch, b.branch
	for deep, other := x.depth(), y.depth(); deep != other; {
		if deep > other {
			x, deep = x.parent, deep-1
		} else {
			y, other = y.parent, other-1
		}
	}
	// One cannot be above the other: clients have nobody below them.
	for x != y && x.parent != y.parent {
		x, y = x.parent, y.parent
	}
	// Below the queue where the ways meet the order is that of its two lists, and within one that of the heap.
	switch {
	case x.below == y.below:
		return compareExactly(&x.key, &y.key)
	case x.below:
		return -1
	default:
		return 1
	}
}

// compareIdle compares two clients of which at least one is not in the order.
// At least one of them has no place, so that the first two cases do not meet.
func compareIdle(a, b *Client) int {
	switch {
	case a.place >= 0:
		return -1
	case b.place >= 0:
		return 1
	case a.id < b.id:
		return -1
	case a.id > b.id:
		return 1
	default:
		return 0
	}
}

// depth returns how many branches are above b.
// The root has depth 0. O(d).
func (b *branch) depth() int {
	depth := 0
	for ; b.parent != nil; b = b.parent {
		depth++
	}
	return depth
}

// All returns the active clients in order, as [Sorter.All] does.
func (s *TreeSorter) All() iter.Seq[*Client] {
	return func(yield func(*Client) bool) { s.nodes[0].each(yield) }
}

// each yields the clients below a branch in order, and reports whether to go on.
// O(log c) for each client and queue on the way; the frontier of a heap is all that it allocates.
func (b *branch) each(yield func(*Client) bool) bool {
	if b.isClient() {
		return yield(&b.key)
	}
	going := true
	visit := func(child *Client) bool {
		going = child.branch.each(yield)
		return going
	}
	// The lists are heaps, of which inOrder shows one entry after the other without changing them.
	b.first.inOrder(visit)
	if going {
		b.rest.inOrder(visit)
	}
	return going
}
