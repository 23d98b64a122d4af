// This file implements progressive filling of a tree in rational numbers, [Bhattacharya13], as slowly and
// plainly as possible.

package drforacle

import (
	"math/big"
)

// Queue is one node of a tree; see drf.Queue. The vectors are as long as the capacity; a ceiling below 0 is none.
// Parent is "" for the uppermost queues. IDs are unique, every Parent exists and no queue is above
// itself: package drf refuses other trees, and here a cycle would not end.
type Queue struct {
	ID, Parent         string
	Weight             float64
	Guarantee, Ceiling []int64
}

// Member is a claim and the queue that it belongs to, "" for none: it is then a sibling of the uppermost queues.
type Member struct {
	Claim
	Queue string
}

// hierarchy is a tree and what its claims have. Nothing but counts is kept: every use is added up anew.
type hierarchy struct {
	capacity []int64
	// shared is what shares are taken of: the capacity, but 0 of kinds that count as derived ones, which no guarantee is
	// asked for either.
	shared  []int64
	queues  []Queue
	members []Member
	counts  []*big.Rat
	// done are the claims that have stopped, for good: what does not fit once never will. aside are those that the pass within
	// guarantees has passed over, and which the next pass serves.
	done  []bool
	aside []bool
	// within says that only claims within a guarantee are served, and whole that a container is handed out as a whole.
	within, whole bool
}

// FillTree returns the divisible containers of each claim, in the order of members.
// As in Fill every round ends with an event: a queue or a claim stops, a sibling joins those that are served, or a guarantee
// ends. Its length is the horizon of the stream, and all that are served rise by their speeds for that long.
// It starts from the minima that fit. Every use is added up again for each question, so that a dozen of
// claims is a large tree.
func FillTree(capacity []int64, queues []Queue, members []Member) []*big.Rat {
	return newHierarchy(capacity, queues, members).fill()
}

// fill serves claims until none can be served.
func (h *hierarchy) fill() []*big.Rat {
	// Two passes: within guarantees, and then without regard to them.
	for h.within = true; ; h.within = false {
		for {
			h.stopAtLimits()
			s := h.flow("")
			if s == nil {
				break
			}
			for i, speed := range s.speeds {
				h.counts[i].Add(h.counts[i], new(big.Rat).Mul(speed, s.horizon))
			}
		}
		if !h.within {
			return h.counts
		}
	}
}

// newHierarchy returns the state in which every claim has its minimum. The minima below a queue are dropped where they do
// not fit it, lowest queues first.
func newHierarchy(capacity []int64, queues []Queue, members []Member) *hierarchy {
	h := &hierarchy{capacity: capacity, shared: capacity, queues: queues, members: members, done: make([]bool, len(members)), aside: make([]bool, len(members))}
	// Who asks for what the cluster has none of is done before it begins, and holds up nobody.
	for i, m := range members {
		h.counts = append(h.counts, new(big.Rat))
		if unservable(capacity, m.Claim) {
			h.done[i] = true
		} else {
			h.counts[i].SetInt64(m.Min)
		}
	}
	h.dropMinima("")
	return h
}

// dropMinima drops the minima below a queue that do not fit it, after those of the queues below.
// The root is a queue as well here: minima that fit every queue may still be more than the cluster has.
func (h *hierarchy) dropMinima(id string) {
	// The lowest queues drop first, so that nobody loses a minimum to a queue elsewhere that asks for too much.
	for _, q := range h.queues {
		if q.Parent == id {
			h.dropMinima(q.ID)
		}
	}
	for k := range h.capacity {
		// All members below lose theirs, whichever kind lacks; further kinds then find nothing to drop.
		if limit := h.ceiling(id, k); limit != nil && h.used(id, k).Cmp(limit) > 0 {
			for i := range h.members {
				if h.isBelow(i, id) {
					h.counts[i] = new(big.Rat)
				}
			}
		}
	}
}

func (h *hierarchy) queue(id string) Queue {
	for _, q := range h.queues {
		if q.ID == id {
			return q
		}
	}
	// The test has named a queue that it did not list, which drf.Tree would have refused.
	panic("no queue " + id)
}

// path lists the queues above claim i, the root "" last.
func (h *hierarchy) path(i int) []string {
	var ids []string
	// A path ends at the root, which every member is below.
	for id := h.members[i].Queue; id != ""; id = h.queue(id).Parent {
		ids = append(ids, id)
	}
	return append(ids, "")
}

// isBelow reports whether claim i is below the queue called id.
// Everybody is below the root "", so that used("", k) is the use of the whole cluster.
func (h *hierarchy) isBelow(i int, id string) bool {
	for _, above := range h.path(i) {
		if above == id {
			return true
		}
	}
	return false
}

