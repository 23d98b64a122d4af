// This file says what a number of containers means to an application that may not have every number, or to which
// numbers are worth something by themselves.

package problem

// mostTallies bounds the numbers of an application that are looked up, of 48 bytes each; larger ones are computed.
const mostTallies = 256

// Tally returns what n containers mean to the only member of type t.
func (t *DemandType) Tally(n int64) Tally {
	// n >= 0, as a pool never has fewer containers than none.
	if n < int64(len(t.tallies)) {
		return t.tallies[n]
	}
	return t.tally(n)
}

// setTallies computes the tallies of numbers up to most.
func (t *DemandType) setTallies(most int64) {
	t.tallies, t.torn = nil, nil
	// A large Max keeps 256 entries, 12 KB: most numbers that a search asks for are small.
	for n := range min(most+1, mostTallies) {
		t.tallies = append(t.tallies, t.tally(n))
		if t.Own.Spread != nil {
			t.torn = append(t.torn, t.tornWith(n))
		}
	}
}

// tally computes one. O(log numbers).
func (t *DemandType) tally(n int64) Tally {
	var y Tally
	if t.Own.Losses != nil {
		y.Loss = t.Own.Loss(n)
	}
	if t.Curve != nil {
		y.Extra, y.Rise = t.Curve.Of(n), t.Curve.Rise(n)
	}
	if t.Own.Allows(n) {
		return y
	}
	// Where no number is allowed on either side, Missing is 1: the state must not look like a solution.
	y.Missing = 1
	below, above := t.Own.AtMost(n), t.Own.AtLeast(n)
	if below >= 0 {
		y.Missing, y.Over = n-below, n-below
	}
	if above >= 0 {
		y.Short = above - n
		// Missing is the distance to the nearer of the two, so that the penalty of a search falls whichever
		// way it goes.
		if below < 0 || y.Short < y.Missing {
			y.Missing = y.Short
		}
	}
	return y
}
