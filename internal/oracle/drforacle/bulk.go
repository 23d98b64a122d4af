// This file implements progressive filling of whole containers refusal by refusal, [Ghodsi11]
// Algorithm 1, for claims whose containers are too many to be handed out one by one.

package drforacle

import "math/big"

// WholeInBulk returns what Whole returns, in a time that does not depend on the number of
// containers. Between two refusals it finds, in whole numbers, the container that does not fit any
// more: all containers that come before it in the order of filling are handed out at once.
func WholeInBulk(capacity []int64, claims []Claim, stopAtFirst bool) (containers []int64, floors bool) {
	counts, floors := start(capacity, claims)
	// Each round ends with a refusal, after which one claim is blocked: at most as many rounds as claims.
	// Nobody is blocked at first; who is unservable or at Max is not open, and needs no mark.
	b := &bulk{capacity, claims, counts, make([]bool, len(claims))}
	for {
		// The search looks at numbers of containers alone and hands out nothing.
		refused, at := b.firstRefused()
		// Nobody is refused any more: all that are open reach their Max.
		if refused < 0 {
			b.fillUp()
			break
		}
		// Everything that came before the refused container has been handed out.
		b.counts = b.ahead(refused, at)
		// Algorithm 1 as printed: the first refusal ends it for all.
		if stopAtFirst {
			break
		}
		b.blocked[refused] = true
	}
	// Counts are whole, so that the numerator is all of it.
	for _, count := range b.counts {
		containers = append(containers, count.Num().Int64())
	}
	return containers, floors
}

// bulk is a filling between two refusals.
// Between two refusals everybody who is open takes whatever comes next in the order.
type bulk struct {
	// counts has the containers of each claim, all of them whole numbers, kept as big.Rat for weighted.
	capacity []int64
	claims   []Claim
	counts   []*big.Rat
	blocked  []bool // refused before
}

// open reports whether claim i is still handed containers.
func (b *bulk) open(i int) bool {
	return !b.blocked[i] && !unservable(b.capacity, b.claims[i]) && b.counts[i].Cmp(whole(b.claims[i].Max)) < 0
}

// fillUp gives every open claim its Max.
// It is asked for only where all of that fits.
func (b *bulk) fillUp() {
	for i := range b.claims {
		if b.open(i) {
			b.counts[i] = whole(b.claims[i].Max)
		}
	}
}

// firstRefused returns the claim whose container is the first that does not fit, and how many
// containers that claim has by then; -1 where every claim reaches its Max. If a container of a claim
// fits together with everything ahead of it, so do the claim's earlier ones; the first that does not
// is found by halving.
// The halving asks O(log Max) times for each claim, and each answer costs O(n log Max + n K).
func (b *bulk) firstRefused() (refused int, at int64) {
	refused = -1
	for i, claim := range b.claims {
		if !b.open(i) {
			continue
		}
		// low is where the search stands: every container before the low-th fits. high: the high-th does not, or is Max.
		low, high := b.counts[i].Num().Int64(), claim.Max
		for low < high {
			if middle := low + (high-low)/2; b.fits(i, middle) {
				low = middle + 1
			} else {
				high = middle
			}
		}
		// Of all claims that will be refused, the one whose container is due first is refused first.
		if low < claim.Max && (refused < 0 || before(b.capacity, claim, whole(low), b.claims[refused], whole(at))) {
			refused, at = i, low
		}
	}
	return refused, at
}

// fits reports whether the container that claim i is handed when it has n fits together with all
// containers ahead of it.
// It changes nothing of b: ahead returns a list of its own.
func (b *bulk) fits(i int, n int64) bool {
	// A container that fits nobody's room is refused only if all that are handed out before it have been counted.
	after := b.ahead(i, n)
	after[i] = whole(n)
	// n containers and the one that is asked about.
	after[i].Add(after[i], whole(1))
	for k := range b.capacity {
		if left(b.capacity, b.claims, after, k).Sign() < 0 {
			return false
		}
	}
	return true
}

// ahead returns what every claim has when claim i, which has n, is due: an open claim was handed each
// container before which its weighted share was lower, or equal with the smaller ID.
// The count of claim i itself is n, since its own share grows with every container. The ID decides
// between equal shares as in Whole, or the two would refuse different containers.
func (b *bulk) ahead(i int, n int64) []*big.Rat {
	// The result is a new list each time: firstRefused asks for many.
	counts := make([]*big.Rat, len(b.claims))
	for j, claim := range b.claims {
		if !b.open(j) {
			// Who is not open keeps what it has.
			counts[j] = b.counts[j]
			continue
		}
		// Weighted shares grow with the count, so that the containers due before claim i are a prefix of those of j.
		low, high := b.counts[j].Num().Int64(), claim.Max
		for low < high {
			if middle := low + (high-low)/2; before(b.capacity, claim, whole(middle), b.claims[i], whole(n)) {
				low = middle + 1
			} else {
				high = middle
			}
		}
		counts[j] = whole(low)
	}
	return counts
}