// used adds up what all claims below a queue have of kind k.
// Nothing is remembered between two questions: a running sum is what this twin is there to check.
func (h *hierarchy) used(id string, k int) *big.Rat {
	sum := new(big.Rat)
	for i, m := range h.members {
		if h.isBelow(i, id) {
			sum.Add(sum, new(big.Rat).Mul(h.counts[i], whole(m.Demand[k])))
		}
	}
	return sum
}

// ceiling returns the limit of a queue for kind k, that of the root being the capacity; nil for none.
func (h *hierarchy) ceiling(id string, k int) *big.Rat {
	if id == "" {
		return whole(h.capacity[k])
	}
	if limit := h.queue(id).Ceiling[k]; limit >= 0 {
		return whole(limit)
	}
	return nil
}

// guarantee returns what a queue is guaranteed of kind k.
// The root guarantees nothing: if it did, every claim would be within a guarantee, and the pass for
// guarantees would serve all.
func (h *hierarchy) guarantee(id string, k int) *big.Rat {
	if id == "" {
		return new(big.Rat)
	}
	return whole(h.queue(id).Guarantee[k])
}

// below reports whether a queue would still be within its guarantee with more of each kind that wanted has: a
// container of these quantities where they are whole, any more where not.
func (h *hierarchy) below(id string, wanted []*big.Rat) bool {
	for k, more := range wanted {
		// A kind that is not wanted is no obstacle, whatever is left of its guarantee.
		if more.Sign() == 0 || h.shared[k] == 0 {
			continue
		}
		// Divisible wishes are as small as one likes: any room is enough; a whole container needs all of it.
		room := new(big.Rat).Sub(h.guarantee(id, k), h.used(id, k))
		if h.whole && room.Cmp(more) < 0 || !h.whole && room.Sign() <= 0 {
			return false
		}
	}
	return true
}

func (h *hierarchy) demand(i int) []*big.Rat {
	var demand []*big.Rat
	for _, q := range h.members[i].Demand {
		demand = append(demand, whole(q))
	}
	return demand
}

// open reports whether claim i may be served at present.
func (h *hierarchy) open(i int) bool {
	if h.done[i] || h.aside[i] || h.counts[i].Cmp(whole(h.members[i].Max)) >= 0 {
		return false
	}
	// Whole containers are set aside by WholeTree when their turn comes.
	return h.whole || !h.within || h.guaranteed(i)
}

// guaranteed reports whether more of claim i is within any guarantee above it.
func (h *hierarchy) guaranteed(i int) bool {
	for _, id := range h.path(i) {
		if h.below(id, h.demand(i)) {
			return true
		}
	}
	return false
}

// fits reports whether nothing is above any ceiling.
// It looks at all queues, also at those that are not above the container in question: the minima were
// made to fit before.
func (h *hierarchy) fits() bool {
	for k := range h.capacity {
		if h.used("", k).Cmp(h.ceiling("", k)) > 0 {
			return false
		}
		for _, q := range h.queues {
			if limit := h.ceiling(q.ID, k); limit != nil && h.used(q.ID, k).Cmp(limit) > 0 {
				return false
			}
		}
	}
	return true
}

// stopAtLimits stops every claim above which a kind that it demands has reached its ceiling.
// A step of FillTree ends exactly where a ceiling is reached, so that the comparison needs no
// tolerance.
func (h *hierarchy) stopAtLimits() {
	for i, m := range h.members {
		// A limit anywhere above stops the member: the cluster is the limit of the root.
		for _, id := range h.path(i) {
			for k, q := range m.Demand {
				if limit := h.ceiling(id, k); q > 0 && limit != nil && h.used(id, k).Cmp(limit) >= 0 {
					h.done[i] = true
				}
			}
		}
	}
}

// level is a weighted share of amount in kind k.
// The kind is one that somebody who may be served demands: its capacity is not 0, or that claim would
// be done.
func (h *hierarchy) level(amount *big.Rat, k int, weight float64) *big.Rat {
	share := new(big.Rat).Quo(amount, whole(h.shared[k]))
	return share.Quo(share, new(big.Rat).SetFloat64(weight))
}

// stream is how a claim or a queue would be served: its level, whether it is below its guarantee, the containers
// of each claim for a unit of its level, and the rise of its level until something changes.
type stream struct {
	level   *big.Rat
	first   bool
	speeds  map[int]*big.Rat
	horizon *big.Rat
}

