// This file implements progressive filling in rational numbers, [Ghodsi11] §4.1 and Algorithm 1,
// as slowly and plainly as possible.

// Package drforacle is the twin of package drf for its tests. It computes in rational numbers,
// keeps no running sums and no queues: every step looks at every claim anew.
package drforacle

import "math/big"

// Claim is one client; see drf.Claim.
// The fields are those of the claim under test; Weight is turned into the rational number that the float64 stands for.
type Claim struct {
	ID       string
	Demand   []int64
	Weight   float64
	Min, Max int64
}

// Fill returns the divisible containers of each claim and whether their minima were honoured.
// Every round ends with an event, of which each claim has a few and each kind one: the rounds are few.
// Each costs O(n² K) additions of rational numbers, whose digits grow from round to round.
// Nothing is checked: every claim demands something and has a positive finite weight, or a division by
// zero panics. Capacity and claims stay as they are; the containers are fresh and in the order of the
// claims.
func Fill(capacity []int64, claims []Claim) (containers []*big.Rat, floors bool) {
	counts, floors := start(capacity, claims)
	for {
		// 1. How far can the level rise before anything changes? 2. It rises by just that. 3. All is
		// looked at anew.
		step := smallestStep(capacity, claims, counts)
		if step == nil {
			return counts, floors
		}
		// All of the lowest claims rise together, each by its own pace, so that they stay level.
		low := lowest(capacity, claims, counts)
		for _, i := range low {
			counts[i].Add(counts[i], new(big.Rat).Mul(step, pace(capacity, claims[i])))
		}
	}
}

// lowest lists the claims at the lowest weighted share among those that may still grow.
// Shares are compared exactly: claims are level where their rational numbers are, which is the case
// that sums of float64 miss. Empty where nobody may grow. O(n² K), since each mayGrow adds up what is
// left.
func lowest(capacity []int64, claims []Claim, counts []*big.Rat) []int {
	var low []int
	for i, claim := range claims {
		if !mayGrow(capacity, claims, counts, i) {
			continue
		}
		if len(low) > 0 {
			switch weighted(capacity, claim, counts[i]).Cmp(weighted(capacity, claims[low[0]], counts[low[0]])) {
			// The claim is above the lowest level found so far.
			case 1:
				continue
			// The claim is below it: those collected so far are not the lowest.
			case -1:
				low = nil
			}
		}
		// Claims at the same level as the first one join it, and those below have emptied the list.
		low = append(low, i)
	}
	return low
}

// smallestStep returns by how much the level of the lowest claims rises until they meet the next
// claim, one has its maximum, or a kind is used up; nil where nobody may grow.
// A step is positive, so that Fill makes progress: a claim that may grow is below its Max and finds
// some of each kind that it demands.
func smallestStep(capacity []int64, claims []Claim, counts []*big.Rat) *big.Rat {
	low := lowest(capacity, claims, counts)
	if len(low) == 0 {
		return nil
	}
	// step is the shortest of all distances to an event; nil means that there is none yet.
	var step *big.Rat
	shorten := func(s *big.Rat) {
		// A distance of zero or less lies behind: its event has happened.
		if s.Sign() > 0 && (step == nil || s.Cmp(step) < 0) {
			step = s
		}
	}
	// All claims in low have this level, so the first one speaks for them.
	level := weighted(capacity, claims[low[0]], counts[low[0]])
	for i, claim := range claims {
		if mayGrow(capacity, claims, counts, i) {
			// A claim above the level (its minimum has put it there) joins when the level reaches it.
			shorten(new(big.Rat).Sub(weighted(capacity, claim, counts[i]), level))
			// A claim that is still above the level only stops the step early here, which costs a round and is no error.
			top := new(big.Rat).SetInt64(claim.Max)
			shorten(new(big.Rat).Sub(weighted(capacity, claim, top), level))
		}
	}
	for k := range capacity {
		// rate is what the lowest claims together take of kind k for each unit of level.
		// Claims above the level take nothing until it reaches them, and have no rate.
		rate := new(big.Rat)
		for _, i := range low {
			rate.Add(rate, new(big.Rat).Mul(pace(capacity, claims[i]), whole(claims[i].Demand[k])))
		}
		if rate.Sign() > 0 {
			shorten(new(big.Rat).Quo(left(capacity, claims, counts, k), rate))
		}
	}
	return step
}

