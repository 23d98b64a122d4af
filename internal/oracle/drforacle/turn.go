// This file implements the turns of a tree in rational numbers, and progressive filling with whole containers, one turn after
// the other, [Bhattacharya13].

package drforacle

import (
	"math/big"
)

// WholeTree returns the containers of each claim, in the order of members, handed out one by one. It takes a turn of the whole
// tree for each container, so that clusters of tests must be small.
// What has stopped in the first pass stays so in the second: no container is given back between the
// two, so that no room comes about.
func WholeTree(capacity []int64, queues []Queue, members []Member) []int64 {
	return wholeTree(capacity, queues, members, false)
}

// wholeTree is WholeTree, which with stopAtFirst ends with the first container that does not fit.
func wholeTree(capacity []int64, queues []Queue, members []Member, stopAtFirst bool) []int64 {
	return newHierarchy(capacity, queues, members).handOut(stopAtFirst)
}

// handOut hands out containers until no claim is left.
func (h *hierarchy) handOut(stopAtFirst bool) []int64 {
	h.whole = true
	for h.within = true; ; h.within = false {
		// Each turn gives a container, stops a claim or sets one aside, so that a pass ends.
		for next := h.next(""); next != nil; next = h.next("") {
			// The container is given first and taken back if anything is too full then: no room is computed.
			i := next.claim
			// Who is within no guarantee is set aside when its turn comes.
			if h.within && !h.guaranteed(i) {
				h.aside[i] = true
				continue
			}
			h.counts[i].Add(h.counts[i], whole(1))
			// What does not fit is taken back, and its claim has stopped.
			if !h.fits() {
				h.counts[i].Sub(h.counts[i], whole(1))
				h.done[i] = true
				if stopAtFirst {
					return h.wholes()
				}
			}
		}
		if !h.within {
			break
		}
		// Who was set aside in the first pass takes part in the second.
		clear(h.aside)
	}
	return h.wholes()
}

// wholes returns the counts, which are whole.
func (h *hierarchy) wholes() []int64 {
	var containers []int64
	for _, count := range h.counts {
		containers = append(containers, count.Num().Int64())
	}
	return containers
}

// turn is the claim that a queue would serve next, as the queue above sees it: level and first are the queue's own and not
// those of the claim.
type turn struct {
	claim int
	level *big.Rat
	first bool
	id    string
	queue bool // queues come before claims of the same name
}

// next returns the turn of a queue, nil where nobody below it may be served.
// A queue asks its children for their turns before it has one of its own, so that the claim comes from
// the depth of the tree and the order from each queue on its way up.
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
		// Nobody below it asks for anything.
		if inner == nil {
			continue
		}
		demand := h.demand(inner.claim)
		// The level is that of the kinds that the next container demands, see drf.Tree.
		t := &turn{claim: inner.claim, level: new(big.Rat), first: inner.first || h.below(q.ID, demand), id: q.ID, queue: true}
		for k, d := range demand {
			if d.Sign() > 0 && h.shared[k] > 0 {
				if level := h.level(h.used(q.ID, k), k, q.Weight); level.Cmp(t.level) > 0 {
					t.level = level
				}
			}
		}
		consider(t)
	}
	for i, m := range h.members {
		if m.Queue == id && h.open(i) {
			// A claim has no guarantee of its own, so that first stays false.
			consider(&turn{claim: i, level: weighted(h.shared, m.Claim, h.counts[i]), id: m.ID})
		}
	}
	return best
}

// before reports whether t comes before u.
// Siblings of one sort have different names, so that of two turns exactly one is before the other. With
// ties left over, a comparison with package drf would depend on the order of lists.
func (t *turn) before(u *turn) bool {
	if t.first != u.first {
		return t.first
	}
	if order := t.level.Cmp(u.level); order != 0 {
		return order < 0
	}
	return t.id < u.id || t.id == u.id && t.queue && !u.queue
}

// NextOfTree returns the claim that is due when each has so many containers and those that are idle ask for
// nothing, -1 where nobody is. Limits are not looked at.
// Whoever is not idle demands only kinds that the cluster has some of; anything else divides by zero.
func NextOfTree(capacity []int64, queues []Queue, members []Member, counts []int64, idle []bool) int {
	// Idle claims are done, so that they take no turn, but what they hold counts in their queues.
	h := &hierarchy{capacity: capacity, shared: capacity, queues: queues, members: members, done: idle, aside: make([]bool, len(members)), whole: true}
	for _, n := range counts {
		h.counts = append(h.counts, whole(n))
	}
	if next := h.next(""); next != nil {
		return next.claim
	}
	return -1
}