// flow returns the stream of a queue, nil where nobody below it may be served.
func (h *hierarchy) flow(id string) *stream {
	least, next := h.least(h.streams(id))
	if least == nil {
		return nil
	}
	s := &stream{first: least[0].first, speeds: make(map[int]*big.Rat), level: new(big.Rat)}
	// An event that lies behind, or just here, is none any more.
	shorten := func(by *big.Rat) {
		if by.Sign() > 0 && (s.horizon == nil || by.Cmp(s.horizon) < 0) {
			s.horizon = by
		}
	}
	// All that are least rise together; what stops any of them stops this queue.
	for _, child := range least {
		shorten(child.horizon)
		for i, speed := range child.speeds {
			s.speeds[i] = speed
		}
	}
	// The next child above them joins when they have come up to its level.
	if next != nil {
		shorten(new(big.Rat).Sub(next, least[0].level))
	}
	// rates are the use of each kind for a unit of the children's level.
	rates := make([]*big.Rat, len(h.capacity))
	for k := range rates {
		rates[k] = new(big.Rat)
		for i, speed := range s.speeds {
			rates[k].Add(rates[k], new(big.Rat).Mul(speed, whole(h.members[i].Demand[k])))
		}
		if rates[k].Sign() > 0 {
			if limit := h.ceiling(id, k); limit != nil {
				shorten(quo(new(big.Rat).Sub(limit, h.used(id, k)), rates[k]))
			}
			// Where a guarantee ends the order changes, even if nobody stops.
			shorten(quo(new(big.Rat).Sub(h.guarantee(id, k), h.used(id, k)), rates[k]))
		}
	}
	// Nobody compares the level of the root. Its speeds and its horizon stay in units of its children's
	// level, and FillTree multiplies the two.
	if id == "" {
		return s
	}
	s.first = s.first || h.below(id, rates)
	// From here on in units of this queue's own level, which is what its parent compares.
	slope := h.slope(id, rates, s, shorten)
	for i, speed := range s.speeds {
		s.speeds[i] = quo(speed, slope)
	}
	s.horizon = new(big.Rat).Mul(s.horizon, slope)
	return s
}

// slope sets the level of a queue and returns its rise for a unit of its children's level.
func (h *hierarchy) slope(id string, rates []*big.Rat, s *stream, shorten func(*big.Rat)) *big.Rat {
	weight, slope := h.queue(id).Weight, new(big.Rat)
	for k, rate := range rates {
		if rate.Sign() > 0 && h.shared[k] > 0 {
			// The kind with the largest share counts, of several the one that rises fastest.
			switch level := h.level(h.used(id, k), k, weight); level.Cmp(s.level) {
			case 1:
				s.level, slope = level, h.level(rate, k, weight)
			case 0:
				if rise := h.level(rate, k, weight); rise.Cmp(slope) > 0 {
					slope = rise
				}
			}
		}
	}
	// A kind that rises faster comes to be the one that counts.
	for k, rate := range rates {
		if rate.Sign() > 0 && h.shared[k] > 0 {
			if faster := new(big.Rat).Sub(h.level(rate, k, weight), slope); faster.Sign() > 0 {
				shorten(quo(new(big.Rat).Sub(s.level, h.level(h.used(id, k), k, weight)), faster))
			}
		}
	}
	return slope
}

// streams lists the children of a queue that may be served.
// The order of the list does not matter: least takes all that are level, and neither names nor places
// decide.
func (h *hierarchy) streams(id string) []*stream {
	var list []*stream
	for _, q := range h.queues {
		if q.Parent == id {
			if s := h.flow(q.ID); s != nil {
				list = append(list, s)
			}
		}
	}
	for i, m := range h.members {
		if m.Queue == id && h.open(i) {
			// A member alone rises until it has its Max.
			rise := new(big.Rat).Sub(whole(m.Max), h.counts[i])
			list = append(list, &stream{
				level:   weighted(h.shared, m.Claim, h.counts[i]),
				speeds:  map[int]*big.Rat{i: pace(h.shared, m.Claim)},
				horizon: quo(rise, pace(h.shared, m.Claim)),
			})
		}
	}
	return list
}

// least returns the streams that are served, and the least level above theirs of others like them, nil where
// there is none.
func (h *hierarchy) least(list []*stream) (served []*stream, next *big.Rat) {
	// If any child is below its guarantee only such children are looked at.
	first := false
	for _, s := range list {
		first = first || s.first
	}
	for _, s := range list {
		if s.first == first && (len(served) == 0 || s.level.Cmp(served[0].level) < 0) {
			served = []*stream{s}
		}
	}
	for _, s := range list {
		switch {
		// The first of the least is in the list already, and the others are of the other sort.
		case s.first != first || s == served[0]:
		case s.level.Cmp(served[0].level) == 0:
			served = append(served, s)
		case next == nil || s.level.Cmp(next) < 0:
			next = s.level
		}
	}
	return served, next
}

func quo(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
