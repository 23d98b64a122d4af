// This file implements a dive: from a relaxation straight down to a feasible point.

package bb

import "math"

// dive fixes the integer variables one after the other, what is nearest to whole first, and tries the other side once where that
// leaves no point. It keeps the point that it ends at, and leaves the bounds of the node lost. Each relaxation counts as a node.
func (s *search) dive() {
	for j := s.nearest(); j >= 0; j = s.nearest() {
		if s.budget.spentOn(s.nodes, s.bytes()) {
			return
		}
		s.nodes++
		lower, upper, x := s.lp.lower[j], s.lp.upper[j], s.lp.x[j]
		first, second := [2]float64{lower, math.Floor(x)}, [2]float64{math.Ceil(x), upper}
		if math.Round(x) > x {
			first, second = second, first
		}
		s.lp.lower[j], s.lp.upper[j] = first[0], first[1]
		if s.lp.solve(s.limit()) == optimal {
			continue
		}
		if s.lp.lower[j], s.lp.upper[j] = second[0], second[1]; s.lp.solve(s.limit()) != optimal {
			return
		}
	}
	s.accept()
}

// nearest returns the integer variable whose value is nearest to a whole number and is none, the first on a tie; -1 where all are
// whole.
func (s *search) nearest() int {
	best, least := -1, 1.0
	for j, x := range s.lp.x[:s.lp.n] {
		if off := math.Abs(x - math.Round(x)); s.model.Variable(j).Integer && off > wholeTol && off < least {
			best, least = j, off
		}
	}
	return best
}
