// This file implements the priority queue of Sorter: a heap of four children that knows where its clients are.

package drf

import (
	"cmp"
	"math"
	"slices"
)

// queue is a heap by (weighted dominant share, ID) of children of one queue of the tree. The first entry is at place root, so that the four
// children of a place are one line of the cache.
type queue struct {
	list []entry
	// sorted has the entries in order as they were when they were last asked for, changed the slots that have come, gone or
	// changed since. mark is the bit of group.changed for this queue. Where kept is not set, sorted is of no use.
	sorted, scratch, fresh []entry
	changed                []int32
	kept                   bool
	mark                   uint8
}

// root is the place of the first entry.
const root = 3

// entry is one client with its level, correctly rounded: levels that differ as floats are in the order of the exact ones. They
// are those of the client's last push, fix or heapify. Levels that are the same float are the same if neither rank has the bit
// look; then the ranks decide.
type entry struct {
	level float64
	slot  int32
	rank  uint32
}

// look as a bit of a rank says that the client has to be looked at, for its exact level or for its name.
const look = 1 << 31

func (c *Client) entry() entry {
	level, tells := c.exact.rounded(c.weight)
	e := entry{level, c.slot, c.rank}
	if !tells {
		e.rank |= look
	}
	return e
}

// before reports whether a comes before b. It is small enough to be inlined in the loops below.
func (g *group) before(a, b *entry) bool {
	if a.level != b.level {
		return a.level < b.level
	}
	return g.tied(a, b)
}

// tied is before of two whose levels are the same float.
func (g *group) tied(a, b *entry) bool {
	if (a.rank|b.rank)&look == 0 {
		return a.rank < b.rank
	}
	return compareExactly(g.clients[a.slot], g.clients[b.slot]) < 0
}

// compareExactly orders two clients; it returns 0 only for the same one.
func compareExactly(a, b *Client) int {
	return cmp.Or(compareLevels(&a.exact, &b.exact), compareNames(a, b))
}

func (q *queue) size() int { return max(0, len(q.list)-root) }

// entries returns those of all clients, in the order of the heap.
func (q *queue) entries() []entry { return q.list[min(root, len(q.list)):] }

// change notes that the client of a slot is in the queue with another level, or not any more.
func (g *group) change(q *queue, slot int32) {
	if !q.kept || g.changed[slot]&q.mark != 0 {
		return
	}
	if len(q.changed) == cap(q.changed) {
		q.kept = false // it costs less to sort all
		return
	}
	g.changed[slot] |= q.mark
	q.changed = append(q.changed, slot)
}

// push adds a client at the end, from where it rises to its place. O(log n).
func (g *group) push(q *queue, client *Client) {
	if len(q.list) == 0 {
		q.list = append(q.list, make([]entry, root)...)
	}
	e := client.entry()
	q.list = append(q.list, e)
	g.up(q.list, len(q.list)-1, root, e)
	g.change(q, e.slot)
}

// remove takes out a client; one that is not in the queue stays out.
func (g *group) remove(q *queue, client *Client) {
	i, last := int(g.places[client.slot]), len(q.list)-1
	if i < 0 {
		return
	}
	g.places[client.slot] = -1
	moved := q.list[last]
	q.list = q.list[:last]
	if i < last {
		g.sift(q.list, i, moved)
	}
	g.change(q, client.slot)
}

// fix restores the order after the level of a client has changed.
func (g *group) fix(q *queue, client *Client) {
	if i := g.places[client.slot]; i >= 0 {
		g.sift(q.list, int(i), client.entry())
		g.change(q, client.slot)
	}
}

// sift puts e at place i, from where it rises or sinks.
func (g *group) sift(list []entry, i int, e entry) {
	if i > root && g.before(&e, &list[i/4+2]) {
		g.up(list, i, root, e)
	} else {
		g.down(list, i, e)
	}
}

// put sets the entry at place i and notes where it is.
func (g *group) put(list []entry, i int, e entry) {
	list[i] = e
	g.places[e.slot] = int32(i)
}

