// This file implements what objective and bound imply: when a node is given up, what is proven, and
// which bounds of variables follow from the root's reduced costs.

package bb

import "math"

// grainTol is the part of a grain, or of a gap, that is left for rounding when a bound is raised to
// the next multiple or compared with the gap.
const grainTol = 1e-6

// attainTol is the difference between a point's objective and its relaxation's bound that counts as
// rounding, relative to the sum of the sizes of the objective's terms.
const attainTol = 1e-9

// slack returns how far below the best objective a bound counts as closed.
func (s *search) slack() float64 {
	objective := s.outward(s.best)
	return math.Max(s.opts.AbsoluteGap, s.opts.GapToObjective()*math.Abs(objective)) * math.Abs(s.lp.costScale)
}

// limit returns the bound from which a node holds nothing worth finding: nothing better than the
// best by more than the gap, and, where objectives have a grain, by a grain.
func (s *search) limit() float64 {
	if s.incumbent == nil {
		return math.Inf(1)
	}
	return s.best - math.Max(s.slack(), s.grain*(1-grainTol))
}

// attains reports whether the best point is worth the bound of the node that it was found in, up to
// the gap and the rounding of both sums: the node is done then, and its bound is the objective.
// Where rounding its integer variables cost the point more than that, the node is split on.
func (s *search) attains(bound float64) bool {
	size := 0.0
	for j, x := range s.incumbent {
		size += math.Abs(s.lp.cost[j] * x)
	}
	return s.best-bound <= s.slack()+float64(attainTol*size)
}

// roundUp raises a bound to the next multiple of the grain.
func (s *search) roundUp(bound float64) float64 {
	if s.grain == 0 || math.IsInf(bound, 0) {
		return bound
	}
	return math.Max(bound, math.Ceil(bound/s.grain-grainTol)*s.grain)
}

// provenBound returns the least objective that a feasible point can still have.
func (s *search) provenBound() float64 {
	bound := min(s.best, s.pruned, s.unresolved, s.open.least())
	if s.current != nil {
		bound = min(bound, s.current.bound)
	}
	return bound
}

// gapClosed reports whether the best point is as good as asked.
func (s *search) gapClosed() bool {
	return s.incumbent != nil && (s.anyPoint || s.best-s.provenBound() <= s.slack()*(1+grainTol))
}

// outward turns an objective of the relaxation into one of the model.
func (s *search) outward(objective float64) float64 {
	return objective/s.lp.costScale + s.model.Constant()
}

// keepRoot remembers the root's bound and reduced costs, which the simplex has just computed.
func (s *search) keepRoot(bound float64) {
	s.rootBound = bound
	s.rootCosts = append([]float64(nil), s.lp.row[:s.lp.n]...)
}

// tightenRoot fixes by reduced cost ([NemhauserWolsey88] II.5.2): an integer variable that stood at
// its lower bound with reduced cost d > 0 can rise by less than (limit - root bound)/d in a point
// worth finding; the same downwards. What is cut off counts as pruned at the
// limit, where no grain says that it is not better at all.
func (s *search) tightenRoot() {
	if s.incumbent == nil {
		return
	}
	limit := s.limit()
	room := limit - s.rootBound
	if s.grain == 0 || s.slack() > s.grain {
		s.prune(limit)
	}
	for j, d := range s.rootCosts {
		if !s.model.Variable(j).Integer || math.Abs(d) <= dualTol {
			continue
		}
		steps := math.Floor(room/math.Abs(d) + roundTol)
		if d > 0 {
			s.rootUpper[j] = math.Min(s.rootUpper[j], s.rootLower[j]+steps)
		} else {
			s.rootLower[j] = math.Max(s.rootLower[j], s.rootUpper[j]-steps)
		}
	}
}

// prune gives up a node with that bound.
func (s *search) prune(bound float64) { s.pruned = math.Min(s.pruned, bound) }
