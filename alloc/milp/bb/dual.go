// This file implements the dual simplex method for bounded variables, [Koberstein05] ch. 3, with
// exact steepest edge weights.

package bb

import "math"

// solve minimises from the present basis, whatever bounds have become since. limit ends the run as
// soon as the Lagrangian bound reaches it.
//
// The dual method runs first. Costs that a nonbasic variable cannot bear at any of its bounds
// (free, or the bound on the right side is infinite) are shifted to a reduced cost of 0 for
// that run; the primal method then minimises the true costs from the feasible basis found.
func (s *simplex) solve(limit float64) outcome {
	copy(s.work, s.cost)
	s.shifted = false
	s.recompute()
	for range 3 { // a second run may be needed when the primal method loses feasibility
		s.settleNonbasics()
		s.computeBasics()
		result := s.dual(limit)
		if result != optimal || !s.shifted {
			return result
		}
		copy(s.work, s.cost)
		s.shifted = false
		s.recompute()
		if result = s.primal(); result != optimal || s.feasible() {
			return result
		}
	}
	return trouble
}

// feasible reports whether every basic variable is within its bounds.
func (s *simplex) feasible() bool {
	for r := range s.m {
		if s.miss(r) != 0 {
			return false
		}
	}
	return true
}

// settleNonbasics puts every nonbasic variable at the bound that its reduced cost asks for, and
// shifts the costs of those that have no such bound.
func (s *simplex) settleNonbasics() {
	for j, d := range s.d {
		if s.place[j] >= 0 {
			continue
		}
		low, high := !math.IsInf(s.lower[j], 0), !math.IsInf(s.upper[j], 0)
		switch {
		case d > dualTol && low:
			s.x[j] = s.lower[j]
		case d < -dualTol && high:
			s.x[j] = s.upper[j]
		default:
			if math.Abs(d) > dualTol {
				s.shift(j, -d)
			}
			s.x[j] = nearest(s.x[j], s.lower[j], s.upper[j])
		}
	}
}

// shift changes the cost of a nonbasic variable for this run.
func (s *simplex) shift(j int, by float64) {
	s.work[j] += by
	s.d[j] += by
	s.shifted = true
}

// dual runs the dual simplex method: the most violated row leaves, relative to its steepest edge
// weight, until no row is violated.
func (s *simplex) dual(limit float64) outcome {
	stall, retried := 0, false
	for iteration := 1; ; iteration++ {
		if iteration%stopEvery == 0 && s.stop() {
			return stopped
		}
		if iteration > 100+20*(s.m+s.n) {
			return trouble
		}
		if s.pivots >= refactorEvery && !s.refactor() {
			return trouble
		}
		r, miss := s.mostViolated()
		if r < 0 {
			return optimal
		}
		s.priceRow(r)
		j := s.dualRatio(miss)
		if j < 0 {
			if s.provesInfeasible() {
				return infeasible
			}
			if retried || !s.refactor() {
				return trouble
			}
			retried = true
			continue
		}
		step, ok := s.dualPivot(r, j, miss)
		if !ok {
			if retried {
				return trouble
			}
			retried = true
			continue
		}
		retried = false
		if math.Abs(step*miss) > dualTol*primalTol {
			stall = 0
		} else if stall++; stall == stallLimit {
			s.perturb()
		}
		if !s.shifted && !math.IsInf(limit, 1) && iteration%boundEvery == 0 && s.bound() >= limit {
			return cutoff
		}
	}
}

// mostViolated returns the row with the largest miss^2/weight, the first on a tie, and its miss;
// -1 where every row is within its bounds.
func (s *simplex) mostViolated() (row int, miss float64) {
	row, best := -1, 0.0
	for r := range s.m {
		if d := s.miss(r); d != 0 && d*d > best*s.norms[r] {
			row, miss, best = r, d, d*d/s.norms[r]
		}
	}
	return row, miss
}

// dualRatio returns the variable whose reduced cost reaches 0 first when the row in s.row leaves
// with that miss; of those within the tolerance of first the one with the largest pivot. -1: none,
// the dual is unbounded.
func (s *simplex) dualRatio(miss float64) int {
	least := math.Inf(1)
	for j, a := range s.row {
		if s.mayEnter(j, a, miss) {
			least = math.Min(least, (math.Abs(s.d[j])+dualTol)/math.Abs(a))
		}
	}
	best, size := -1, 0.0
	for j, a := range s.row {
		if math.Abs(a) > size && s.mayEnter(j, a, miss) && math.Abs(s.d[j]) <= least*math.Abs(a) {
			best, size = j, math.Abs(a)
		}
	}
	return best
}

// mayEnter reports whether a nonbasic variable with entry a in the leaving row can move so that
// the miss shrinks: by miss/a, up from its lower bound or down from its upper.
func (s *simplex) mayEnter(j int, a, miss float64) bool {
	if math.Abs(a) <= pivotTol || s.place[j] >= 0 {
		return false
	}
	if a > 0 == (miss > 0) {
		return s.x[j] < s.upper[j]
	}
	return s.x[j] > s.lower[j]
}

// dualPivot lets variable j enter for row r, which s.row holds, and returns the dual step. Where the
// two computations of the pivot differ it makes the inverse afresh instead and reports false.
func (s *simplex) dualPivot(r, j int, miss float64) (step float64, ok bool) {
	s.computeColumn(j)
	pivot := s.column[r]
	if math.Abs(pivot-s.row[j]) > driftTol*(1+math.Abs(pivot)) {
		s.refactor()
		return 0, false
	}
	step = s.d[j] / s.row[j]
	for k, a := range s.row {
		if s.place[k] < 0 && math.Abs(a) > dropTol {
			s.d[k] -= float64(step * a)
		}
	}
	leaving := s.basis[r]
	s.d[leaving], s.d[j] = -step, 0
	s.move(j, miss/pivot)
	if s.x[leaving] = s.lower[leaving]; miss > 0 {
		s.x[leaving] = s.upper[leaving]
	}
	s.exchange(r, j)
	return step, true
}

// perturb changes the costs a little, each in the direction in which the variable stays dual
// feasible, so that ties end. The amounts depend on the index alone.
func (s *simplex) perturb() {
	for j := range s.d {
		if s.place[j] >= 0 || s.lower[j] == s.upper[j] {
			continue
		}
		amount := perturbation * (1 + float64((uint32(j)*2654435761)>>16)/65536)
		switch {
		case s.x[j] == s.lower[j]:
			s.shift(j, amount)
		case s.x[j] == s.upper[j]:
			s.shift(j, -amount)
		}
	}
}

// provesInfeasible checks the claim of s.row, a combination of the equations A x + s = 0, afresh:
// its least and largest value over the bounds must lie on one side of 0.
func (s *simplex) provesInfeasible() bool {
	least, most, size := 0.0, 0.0, 1.0
	for j, a := range s.row {
		if math.Abs(a) <= dropTol {
			continue
		}
		p, q := a*s.lower[j], a*s.upper[j]
		least += math.Min(p, q)
		most += math.Max(p, q)
		for _, x := range []float64{p, q} {
			if !math.IsInf(x, 0) {
				size = math.Max(size, math.Abs(x))
			}
		}
	}
	margin := primalTol / 2 * size
	return least > margin || most < -margin
}