// up moves the hole at i towards its ancestor top, to where e belongs, and fills it.
func (g *group) up(list []entry, i, top int, e entry) {
	for i > top {
		parent := i/4 + 2
		if g.before(&list[parent], &e) {
			break
		}
		g.put(list, i, list[parent])
		i = parent
	}
	g.put(list, i, e)
}

// leastChild returns the place of the first of the children at child and behind it.
func (g *group) leastChild(list []entry, child int) int {
	first := child
	if child+4 <= len(list) {
		// Levels are not negative, so that their bits are in their order; which of four is the least is a matter of chance, and no branch
		// could be foreseen.
		four := (*[4]entry)(list[child:])
		a, b, c, d := math.Float64bits(four[0].level), math.Float64bits(four[1].level), math.Float64bits(four[2].level), math.Float64bits(four[3].level)
		ab, cd, left, right := min(a, b), min(c, d), 0, 2
		if b < a {
			left = 1
		}
		if d < c {
			right = 3
		}
		if cd < ab {
			left = right
		}
		if a != b && c != d && ab != cd {
			return child + left
		}
	}
	for other, end := child+1, min(child+4, len(list)); other < end; other++ {
		if g.before(&list[other], &list[first]) {
			first = other
		}
	}
	return first
}

// down moves the hole at top to a leaf, along the first child each time, and from there up to where e belongs. That is one
// comparison a level less than a look at e on the way down, and a client that was just served mostly belongs near the
// leaves.
func (g *group) down(list []entry, top int, e entry) {
	i := top
	for child := 4 * (i - 2); child < len(list); child = 4 * (i - 2) {
		first := g.leastChild(list, child)
		g.put(list, i, list[first])
		i = first
	}
	g.up(list, i, top, e) // not above top: heapify has not come there yet
}

// heapify computes all levels anew and makes a heap of the entries whatever their order.
func (g *group) heapify(q *queue) {
	q.kept = false
	if q.size() == 0 {
		return
	}
	for i := root; i < len(q.list); i++ {
		g.put(q.list, i, g.clients[q.list[i].slot].entry())
	}
	// From the last parent up to the root: each step finds heaps below it. O(n) in all.
	for i := (len(q.list)-1)/4 + 2; i >= root; i-- {
		g.down(q.list, i, q.list[i])
	}
}

// inOrder returns the entries in order. Where the order is known that they had before, only those that have changed are sorted.
// O(n + c log c) for c changes.
func (g *group) inOrder(q *queue) []entry {
	if q.size() == 0 {
		q.kept = false
		return nil
	}
	sort := func(list []entry) {
		slices.SortFunc(list, func(a, b entry) int {
			switch {
			case a.level < b.level:
				return -1
			case a.level > b.level:
				return 1
			case a.slot == b.slot:
				return 0
			case g.tied(&a, &b):
				return -1
			}
			return 1
		})
	}
	if q.kept {
		g.merge(q, sort)
	} else {
		q.sorted = append(q.sorted[:0], q.entries()...)
		sort(q.sorted)
	}
	for _, slot := range q.changed {
		g.changed[slot] &^= q.mark
	}
	if most := q.size() / changedPart; cap(q.changed) < most {
		q.changed = make([]int32, 0, most)
	}
	q.changed, q.kept = q.changed[:0], true
	return q.sorted
}

// changedPart is the part of the clients up to which changes are merged into the order: of more a merge would save little. It
// bounds the memory for them.
const changedPart = 4

// merge brings the entries that have changed into the order of the others.
func (g *group) merge(q *queue, sort func(list []entry)) {
	fresh := q.fresh[:0]
	for _, slot := range q.changed {
		if i := g.places[slot]; i >= 0 && g.queueOf(g.clients[slot]) == q {
			fresh = append(fresh, q.list[i])
		}
	}
	sort(fresh)
	q.fresh = fresh
	merged := q.scratch[:0]
	for i := range q.sorted {
		e := &q.sorted[i]
		if g.changed[e.slot]&q.mark != 0 {
			continue
		}
		for len(fresh) > 0 && g.before(&fresh[0], e) {
			merged, fresh = append(merged, fresh[0]), fresh[1:]
		}
		merged = append(merged, *e)
	}
	q.sorted, q.scratch = append(merged, fresh...), q.sorted
}
