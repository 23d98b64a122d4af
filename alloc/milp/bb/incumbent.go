// This file implements the acceptance of feasible points: rounding, the continuous rest, the check.

package bb

import "math"

// accept takes the point of the relaxation, whole in every integer variable up to wholeTol, as a
// feasible point. The integer variables are rounded and fixed and the continuous ones optimised
// again, so that a coefficient of any size may multiply what the rounding moved. It
// reports whether the result is feasible in the model itself; the node's bounds are lost.
func (s *search) accept() bool {
	// mixed says that something continuous is left to be optimised again.
	mixed := false
	for j := range s.lp.n {
		if s.model.Variable(j).Integer {
			whole := math.Round(s.lp.x[j])
			s.lp.lower[j], s.lp.upper[j] = whole, whole
		} else {
			mixed = true
		}
	}
	// No limit: a point that is worse than the best one is refused by keep, not by the relaxation.
	if mixed && s.lp.solve(math.Inf(1)) != optimal {
		return false
	}
	return s.keep(s.point())
}

// point returns the relaxation's point, fixed variables exactly at their value and the others within
// their bounds.
func (s *search) point() []float64 {
	values := make([]float64, s.lp.n)
	for j := range values {
		// A basic variable may miss its bound by primalTol. The clamp moves it by no more, and
		// Verify judges the rows.
		x := max(s.lp.lower[j], min(s.lp.x[j], s.lp.upper[j]))
		values[j] = x + 0 // never -0
	}
	return values
}

// keep makes a point the best one if it is feasible and better. It reports whether it is feasible.
func (s *search) keep(values []float64) bool {
	// The rounded point counts, not the relaxation's: a large coefficient may multiply what
	// rounding moved.
	if s.model.Verify(values, s.opts.FeasibilityTolerance, 0) != nil {
		return false
	}
	// The objective is summed from the model's own numbers and then put into the scale of bounds.
	objective := (s.model.Objective(values) - s.model.Constant()) * s.lp.costScale
	// Ties keep the first point, so that the order of the search alone decides.
	if objective < s.best {
		s.incumbent, s.best = values, objective
		s.tightenRoot()
	}
	return true
}

// tryHint fixes the integer variables that the hint names, optimises the rest, and keeps the
// result if it is feasible.
func (s *search) tryHint(hint []float64) {
	if hint == nil {
		return
	}
	for j, x := range hint {
		// Continuous values of the hint are left alone: with the integers fixed the optimum over
		// them is at least as good.
		if s.model.Variable(j).Integer && !math.IsNaN(x) {
			// A value beyond the bounds, 1e300 included, means the bound.
			whole := max(s.rootLower[j], min(math.Round(x), s.rootUpper[j]))
			s.lp.lower[j], s.lp.upper[j] = whole, whole
		}
	}
	// Variables that the hint leaves out may come out fractional, and a dive completes them. process installs the root's bounds
	// again before it goes on.
	if s.lp.solve(math.Inf(1)) == optimal {
		s.dive()
	}
}
