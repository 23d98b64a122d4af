// This file implements the acceptance of feasible points: rounding, the continuous rest, the check.

package bb

import "math"

// accept takes the point of the relaxation, whole in every integer variable up to wholeTol, as a
// feasible point. The integer variables are rounded and fixed and the continuous ones optimised
// again, so that a coefficient of any size may multiply what the rounding moved. It
// reports whether the result is feasible in the model itself; the node's bounds are lost.
func (s *search) accept() bool {
	mixed := false
	for j := range s.lp.n {
		if s.model.Variable(j).Integer {
			whole := math.Round(s.lp.x[j])
			s.lp.lower[j], s.lp.upper[j] = whole, whole
		} else {
			mixed = true
		}
	}
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
		x := math.Max(s.lp.lower[j], math.Min(s.lp.x[j], s.lp.upper[j]))
		values[j] = x + 0 // never -0
	}
	return values
}

// keep makes a point the best one if it is feasible and better. It reports whether it is feasible.
func (s *search) keep(values []float64) bool {
	if s.model.Verify(values, s.opts.FeasibilityTolerance, 0) != nil {
		return false
	}
	objective := (s.model.Objective(values) - s.model.Constant()) * s.lp.costScale
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
		if s.model.Variable(j).Integer && !math.IsNaN(x) {
			whole := math.Max(s.rootLower[j], math.Min(math.Round(x), s.rootUpper[j]))
			s.lp.lower[j], s.lp.upper[j] = whole, whole
		}
	}
	if s.lp.solve(math.Inf(1)) == optimal && s.costs.choose(s.model, s.lp) < 0 {
		s.accept()
	}
}
