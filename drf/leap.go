// This file implements leaps of progressive filling: FillWhole of a tree without queues takes all containers below a level
// at once, [Ghodsi11] Algorithm 1.

package drf

import (
	"math"
	"math/bits"
)

// leapEvery is how many containers for each claim are handed out one by one before the next leap
// is tried: a leap looks at every claim up to 63 times.
// A smaller number would leap where single containers are cheaper, a larger one hand out more of them.
const leapEvery = 4

// leap hands out containers in bulk. Progressive filling takes every container whose claim has a
// weighted share below some level before any other container. So if all containers below that level
// fit, none of them is refused, and the outcome is the same in whatever order they are taken.
//
// The leap goes to the highest float64 level of that kind. Containers below a level are counted
// exactly, so the next container that is refused lies between that level and the next float64:
// each claim has at most one container there, or a 2^-52 part of what it has where that is more.
// The time of FillWhole therefore depends neither on how many containers fit nor on their sizes.
func (w *whole) leap() {
	// Every container below level 0 fits: there is none. All containers at twice the level of a
	// dominant share of 1 fit only where every Max does.
	// Levels are compared by their bits: for floats that are not negative the order is the same.
	low, high := uint64(0), uint64(0)
	root := &w.sorter.groups[0]
	for _, e := range root.rest.entries() {
		high = max(high, math.Float64bits(2*max(e.level, 1/root.clients[e.slot].weight)))
	}
	// Then nothing is refused any more, and one leap ends the filling.
	if w.fits(math.Float64frombits(high)) {
		low = high
	}
	// The search halves the numbers that the bits of the levels stand for, at most 62 times. fits holds at
	// low and does not at high, all the way.
	for high-low > 1 { // floats that are not negative are in the order of their bits
		if middle := low + (high-low)/2; w.fits(math.Float64frombits(middle)) {
			low = middle
		} else {
			high = middle
		}
	}
	// low may be the present level of all claims; then nothing is taken, and the next container goes on
	// its own.
	w.take(math.Float64frombits(low))
}

// fits reports whether all containers below level fit together in what is left.
// It stops at the first kind that lacks. What w.room holds afterwards means nothing. O(K n) at most.
func (w *whole) fits(level float64) bool {
	// A copy: a level that does not fit must leave the state as it was.
	root := &w.sorter.groups[0]
	room := w.room
	for k := range room {
		room[k] = w.sorter.total[k] - root.key.held[k]
	}
	for _, e := range root.rest.entries() {
		client := root.clients[e.slot]
		more := w.below(client, level)
		if more == 0 {
			continue
		}
		for k, q := range w.claims[client.claim].Demand {
			// more may be near 2^63 where a claim has no Max, and q as well.
			over, amount := bits.Mul64(uint64(more), uint64(q))
			if over > 0 || amount > uint64(room[k]) {
				return false
			}
			room[k] -= int64(amount)
		}
	}
	return true
}

// below returns how many more containers a claim is handed before its weighted share is at least
// level, within its Max.
// Never negative, although a claim with a Min may have more than the level asks for.
func (w *whole) below(client *Client, level float64) int64 {
	claim, has := &w.claims[client.claim], w.out.Claims[client.claim].Containers
	return max(0, min(countBelow(level, &w.unit[client.claim]), claim.Max)-has)
}

// take hands out the containers of a leap and orders the claims anew.
func (w *whole) take(level float64) {
	g := &w.sorter.groups[0]
	entries := g.rest.entries()
	g.rest.list = g.rest.list[:root]
	for _, e := range entries {
		client := g.clients[e.slot]
		// What fits has looked at these very numbers, so that nothing is refused here.
		if n := w.below(client, level); n > 0 {
			w.book(client, n)
			client.rate(w.sorter.shared, nil)
		}
		if !client.active {
			g.places[e.slot] = -1
			continue
		}
		// The list is filtered in place: what is written lies behind what has been read.
		g.rest.list = append(g.rest.list, e)
	}
	g.heapify(&g.rest)
	g.head = g.top()
}
