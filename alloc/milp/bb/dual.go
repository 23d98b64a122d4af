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
	// A run before may have left costs shifted or perturbed. The basis stays, the costs are the
	// true ones again.
	copy(s.work, s.cost)
	s.shifted = false
	s.recompute()
	for range 3 { // a second run may be needed when the primal method loses feasibility
		// Nonbasic variables first: the values of the basic ones follow from theirs.
		s.settleNonbasics()
		s.computeBasics()
		result := s.dual(limit)
		// Infeasible holds for every objective, and without shifted costs optimal is the truth.
		if result != optimal || !s.shifted {
			return result
		}
		// The basis is primal feasible now and the true costs are back: what the primal method
		// needs.
		copy(s.work, s.cost)
		s.shifted = false
		s.recompute()
		// Pivots of the primal method may lose feasibility by rounding. Then the dual one repairs
		// that, from a nearby basis.
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
		// Minimising, a positive reduced cost holds the variable at its lower bound, a negative
		// one at its upper.
		case d > dualTol && low:
			s.x[j] = s.lower[j]
		case d < -dualTol && high:
			s.x[j] = s.upper[j]
		default:
			// No bound bears this sign. The cost moves by -d, to a reduced cost of 0, which any
			// place bears.
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
		// The question may take a look at the clock, so not every pivot asks.
		if iteration%stopEvery == 0 && s.stop() {
			return stopped
		}
		// Far more pivots than rows and variables mean a cycle that perturbation has not broken.
		// The node is split then.
		if iteration > 100+20*(s.m+s.n) {
			return trouble
		}
		// Each update adds rounding to the inverse, so it is made afresh in time.
		if s.pivots >= refactorEvery && !s.refactor() {
			return trouble
		}
		// Step 1, pricing: the row that leaves.
		r, miss := s.mostViolated()
		if r < 0 {
			return optimal
		}
		// Step 2, the pivot row alpha_r = row r of B^-1 [A I].
		s.priceRow(r)
		// Step 3, the ratio test: the variable that enters.
		j := s.dualRatio(miss)
		if j < 0 {
			// No variable may enter: the row is a proof of infeasibility, unless rounding has made
			// it up.
			if s.provesInfeasible() {
				return infeasible
			}
			if retried || !s.refactor() {
				return trouble
			}
			retried = true
			continue
		}
		// Step 4, the update of values, reduced costs and inverse.
		step, ok := s.dualPivot(r, j, miss)
		if !ok {
			if retried {
				return trouble
			}
			retried = true
			continue
		}
		retried = false
		// step*miss is how much the dual objective grows. Where it stays, the method may be
		// cycling.
		if math.Abs(step*miss) > dualTol*primalTol {
			stall = 0
		} else if stall++; stall == stallLimit {
			s.perturb()
		}
		// The dual objective only grows, so a node may be given up before it is solved. Shifted
		// costs prove nothing about the true ones. The bound costs a product with the whole
		// matrix, hence not every pivot.
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
		// miss^2/norm is the squared distance to the violated bound along the edge. The comparison
		// is multiplied out.
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
	// Pass 1 of the test of Harris: each reduced cost may pass 0 by dualTol, and least is the
	// smallest step that one allows.
	least := math.Inf(1)
	for j, a := range s.row {
		if s.mayEnter(j, a, miss) {
			least = min(least, (math.Abs(s.d[j])+dualTol)/math.Abs(a))
		}
	}
	// Pass 2 takes the largest pivot among those that are passed by then: a small one would spoil
	// the inverse.
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
	// Basic variables have entries of an identity matrix and cannot enter.
	if math.Abs(a) <= pivotTol || s.place[j] >= 0 {
		return false
	}
	// The leaving variable moves by -miss, the entering one by miss/a. A fixed variable has no way
	// in either direction.
	if a > 0 == (miss > 0) {
		return s.x[j] < s.upper[j]
	}
	return s.x[j] > s.lower[j]
}

// dualPivot lets variable j enter for row r, which s.row holds, and returns the dual step. Where the
// two computations of the pivot differ it makes the inverse afresh instead and reports false.
func (s *simplex) dualPivot(r, j int, miss float64) (step float64, ok bool) {
	s.computeColumn(j)
	// The pivot is computed twice, by row and by column. Their difference measures the error of
	// the inverse.
	pivot := s.column[r]
	if math.Abs(pivot-s.row[j]) > driftTol*(1+math.Abs(pivot)) {
		s.refactor()
		return 0, false
	}
	// The dual step theta = d_j/alpha_rj brings the reduced cost of j to 0; every other one moves
	// by theta alpha_rk.
	step = s.d[j] / s.row[j]
	for k, a := range s.row {
		if s.place[k] < 0 && math.Abs(a) > dropTol {
			s.d[k] -= float64(step * a)
		}
	}
	leaving := s.basis[r]
	// The leaving variable had reduced cost 0 and the entry 1 in its own row: it gets -theta.
	s.d[leaving], s.d[j] = -step, 0
	s.move(j, miss/pivot)
	// move has brought it to its bound up to rounding. Now it is nonbasic and must stand there
	// exactly.
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
		// Knuth's multiplicative hash spreads the amounts over [1, 2) times perturbation:
		// different for neighbours, the same in every run.
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
		// The range of a x[j] over its bounds is [min(p, q), max(p, q)].
		p, q := a*s.lower[j], a*s.upper[j]
		least += min(p, q)
		most += max(p, q)
		for _, x := range []float64{p, q} {
			if !math.IsInf(x, 0) {
				size = max(size, math.Abs(x))
			}
		}
	}
	// The sums round by parts of their largest term. Half of what a bound may be missed by is the
	// least that still counts as a gap.
	margin := primalTol / 2 * size
	return least > margin || most < -margin
}
