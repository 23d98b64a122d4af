// This file implements the future event list of a discrete-event simulation, [Law §1.3].

package sim

import (
	"container/heap"
	"time"
)

// Queue is the future event list: events on virtual time, earliest first, and those of one instant
// in the order in which they were pushed. The zero value is an empty queue.
//
// Push and Pop cost O(log n). An event cannot be taken back: its owner puts a version into it and
// skips it when it is out of date.
type Queue[E any] struct {
	heap   eventHeap[E]
	pushed int64
}

// Push adds an event that happens at the given instant.
func (q *Queue[E]) Push(at time.Duration, event E) {
	heap.Push(&q.heap, entry[E]{at: at, order: q.pushed, event: event})
	q.pushed++
}

// Pop removes the first event and returns it with its instant. ok is false if there is none.
func (q *Queue[E]) Pop() (at time.Duration, event E, ok bool) {
	if len(q.heap) == 0 {
		return 0, event, false
	}
	first := heap.Pop(&q.heap).(entry[E])
	return first.at, first.event, true
}

// Next returns the instant of the first event. ok is false if there is none.
func (q *Queue[E]) Next() (at time.Duration, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

type entry[E any] struct {
	at    time.Duration
	order int64
	event E
}

type eventHeap[E any] []entry[E]

func (h eventHeap[E]) Len() int      { return len(h) }
func (h eventHeap[E]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap[E]) Push(x any)   { *h = append(*h, x.(entry[E])) }

func (h eventHeap[E]) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}

func (h *eventHeap[E]) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = entry[E]{} // lets go of what the event holds
	*h = (*h)[:last]
	return e
}
