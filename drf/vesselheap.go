// This file holds the heaps of vessels by which a filling finds what happens next.

package drf

// vesselHeap orders vessels by a clock, equal ones by their positions.
type vesselHeap struct {
	list  []*vessel
	byDue bool // by due, else by level
}

// key returns the clock by which a vessel is ordered.
func (h *vesselHeap) key(v *vessel) *clock {
	if h.byDue {
		return &v.due
	}
	return &v.level
}

func (h *vesselHeap) before(a, b *vessel) bool {
	if order := h.key(a).compare(*h.key(b)); order != 0 {
		return order < 0
	}
	return a.position < b.position
}

// least returns the clock of the first vessel, never where there is none.
func (h *vesselHeap) least() clock {
	if len(h.list) == 0 {
		return never
	}
	return *h.key(h.list[0])
}

func (h *vesselHeap) push(v *vessel) {
	h.list = append(h.list, v)
	h.up(len(h.list)-1, v)
}

// pop takes out the first vessel.
func (h *vesselHeap) pop() *vessel {
	v := h.list[0]
	h.remove(v)
	return v
}

func (h *vesselHeap) remove(v *vessel) {
	last := len(h.list) - 1
	moved := h.list[last]
	h.list = h.list[:last]
	if v != moved {
		moved.place = v.place
		h.fix(moved)
	}
}

// fix puts a vessel where it belongs after its clock has changed.
func (h *vesselHeap) fix(v *vessel) {
	if at := v.place; at > 0 && h.before(v, h.list[(at-1)/2]) {
		h.up(at, v)
	} else {
		h.down(at, v)
	}
}

func (h *vesselHeap) put(at int, v *vessel) {
	h.list[at], v.place = v, at
}

// up moves a vessel up from a place to where it belongs.
func (h *vesselHeap) up(at int, v *vessel) {
	for parent := (at - 1) / 2; at > 0 && h.before(v, h.list[parent]); parent = (at - 1) / 2 {
		h.put(at, h.list[parent])
		at = parent
	}
	h.put(at, v)
}

// down moves a vessel down from a place to where it belongs.
func (h *vesselHeap) down(at int, v *vessel) {
	for child := 2*at + 1; child < len(h.list); child = 2*at + 1 {
		if child+1 < len(h.list) && h.before(h.list[child+1], h.list[child]) {
			child++
		}
		if h.before(v, h.list[child]) {
			break
		}
		h.put(at, h.list[child])
		at = child
	}
	h.put(at, v)
}
