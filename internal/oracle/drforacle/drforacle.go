// This file implements progressive filling of claims without queues, [Ghodsi11] §4.1 and Algorithm 1, and what claims have
// alone.

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

// Fill returns the divisible containers of each claim and whether their minima were honoured: a list of claims is a tree without
// queues.
// Nothing is checked: every claim demands something and has a positive finite weight, or a division by
// zero panics. Capacity and claims stay as they are; the containers are fresh and in the order of the
// claims.
func Fill(capacity []int64, claims []Claim) (containers []*big.Rat, floors bool) {
	_, floors = start(capacity, claims)
	return FillTree(capacity, nil, alone(claims)), floors
}

// Whole returns the containers of each claim handed out one by one to the lowest weighted share,
// then the smallest ID. stopAtFirst ends with the first container that does not fit.
// It takes a turn for each container, so that clusters of tests must be small; WholeInBulk is for large
// ones.
func Whole(capacity []int64, claims []Claim, stopAtFirst bool) (containers []int64, floors bool) {
	_, floors = start(capacity, claims)
	return wholeTree(capacity, nil, alone(claims), stopAtFirst), floors
}

// alone returns claims as members of no queue.
func alone(claims []Claim) []Member {
	members := make([]Member, len(claims))
	for i, claim := range claims {
		members[i].Claim = claim
	}
	return members
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

func whole(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
