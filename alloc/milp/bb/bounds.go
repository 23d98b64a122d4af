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

// unitRoundoff is the distance of neighbouring float64 numbers, relative to their size.
const unitRoundoff = 0x1p-52

// slack returns how far below the best objective a bound counts as closed.
func (s *search) slack() float64 {
	// Gaps are parts of the model's objective, constant included, so s.best is turned outward
	// first and the result is scaled back.
	objective := s.outward(s.best)
	return max(s.opts.AbsoluteGap, s.opts.GapToObjective()*math.Abs(objective)) * math.Abs(s.lp.costScale)
}

// limit returns the bound from which a node holds nothing worth finding: nothing better than the
// best by more than the gap, and, where objectives have a grain, by a grain.
func (s *search) limit() float64 {
	// Without a point every node may hold the first one.
	if s.incumbent == nil {
		return math.Inf(1)
	}
	// A better point is better by a whole grain. A bit less than a grain is taken off, so that
	// rounding in a bound that stands one grain below best does not prune the node that holds the
	// better point.
	return s.best - max(s.slack(), s.grain*(1-grainTol))
}

// attains reports whether the best point is worth the bound of the node that it was found in, up to
// the gap and the rounding of both sums: the node is done then, and its bound is the objective.
// Where rounding its integer variables cost the point more than that, the node is split on.
func (s *search) attains(bound float64) bool {
	size := 0.0
	for j, x := range s.incumbent {
		size += math.Abs(s.lp.cost[j] * x)
	}
	// size is the sum of |cost[j] x[j]|: the rounding of both sums grows with it, not with their
	// value.
	return s.best-bound <= s.slack()+float64(attainTol*size)
}

// roundUp raises a bound to the next multiple of the grain.
func (s *search) roundUp(bound float64) float64 {
	// 0 stands for no grain: some cost is fractional, or belongs to a continuous variable.
	if s.grain == 0 || math.IsInf(bound, 0) {
		return bound
	}
	// A bound that is above a multiple by rounding alone must not rise to the next: grainTol is
	// taken off first. The maximum keeps the bound from falling by it.
	return max(bound, math.Ceil(bound/s.grain-grainTol)*s.grain)
}

// provenBound returns the least objective that a feasible point can still have.
func (s *search) provenBound() float64 {
	// A point not yet found lies in an open node, in the current one, in one that was given up
	// (pruned, with its bound), or in one that could not be solved; a point at hand is worth best.
	bound := min(s.best, s.pruned, s.unresolved, s.open.least())
	if s.current != nil {
		bound = min(bound, s.current.bound)
	}
	return bound
}

// gapClosed reports whether the best point is as good as asked.
func (s *search) gapClosed() bool {
	// The gap is widened by grainTol, as limit and slack round differently: a node pruned at limit
	// must count as closed here. So must it where limit is best less a slack that is no more than the
	// rounding of best: a constant may cancel nearly all of the objective, and the slack goes with it.
	rounding := unitRoundoff * math.Abs(s.best)
	return s.incumbent != nil && (s.anyPoint || s.best-s.provenBound() <= float64(s.slack()*(1+grainTol))+rounding)
}

// outward turns an objective of the relaxation into one of the model.
func (s *search) outward(objective float64) float64 {
	// costScale is a power of two, negated for a maximisation, so the division is exact.
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
	// With reduced cost d > 0, x[j] = lower + t costs at least root bound + d t (weak duality). It
	// is worth finding only while that is below limit: t < room/d.
	room := limit - s.rootBound
	// Where the gap is below one grain, what is cut off is worse than best by whole grains, or not
	// better at all.
	if s.grain == 0 || s.slack() > s.grain {
		s.prune(limit)
	}
	for j, d := range s.rootCosts {
		// The argument needs whole steps to be worth a node's time, and a reduced cost that is not
		// noise.
		if !s.model.Variable(j).Integer || math.Abs(d) <= dualTol {
			continue
		}
		// roundTol goes in the careful direction: one step more rather than one too few.
		steps := math.Floor(room/math.Abs(d) + roundTol)
		if d > 0 {
			s.rootUpper[j] = min(s.rootUpper[j], s.rootLower[j]+steps)
		} else {
			s.rootLower[j] = max(s.rootLower[j], s.rootUpper[j]-steps)
		}
	}
}

// prune gives up a node with that bound.
func (s *search) prune(bound float64) { s.pruned = min(s.pruned, bound) }
