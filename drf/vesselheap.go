// This file holds the heaps of vessels by which a filling finds what happens next.

package drf

import (
	"cmp"
	"container/heap"
)

// vesselHeap orders vessels by a clock, equal ones by their positions.
type vesselHeap struct {
	list []*vessel
	key  func(v *vessel) *clock
}

func dueOf(v *vessel) *clock   { return &v.due }
func levelOf(v *vessel) *clock { return &v.level }

func (h *vesselHeap) push(v *vessel)   { heap.Push(h, v) }
func (h *vesselHeap) pop() *vessel     { return heap.Pop(h).(*vessel) }
func (h *vesselHeap) remove(v *vessel) { heap.Remove(h, v.place) }

// least returns the clock of the first vessel, never where there is none.
func (h *vesselHeap) least() clock {
	if len(h.list) == 0 {
		return never
	}
	return *h.key(h.list[0])
}

// Len implements heap.Interface.
func (h *vesselHeap) Len() int { return len(h.list) }

// Less implements heap.Interface.
func (h *vesselHeap) Less(i, j int) bool {
	a, b := h.list[i], h.list[j]
	return cmp.Or(h.key(a).compare(*h.key(b)), cmp.Compare(a.position, b.position)) < 0
}

// Swap implements heap.Interface.
func (h *vesselHeap) Swap(i, j int) {
	h.list[i], h.list[j] = h.list[j], h.list[i]
	h.list[i].place, h.list[j].place = i, j
}

// Push implements heap.Interface.
func (h *vesselHeap) Push(x any) {
	v := x.(*vessel)
	v.place = len(h.list)
	h.list = append(h.list, v)
}

// Pop implements heap.Interface.
func (h *vesselHeap) Pop() any {
	last := len(h.list) - 1
	v := h.list[last]
	h.list = h.list[:last]
	return v
}
