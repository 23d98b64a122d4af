// This file implements the pool of a demand type: its free applications share their containers,
// and the least loss of n containers among them is a convex function in closed form.

package problem

import (
	"slices"
)

// Pool is the free applications of one type. Utilization depends on the number of their containers
// only, so the search places containers of a type and hands them to applications at the end.
//
// The loss of one application falls by delta a container up to its fair count, changes by a
// fractional step in (-delta, delta) there, and rises by delta beyond. Taking the cheapest steps of
// all members first is exact because each member's own steps ascend:
//
//	G(n) = base - delta min(r, down) + (the r - down cheapest fractional steps) + delta (the rest)
//
// with r = n - min.
type Pool struct {
	Members  []int32
	Min, Max int64 // sums over the members
	N        int64 // containers placed, see Set
	base     float64
	down     int64
	slopes   []float64   // the fractional steps, ascending
	sums     []float64   // sums[s] is the sum of the first s slopes
	Loss     float64     // G(n)
	Extra    float64     // what n are worth beside their value
	only     *DemandType // where the only member may not have every number
	tally    Tally       // of n, where there is an only one
}

// Add makes application i a member; remove undoes it. O(members).
// Members keep the order in which they came; no figure depends on it but by rounding.
func (q *Pool) Add(p *Problem, i int32) {
	q.Members = append(q.Members, i)
	q.Rebuild(p)
}

// Remove undoes Add. O(members).
func (q *Pool) Remove(p *Problem, i int32) {
	at := slices.Index(q.Members, i)
	q.Members = slices.Delete(q.Members, at, at+1)
	q.Rebuild(p)
}

// Rebuild computes everything but n from the members.
func (q *Pool) Rebuild(p *Problem) {
	// N and what Set computes from it stay: they belong to the containers, which the caller changes by itself.
	q.Min, q.Max, q.base, q.down = 0, 0, 0, 0
	q.slopes, q.only = q.slopes[:0], nil
	for _, i := range q.Members {
		a := &p.Apps[i]
		if t := &p.Types[a.Type]; t.Own != nil {
			q.only = t
		}
		q.Min += a.Min
		// Max is saturated: each member's may be as large as the cluster, and the sum may leave int64.
		q.Max = AddSaturated(q.Max, a.Max)
		q.base += p.Loss(i, a.Min)
		// An application whose minimum lies above its fair count has only steps of +delta, which need no
		// entry: they follow after all others.
		if a.Fair < a.Min {
			continue
		}
		q.down = AddSaturated(q.down, a.Fair-a.Min)
		if a.Fair < a.Max {
			// The fractional step has the slope delta - 2 (s^_i - delta f), f the fair count; it is taken
			// from Loss, so that G agrees with the sum of the members' losses.
			q.slopes = append(q.slopes, p.Loss(i, a.Fair+1)-p.Loss(i, a.Fair))
		}
	}
	// Ascending slopes make every prefix the cheapest choice of that many steps.
	slices.Sort(q.slopes)
	// Prefix sums make At O(1), and At is computed for every move of the search.
	q.sums = append(q.sums[:0], 0)
	var sum float64
	for _, slope := range q.slopes {
		sum += slope
		q.sums = append(q.sums, sum)
	}
}

// Set says that the members have n containers, and looks up once what the searches ask about that number again and again. O(1).
func (q *Pool) Set(delta float64, n int64) {
	if q.N = n; q.only == nil {
		q.tally = Tally{}
	} else {
		q.tally = q.only.Tally(n)
	}
	q.Extra = q.tally.Extra
	if q.only != nil && q.only.StatesLosses() {
		q.Loss = q.towards(delta, n, q.tally.Loss)
	} else {
		q.Loss = q.closed(delta, n)
	}
}

// At returns G(n); below the minima each missing container costs another delta. O(1).
func (q *Pool) At(delta float64, n int64) float64 {
	if q.only != nil && q.only.StatesLosses() {
		return q.towards(delta, n, q.only.Tally(n).Loss)
	}
	return q.closed(delta, n)
}

// closed is G(n) in closed form.
func (q *Pool) closed(delta float64, n int64) float64 {
	r := n - q.Min
	if r <= q.down {
		// The containers missing to the minima are charged as steps of -delta that were not taken: G stays
		// convex, and a search is led towards the minima.
		if r < 0 {
			r = -r
			return q.base + float64(delta*float64(r))
		}
		return q.base - float64(delta*float64(r))
	}
	r -= q.down
	low := q.base - float64(delta*float64(q.down))
	// sums has one entry more than slopes, so that r = len(slopes) still lies within it.
	if r < int64(len(q.sums)) {
		return low + q.sums[r]
	}
	// All fractional steps are taken, and each further container costs +delta.
	last := len(q.sums) - 1
	return low + q.sums[last] + float64(delta*float64(r-int64(last)))
}

// towards is At where the only member states its losses, which need not be convex: loss with n containers.
func (q *Pool) towards(delta float64, n int64, loss float64) float64 {
	// A search is led towards the minimum as in At.
	if n < q.Min {
		loss += float64(delta * float64(q.Min-n))
	}
	return loss
}

// Rise returns what a container more brings beside its value, see Curve, as of the last Set.
func (q *Pool) Rise() float64 { return q.tally.Rise }

// Missing returns, as of the last Set, how many containers the members are away from a number that they may have: those that they lack
// to their minima, or to the next number that is allowed, above or below.
func (q *Pool) Missing() int64 {
	missing := max(0, q.Min-q.N)
	if q.only != nil {
		missing = max(missing, q.tally.Missing)
	}
	return missing
}

// Short returns, as of the last Set, how many containers more lead to the next number that the members may have, 0 where they
// have such a number or no larger one is allowed.
func (q *Pool) Short() int64 {
	if q.only != nil {
		return q.tally.Short
	}
	return max(0, q.Min-q.N)
}

// Over returns, as of the last Set, how many containers are to go where no larger number can be had: down to the next one that is
// allowed; 0 where the number is, or none below it.
func (q *Pool) Over() int64 { return q.tally.Over }

// Wanted returns the n in [min, max] with the largest price n - lambda G(n).
// G is convex, so that a step of slope s is taken while price > lambda s.
func (q *Pool) Wanted(price, lambda, delta float64) int64 {
	slope := float64(lambda * delta)
	// Every step costs at most +delta, so that all are taken.
	if price > slope {
		return q.Max
	}
	n := q.Min
	// Every step costs at least -delta, so that none is.
	if price <= -slope {
		return n
	}
	n += q.down
	// The slopes ascend: the first that costs too much ends the choice. O(fractional steps).
	for s := 0; s < len(q.slopes) && price > float64(lambda*q.slopes[s]); s++ {
		n++
	}
	return n
}
