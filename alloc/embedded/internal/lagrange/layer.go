// This file holds a layer of a ledger: of all states that use the same those that no other one dominates, [Pisinger95].

package lagrange

import "slices"

// ledgerLayer is what choices for the first rows come to.
type ledgerLayer struct {
	*ledger
	rest   *ledgerRow // all that comes
	states []ledgerState
	// first finds the first state that uses so much: positions among the states, and -1 in free slots, of which more than half are.
	first []int32
	used  int
}

// slot returns the slot of what is used, by open addressing: a map takes several times as long. O(1) as a rule.
func (y *ledgerLayer) slot(use *[mostRows]int64) *int32 {
	// Multiplication by an odd number and a shift spread any amounts.
	var hash uint64
	for _, q := range use {
		hash = (hash ^ uint64(q)) * 0x9e3779b97f4a7c15
		hash ^= hash >> 29
	}
	for at := hash; ; at++ {
		slot := &y.first[at&uint64(len(y.first)-1)]
		if *slot < 0 || y.states[*slot].use == *use {
			return slot
		}
	}
}

// grow makes room for one more in first.
func (y *ledgerLayer) grow() {
	if 2*(y.used+1) < len(y.first) {
		return
	}
	old := y.first
	y.first = slices.Repeat([]int32{-1}, max(64, 2*len(old)))
	for _, at := range old {
		if at >= 0 {
			*y.slot(&y.states[at].use) = at
		}
	}
}

// add adds a state unless another dominates it, and returns how many it was compared with. Of two states that use the same one
// dominates that is worth no less and loses no more, as what follows brings both the same; losses count from where they can
// still break the budget (15).
func (y *ledgerLayer) add(state *ledgerState) (compared int64) {
	y.grow()
	slot := y.slot(&state.use)
	first := *slot
	worth, loss := y.worth(state), y.tight(state)
	for at := first; at >= 0; at = y.states[at].next {
		compared++
		other := &y.states[at]
		switch more, less := y.worth(other)-worth, loss-y.tight(other); {
		case more >= 0 && less >= 0:
			return compared
		case more <= 0 && less <= 0:
			state.next = other.next
			*other = *state
			return compared
		}
	}
	if first < 0 {
		y.used++
	}
	state.next = first
	*slot = int32(len(y.states))
	y.states = append(y.states, *state)
	return compared
}
