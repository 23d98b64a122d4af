// This file implements the turn of a tree in rational numbers: whose container comes next, [Bhattacharya13].

package drforacle

import (
	"math/big"
)

// turn is the claim that a queue would serve next.
type turn struct {
	claim int
	level *big.Rat
	first bool
	id    string
	queue bool // queues come before claims of the same name
}

// next returns the turn of a queue, nil where nobody below it may be served.
func (h *hierarchy) next(id string) *turn {
	var best *turn
	consider := func(t *turn) {
		if best == nil || t.before(best) {
			best = t
		}
	}
	for _, q := range h.queues {
		if q.Parent != id {
			continue
		}
		inner := h.next(q.ID)
		if inner == nil {
			continue
		}
		demand := h.demand(inner.claim)
		t := &turn{claim: inner.claim, level: new(big.Rat), first: inner.first || h.below(q.ID, demand), id: q.ID, queue: true}
		for k, d := range demand {
			if d.Sign() > 0 {
				if level := h.level(h.used(q.ID, k), k, q.Weight); level.Cmp(t.level) > 0 {
					t.level = level
				}
			}
		}
		consider(t)
	}
	for i, m := range h.members {
		if m.Queue == id && h.open(i) {
			consider(&turn{claim: i, level: weighted(h.capacity, m.Claim, h.counts[i]), id: m.ID})
		}
	}
	return best
}

// before reports whether t comes before u.
func (t *turn) before(u *turn) bool {
	if t.first != u.first {
		return t.first
	}
	if order := t.level.Cmp(u.level); order != 0 {
		return order < 0
	}
	return t.id < u.id || t.id == u.id && t.queue && !u.queue
}

// quo returns x/y.
func quo(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }

// NextOfTree returns the claim that is due when each has so many containers and those that are idle ask for
// nothing, -1 where nobody is. Limits are not looked at.
func NextOfTree(capacity []int64, queues []Queue, members []Member, counts []int64, idle []bool) int {
	h := &hierarchy{capacity: capacity, queues: queues, members: members, done: idle, aside: make([]bool, len(members)), whole: true}
	for _, n := range counts {
		h.counts = append(h.counts, whole(n))
	}
	if next := h.next(""); next != nil {
		return next.claim
	}
	return -1
}
