// This file says which numbers of containers an application may have, [Dorm (7), (8)] and beyond.

package solver

import "slices"

// Allows reports whether the application may have n containers: within [Min, Max], a multiple of Step and one of Counts, or
// none where it is Elective. With a Min of 0 it may have none whatever Counts lists. False for a negative n. O(log Counts).
func (a *App) Allows(n int64) bool {
	if n == 0 && a.Elective {
		return true
	}
	// None is a multiple of every step.
	if n < a.Min || n > a.Max || n < 0 || n%a.step() != 0 {
		return false
	}
	if a.Counts == nil || n == 0 && a.Min == 0 {
		return true
	}
	_, listed := slices.BinarySearch(a.Counts, n)
	return listed
}

// AtMost returns the largest number of containers up to n that the application may have, or -1: none.
// O(log Counts) where no step rules listed numbers out.
func (a *App) AtMost(n int64) int64 {
	if n < 0 {
		return -1
	}
	// Without a list the multiple of the step below is the only one to ask about; in a list those that are no multiples,
	// or below Min, are passed over.
	most := min(n, a.Max)
	if a.Counts == nil {
		most -= most % a.step()
	} else {
		at := a.listedAbove(most)
		most = -1
		for at--; at >= 0 && most < 0; at-- {
			if a.Allows(a.Counts[at]) {
				most = a.Counts[at]
			}
		}
	}
	// Most may be below Min; 0 is the last number of all.
	for _, n := range [...]int64{most, 0} {
		if n >= 0 && a.Allows(n) {
			return n
		}
	}
	return -1
}

// AtLeast returns the smallest number of containers from n on that the application may have, or -1: none.
// O(log Counts).
func (a *App) AtLeast(n int64) int64 {
	// None may be allowed where Min is not 0, see Elective, and then comes before all others.
	if n <= 0 && a.Allows(0) {
		return 0
	}
	n = max(n, a.Min)
	if a.Counts != nil {
		at, _ := slices.BinarySearch(a.Counts, n)
		for ; at < len(a.Counts); at++ {
			if a.Allows(a.Counts[at]) {
				return a.Counts[at]
			}
		}
		return -1
	}
	// The next multiple is compared with Max before it is computed, since it could overflow.
	if rest := n % a.step(); rest != 0 {
		if n > a.Max-(a.step()-rest) {
			return -1
		}
		n += a.step() - rest
	}
	if n > a.Max {
		return -1
	}
	return n
}

// listedAbove returns the position of the first listed number above n, len(Counts) where there is none.
func (a *App) listedAbove(n int64) int {
	at, listed := slices.BinarySearch(a.Counts, n)
	if listed {
		at++
	}
	return at
}

// step is Step, which is 1 where it is 0.
func (a *App) step() int64 { return max(1, a.Step) }

// around calls try with the allowed numbers next to n: the largest up to it, and the smallest from it on.
// A function that is concave has its maximum over the allowed numbers next to one of the points where its
// slope changes, or at an end.
func (a *App) around(n int64, try func(n int64)) {
	if at := a.AtMost(n); at >= 0 {
		try(at)
	}
	if at := a.AtLeast(n); at >= 0 {
		try(at)
	}
}
