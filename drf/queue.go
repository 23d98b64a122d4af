// This file implements the priority queue of Sorter: a heap that knows where its clients are.

package drf

import (
	"cmp"
	"math"
	"slices"
)

// clearGap is the relative distance from which two rounded levels are surely in the order of the
// exact ones. A level is rounded four times (amount, total, share, level), each by a factor within
// 1±2^-53, so two of them stray by less than 2^-49 together.
const clearGap = 0x1p-49

// queue is a heap by (weighted dominant share, ID). Each entry carries the rounded level, so that
// a comparison looks at the client only where two levels are about equal. Client.place is the
// position of the client here.
type queue []entry

// entry is one client with its rounded level, which is that of the client's last push, fix or heapify.
type entry struct {
	level  float64
	client *Client
}

// before reports whether a comes before b. It is small enough to be inlined in the loops below; two
// levels that are about equal are left to compareExactly.
// The gap is taken of b alone: levels that are so close have nearly the same one.
func before(a, b *entry) bool {
	if gap := a.level - b.level; math.Abs(gap) > clearGap*b.level {
		return gap < 0
	}
	return compareExactly(a.client, b.client) < 0
}

// compareExactly orders two clients; it returns 0 only for the same one.
func compareExactly(a, b *Client) int {
	if order := compareLevels(&a.exact, &b.exact); order != 0 {
		return order
	}
	// IDs are unique, so that no two clients are equal and the order is total.
	if order := cmp.Compare(a.id, b.id); order != 0 || a == b {
		return order
	}
	// Only at the root of a tree may a queue and a client have one name: the queue comes first.
	if a.group == nil {
		return 1
	}
	return -1
}

// push adds a client at the end, from where it rises to its place. O(log n).
func (q *queue) push(client *Client) {
	*q = append(*q, entry{client.Level(), client})
	q.up(len(*q)-1, 0, (*q)[len(*q)-1])
}

// remove takes out a client; one that is not in the queue stays out.
func (q *queue) remove(client *Client) {
	i, last := client.place, len(*q)-1
	if i < 0 {
		return
	}
	client.place = -1
	// The last entry fills the hole; it is cleared so that the client can be collected.
	moved := (*q)[last]
	(*q)[last] = entry{}
	*q = (*q)[:last]
	if i < last {
		q.settle(i, moved)
	}
}

// fix restores the order after the level of a client has changed.
func (q *queue) fix(client *Client) {
	if client.place >= 0 {
		q.settle(client.place, entry{client.Level(), client})
	}
}

// settle puts e at place i, from where it rises or sinks.
func (q queue) settle(i int, e entry) {
	if i > 0 && before(&e, &q[(i-1)/2]) {
		q.up(i, 0, e)
	} else {
		q.down(i, e)
	}
}

// put sets the entry at place i and tells its client where it is.
func (q queue) put(i int, e entry) {
	q[i] = e
	e.client.place = i
}

// up moves the hole at i towards its ancestor top, to where e belongs, and fills it.
func (q queue) up(i, top int, e entry) {
	for i > top {
		parent := (i - 1) / 2
		if before(&q[parent], &e) {
			break
		}
		q.put(i, q[parent])
		i = parent
	}
	q.put(i, e)
}

// down moves the hole at top to a leaf, along the earlier child each time, and from there up to where
// e belongs. That is one comparison a level where a look at e on the way down would make it two,
// and a client that was just served mostly belongs near the leaves.
func (q queue) down(top int, e entry) {
	i := top
	for child := 2*i + 1; child < len(q); child = 2*i + 1 {
		// The earlier of two children moves up.
		if child+1 < len(q) && before(&q[child+1], &q[child]) {
			child++
		}
		q.put(i, q[child])
		i = child
	}
	q.up(i, top, e) // not above top: heapify has not come there yet
}

// heapify computes all levels anew and makes a heap of the entries whatever their order.
func (q queue) heapify() {
	for i := range q {
		q[i].level = q[i].client.Level()
	}
	// From the last parent up to the root: each step finds heaps below it. O(n) in all.
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i, q[i])
	}
}

// sort puts the entries in order; a sorted list is a heap.
// The comparison is that of before, with three answers. Lists that are nearly in order cost little more
// than a look.
func (q queue) sort() {
	slices.SortFunc(q, func(a, b entry) int {
		if gap := a.level - b.level; math.Abs(gap) > clearGap*b.level {
			return cmp.Compare(gap, 0)
		}
		return compareExactly(a.client, b.client)
	})
	for i := range q {
		q[i].client.place = i
	}
}
