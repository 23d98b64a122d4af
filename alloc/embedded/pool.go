// This file implements the pool of a demand type: its free applications share their containers,
// and the least loss of n containers among them is a convex function in closed form.

package embedded

import "slices"

// pool is the free applications of one type. Utilization depends on the number of their containers
// only, so the search places containers of a type and hands them to applications at the end.
//
// The loss of one application falls by delta a container up to its fair count, changes by a
// fractional step in (-delta, delta) there, and rises by delta beyond. Taking the cheapest steps of
// all members first is exact because each member's own steps ascend:
//
//	G(n) = base - delta min(r, down) + (the r - down cheapest fractional steps) + delta (the rest)
//
// with r = n - min.
type pool struct {
	members  []int32
	min, max int64 // sums over the members
	n        int64 // containers placed
	base     float64
	down     int64
	slopes   []float64 // the fractional steps, ascending
	sums     []float64 // sums[s] is the sum of the first s slopes
	loss     float64   // G(n)
}

// add makes application i a member; remove undoes it. O(members).
func (q *pool) add(p *problem, i int32) {
	q.members = append(q.members, i)
	q.rebuild(p)
}

func (q *pool) remove(p *problem, i int32) {
	at := slices.Index(q.members, i)
	q.members = slices.Delete(q.members, at, at+1)
	q.rebuild(p)
}

// rebuild computes everything but n from the members.
func (q *pool) rebuild(p *problem) {
	q.min, q.max, q.base, q.down = 0, 0, 0, 0
	q.slopes = q.slopes[:0]
	for _, i := range q.members {
		a := &p.apps[i]
		q.min += a.min
		q.max = addSaturated(q.max, a.max)
		q.base += p.loss(i, a.min)
		if a.fair < a.min {
			continue
		}
		q.down = addSaturated(q.down, a.fair-a.min)
		if a.fair < a.max {
			q.slopes = append(q.slopes, p.loss(i, a.fair+1)-p.loss(i, a.fair))
		}
	}
	slices.Sort(q.slopes)
	q.sums = append(q.sums[:0], 0)
	var sum float64
	for _, slope := range q.slopes {
		sum += slope
		q.sums = append(q.sums, sum)
	}
}

// at returns G(n); below the minima each missing container costs another delta. O(1).
func (q *pool) at(delta float64, n int64) float64 {
	r := n - q.min
	if r <= q.down {
		if r < 0 {
			r = -r
			return q.base + float64(delta*float64(r))
		}
		return q.base - float64(delta*float64(r))
	}
	r -= q.down
	low := q.base - float64(delta*float64(q.down))
	if r < int64(len(q.sums)) {
		return low + q.sums[r]
	}
	last := len(q.sums) - 1
	return low + q.sums[last] + float64(delta*float64(r-int64(last)))
}

// missing returns how many containers the members lack to their minima.
func (q *pool) missing() int64 { return max(0, q.min-q.n) }

// wanted returns the n in [min, max] with the largest price n - lambda G(n).
func (q *pool) wanted(price, lambda, delta float64) int64 {
	slope := float64(lambda * delta)
	if price > slope {
		return q.max
	}
	n := q.min
	if price <= -slope {
		return n
	}
	n += q.down
	for s := 0; s < len(q.slopes) && price > float64(lambda*q.slopes[s]); s++ {
		n++
	}
	return n
}
