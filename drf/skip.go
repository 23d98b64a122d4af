// This file implements what plugins ask of a Sorter beside Next: two clients compared, the order from the top,
// clients that wait for a change.

package drf

import "iter"

// Compare returns a negative number if a is due before b, a positive one if after, and 0 only for the same
// client: the least weighted dominant share first, equal ones by ID, decided on exact fractions. It says
// the same of clients that are not active. Both must be of this sorter. O(1).
func (s *Sorter) Compare(a, b *Client) int { return compareExactly(a, b) }

// All returns the active clients in order. The first k take O(k log k), whatever the number of clients, so
// that a scheduler may look for the first that fits. Nothing is changed by it, and nothing may be changed
// meanwhile.
func (s *Sorter) All() iter.Seq[*Client] {
	return s.queue.inOrder
}

// inOrder yields the clients of a heap in order: an entry may come only after its parent in the heap, so that
// the candidates for the next place are few.
// For k clients it keeps k + 1 places at most, and compares about 2 k log k times.
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

// Skip takes an active client out of the order until something changes that may help it: the next Release by
// anybody, SetTotal, or SetActive of this client. It is for a client whose next container fits nowhere, so that Next goes
// on to others and nobody has to remember whom to bring back. A client that is not active stays so. The
// error is [*apportion.FieldError], ErrUnknown.
//
// O(log n), and as much again when the client comes back.
func (s *Sorter) Skip(client *Client) error {
	if err := s.own(client); err != nil {
		return err
	}
	if client.place >= 0 {
		s.queue.remove(client)
		s.skip(client)
	}
	return nil
}
