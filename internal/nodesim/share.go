// This file implements the sharing of one worker's CPU: max-min fair with soft limits, after the
// usages reported in [Zheng] §6.1.3 and §6.1.4.

package nodesim

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Share is a part of one worker's CPU, in millionths.
type Share int64

// Whole is a whole worker.
const Whole Share = 1_000_000

// ShareOf returns the share that is nearest to a fraction of a worker; at least one millionth, so
// that a job with the least limit is not stopped for ever.
func ShareOf(fraction float64) Share {
	return max(1, Share(math.Round(fraction*float64(Whole))))
}

// Fraction returns the share as a fraction of a worker.
func (s Share) Fraction() float64 { return float64(s) / float64(Whole) }

// Work is CPU time in millionths of a nanosecond of a whole worker: a share times a time.
type Work int64

// WorkOf returns the work that a whole worker does in d.
func WorkOf(d time.Duration) Work { return Work(d) * Work(Whole) }

// Time returns the time that a whole worker takes.
func (w Work) Time() time.Duration { return time.Duration(w / Work(Whole)) }

// Divide shares a capacity among jobs with limits and demands, which are not negative. First each
// gets up to the smaller of its limit and its demand, max-min fair; then what is left is shared in
// the same way up to the demands, as if there were no limits. The result adds up to the smaller of
// the capacity and the sum of the demands exactly; jobs with equal claims differ by one millionth
// at most, in favour of the later. O(n log n).
func Divide(capacity Share, limits, demands []Share) []Share {
	got := make([]Share, len(demands))
	claims := make([]Share, len(demands))
	for i, demand := range demands {
		claims[i] = min(limits[i], demand)
	}
	capacity -= fill(got, claims, capacity)
	for i, demand := range demands {
		claims[i] = demand - got[i]
	}
	fill(got, claims, capacity)
	return got
}

// fill adds to got up to the claims, max-min fair, and returns how much it added: the smallest
// claim takes at most an even part of the capacity, the next an even part of the rest, and so on.
func fill(got, claims []Share, capacity Share) Share {
	order := make([]int, len(claims))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(claims[a], claims[b]) })
	left := capacity
	for place, i := range order {
		part := min(claims[i], left/Share(len(order)-place))
		got[i] += part
		left -= part
	}
	return capacity - left
}
