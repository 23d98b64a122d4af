// This file implements progressive filling of whole containers refusal by refusal, [Ghodsi11]
// Algorithm 1, for claims whose containers are too many to be handed out one by one.

package drforacle

import "math/big"

// WholeInBulk returns what Whole returns, in a time that does not depend on the number of
// containers. Between two refusals it finds, in whole numbers, the container that does not fit any
// more: all containers that come before it in the order of filling are handed out at once.
func WholeInBulk(capacity []int64, claims []Claim, stopAtFirst bool) (containers []int64, floors bool) {
	counts, floors := start(capacity, claims)
	blocked := make([]bool, len(claims))
	for {
		refused, at := firstRefused(capacity, claims, counts, blocked)
		for j := range claims {
			if refused < 0 && open(capacity, claims, counts, blocked, j) {
				counts[j] = whole(claims[j].Max)
			} else if refused >= 0 && open(capacity, claims, counts, blocked, j) {
				counts[j] = whole(ahead(capacity, claims, counts, j, refused, at))
			}
		}
		if refused < 0 || stopAtFirst {
			break
		}
		blocked[refused] = true
	}
	for _, count := range counts {
		containers = append(containers, count.Num().Int64())
	}
	return containers, floors
}

// open reports whether a claim is still handed containers.
func open(capacity []int64, claims []Claim, counts []*big.Rat, blocked []bool, i int) bool {
	return !blocked[i] && !unservable(capacity, claims[i]) && counts[i].Cmp(whole(claims[i].Max)) < 0
}

// firstRefused returns the claim whose container is the first that does not fit, and how many
// containers that claim has by then; -1 where every claim reaches its Max. Of the containers of one
// claim those before the first that does not fit together with everything ahead of it do fit, so
// that this one is found by halving.
func firstRefused(capacity []int64, claims []Claim, counts []*big.Rat, blocked []bool) (refused int, at int64) {
	refused = -1
	for i := range claims {
		if !open(capacity, claims, counts, blocked, i) {
			continue
		}
		low, high := counts[i].Num().Int64(), claims[i].Max // container number low may fit, number high is not asked for
		for low < high {
			if middle := low + (high-low)/2; fitsWithAhead(capacity, claims, counts, blocked, i, middle) {
				low = middle + 1
			} else {
				high = middle
			}
		}
		if low < claims[i].Max && (refused < 0 || before(capacity, claims[i], whole(low), claims[refused], whole(at))) {
			refused, at = i, low
		}
	}
	return refused, at
}

// fitsWithAhead reports whether the container that claim i is handed when it has n fits together
// with all containers ahead of it.
func fitsWithAhead(capacity []int64, claims []Claim, counts []*big.Rat, blocked []bool, i int, n int64) bool {
	after := make([]*big.Rat, len(claims))
	for j := range claims {
		after[j] = counts[j]
		if open(capacity, claims, counts, blocked, j) {
			after[j] = whole(ahead(capacity, claims, counts, j, i, n))
		}
	}
	after[i] = new(big.Rat).Add(whole(n), whole(1))
	for k := range capacity {
		if left(capacity, claims, after, k).Sign() < 0 {
			return false
		}
	}
	return true
}

// ahead returns how many containers claim j has when claim i, which has n, is due: it is handed
// every container at which its weighted share is lower, or equal with the smaller ID.
func ahead(capacity []int64, claims []Claim, counts []*big.Rat, j, i int, n int64) int64 {
	low, high := counts[j].Num().Int64(), claims[j].Max
	if j == i {
		return max(low, n)
	}
	for low < high {
		if middle := low + (high-low)/2; before(capacity, claims[j], whole(middle), claims[i], whole(n)) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
