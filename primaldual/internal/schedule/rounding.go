// This file implements rounding: from the relaxation of a prefix of slots to a schedule.

package schedule

import (
	"cmp"
	"slices"
)

// tie is a slot whose hull has the slope lambda somewhere: its workers may lie anywhere on that edge.
type tie struct{ slot, width int }

// rounding turns hulls and lambda into a schedule that does exactly the work.
type rounding struct {
	workers []int64 // by slot
	ties    []tie   // of slope lambda, widest first
	open    []tie   // those that were too wide
}

// slopeTie is the relative difference below which two slopes count as equal.
const slopeTie = 1e-11

// overfills is how many ties round tries to overfill; more were not seen to help.
const overfills = 8

// round takes every edge cheaper than lambda, then edges of slope lambda, widest first, while they
// fit, and places what is left with the least damage. It returns the cost, inf where it found no
// schedule.
// What it finds is a schedule of exactly the work and an upper bound; nothing says that it is the best.
// O(slots x overfills).
func (x *rounding) round(p *prefix, h *hulls, lambda float64) float64 {
	// All that is cheaper than lambda belongs in, all that is dearer does not; of what costs lambda,
	// any part that makes up the work is as good as any other, up to the jumps between corners.
	left := p.work - x.start(p, h, lambda)
	slices.SortFunc(x.ties, func(a, b tie) int {
		return cmp.Or(cmp.Compare(b.width, a.width), cmp.Compare(a.slot, b.slot))
	})
	x.open = x.open[:0]
	for _, t := range x.ties {
		// Widest first leaves the smallest rest, which is what costs more than the bound.
		if t.width <= left {
			x.workers[t.slot] += int64(t.width)
			left -= t.width
		} else {
			x.open = append(x.open, t)
		}
	}
	if left > 0 && !x.finish(p, left) {
		return inf
	}
	return p.cost(x.workers)
}

// start gives each slot the workers on edges cheaper than lambda, collects the ties, and returns the
// number of workers given.
func (x *rounding) start(p *prefix, h *hulls, lambda float64) int {
	x.workers, x.ties = x.workers[:0], x.ties[:0]
	// Slopes are quotients of sums: two that are equal in the model may differ in their last digits.
	given, slack := 0, slopeTie*abs(lambda)
	for s := 0; s <= p.last; s++ {
		hull := h.of(p.tables.of[s])
		i := 0
		for i+1 < len(hull) && slope(hull[i], hull[i+1]) < lambda-slack {
			i++
		}
		// Up to y the hull is cheaper than lambda; from y to the next corner it costs lambda for each worker.
		y := hull[i].workers
		for i+1 < len(hull) && slope(hull[i], hull[i+1]) <= lambda+slack {
			i++
		}
		if width := hull[i].workers - y; width > 0 {
			x.ties = append(x.ties, tie{s, width})
		}
		x.workers = append(x.workers, int64(y))
		given += y
	}
	return given
}

// finish places left more workers: all in the slot where that costs least, or a whole tie that is too
// wide for them, with the excess taken from another slot. A tie that is too wide has room for them, so
// that this fails only where rounding has hidden all ties.
func (x *rounding) finish(p *prefix, left int) bool {
	// First the plain way: all that is left goes into one slot. Then each tie that was too wide is taken as a
	// whole, and the excess comes out of another slot.
	best, slot, width, trim := inf, -1, 0, -1
	for s := range x.workers {
		if cost := x.change(p, s, left); cost < best {
			best, slot, width = cost, s, left
		}
	}
	for _, t := range x.open[:min(len(x.open), overfills)] {
		up := x.change(p, t.slot, t.width)
		for s := range x.workers {
			if s == t.slot {
				continue
			}
			if cost := up + x.change(p, s, left-t.width); cost < best {
				best, slot, width, trim = cost, t.slot, t.width, s
			}
		}
	}
	if slot < 0 {
		return false
	}
	x.workers[slot] += int64(width)
	if trim >= 0 {
		x.workers[trim] -= int64(width - left)
	}
	return true
}

// change returns the cost of n more workers in slot s, inf where they do not fit.
func (x *rounding) change(p *prefix, s, n int) float64 {
	table := p.tables.Of(s)
	y := int(x.workers[s])
	if y+n < 0 || y+n >= len(table) {
		return inf
	}
	return table[y+n] - table[y]
}