// Whole returns the containers of each claim handed out one by one to the lowest weighted share,
// then the smallest ID. stopAtFirst ends with the first container that does not fit.
// It takes a round for each container, so that clusters of tests must be small; WholeInBulk is for large
// ones.
// A claim is looked at again only until its first refusal: what is left shrinks with every container,
// and nothing is ever given back.
func Whole(capacity []int64, claims []Claim, stopAtFirst bool) (containers []int64, floors bool) {
	counts, floors := start(capacity, claims)
	blocked := make([]bool, len(claims))
	for {
		// next is the claim that is due: of those that may have more, the first by before.
		next := -1
		for i := range claims {
			if blocked[i] || unservable(capacity, claims[i]) || counts[i].Cmp(whole(claims[i].Max)) >= 0 {
				continue
			}
			if next < 0 || before(capacity, claims[i], counts[i], claims[next], counts[next]) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		// The container is handed out as a whole or not at all.
		fits := true
		for k := range capacity {
			fits = fits && left(capacity, claims, counts, k).Cmp(whole(claims[next].Demand[k])) >= 0
		}
		if fits {
			// One container at a time, as in the listing: this is what makes the twin slow and plain.
			counts[next].Add(counts[next], whole(1))
			continue
		}
		if stopAtFirst {
			break
		}
		// What did not fit once never will: room only shrinks.
		blocked[next] = true
	}
	for _, count := range counts {
		containers = append(containers, count.Num().Int64())
	}
	return containers, floors
}

// before reports whether claim a with n containers is due before claim b with m: the lower weighted dominant share
// comes first, and of equal shares the smaller ID.
// IDs differ, so that of two claims exactly one is before the other.
func before(capacity []int64, a Claim, n *big.Rat, b Claim, m *big.Rat) bool {
	order := weighted(capacity, a, n).Cmp(weighted(capacity, b, m))
	return order < 0 || order == 0 && a.ID < b.ID
}

// start returns the minima, or zeros where they do not fit together.
// The minima are taken all together or not at all: to drop single ones would need an order among claims.
// The second result is false where they were dropped.
func start(capacity []int64, claims []Claim) ([]*big.Rat, bool) {
	// Both answers are prepared, and the test below chooses.
	counts, zeros := make([]*big.Rat, len(claims)), make([]*big.Rat, len(claims))
	for i, claim := range claims {
		counts[i], zeros[i] = new(big.Rat), new(big.Rat)
		if !unservable(capacity, claim) {
			// Who cannot be served counts nothing, and so takes nothing from the others' minima.
			counts[i].SetInt64(claim.Min)
		}
	}
	for k := range capacity {
		if left(capacity, claims, counts, k).Sign() < 0 {
			return zeros, false
		}
	}
	return counts, true
}

// mayGrow reports whether claim i may still be given something: it is below its Max, and of every kind that it asks
// for there is something left. A kind that it does not ask for does not stop it (the zero demands of
// Parkes, Procaccia and Shah).
func mayGrow(capacity []int64, claims []Claim, counts []*big.Rat, i int) bool {
	if unservable(capacity, claims[i]) || counts[i].Cmp(whole(claims[i].Max)) >= 0 {
		return false
	}
	for k, q := range claims[i].Demand {
		if q > 0 && left(capacity, claims, counts, k).Sign() <= 0 {
			return false
		}
	}
	return true
}

// unservable reports whether a claim asks for a kind of which the cluster has nothing at all. Such a claim has no
// dominant share (a division by zero), gets nothing and must not stop the others.
func unservable(capacity []int64, claim Claim) bool {
	for k, q := range claim.Demand {
		if q > 0 && capacity[k] == 0 {
			return true
		}
	}
	return false
}

// left returns what the claims leave of kind k, negative if they have more than there is. It is added up anew each
// time, so that no running sum can be wrong.
func left(capacity []int64, claims []Claim, counts []*big.Rat, k int) *big.Rat {
	room := whole(capacity[k])
	for i, claim := range claims {
		room.Sub(room, new(big.Rat).Mul(counts[i], whole(claim.Demand[k])))
	}
	return room
}

// delta is the dominant share of one container.
// It is max_k d_k / r_k, [Ghodsi11] §4.1.
func delta(capacity []int64, claim Claim) *big.Rat {
	// Kinds that the cluster has none of are no part of a share.
	most := new(big.Rat)
	for k, q := range claim.Demand {
		if capacity[k] > 0 {
			if share := big.NewRat(q, capacity[k]); share.Cmp(most) > 0 {
				most = share
			}
		}
	}
	return most
}

// pace is the number of containers for each unit of level.
// A demand of nothing has no pace and would divide by zero; package drf refuses it.
func pace(capacity []int64, claim Claim) *big.Rat {
	// SetFloat64 is exact: every float64 is a rational number.
	return new(big.Rat).Quo(new(big.Rat).SetFloat64(claim.Weight), delta(capacity, claim))
}

// weighted is the weighted dominant share of n containers.
// It is n delta / Weight, [Ghodsi11] §4.3.
func weighted(capacity []int64, claim Claim, n *big.Rat) *big.Rat {
	return new(big.Rat).Quo(n, pace(capacity, claim))
}

// whole returns n as a rational number.
func whole(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
