// This file implements the primal simplex method for bounded variables, [Maros03] ch. 9: phase 2
// alone, because the dual method provides the feasible basis.

package bb

import "math"

// primal minimises the costs in use from a basis that is feasible within the tolerance.
func (s *simplex) primal() outcome {
	stall := 0
	for iteration := 1; ; iteration++ {
		// The three checks are those of the dual method, for the same reasons.
		if iteration%stopEvery == 0 && s.stop() {
			return stopped
		}
		if iteration > 100+20*(s.m+s.n) {
			return trouble
		}
		if s.pivots >= refactorEvery && !s.refactor() {
			return trouble
		}
		// Step 1, pricing: the variable that enters. After a stall the smallest index decides,
		// which cannot cycle.
		j := s.entering(stall >= stallLimit)
		if j < 0 {
			return optimal
		}
		s.computeColumn(j)
		// A negative reduced cost falls by raising the variable, a positive one by lowering it.
		direction := 1.0
		if s.d[j] > 0 {
			direction = -1
		}
		// Step 2, the ratio test: the row that stops it.
		r, step := s.primalRatio(j, direction)
		// Nothing stops it: the direction is a ray along which the objective falls for ever.
		if math.IsInf(step, 1) {
			return unbounded
		}
		// The product is what the objective has gained. A degenerate step gains nothing.
		if step*math.Abs(s.d[j]) > dualTol*primalTol {
			stall = 0
		} else {
			stall++
		}
		// Step 3, the update.
		s.primalPivot(r, j, direction*step)
	}
}

// entering returns the nonbasic variable with the largest reduced cost of the wrong sign, the
// first one where first is set ([Bland77]: no cycling); -1 at the optimum.
func (s *simplex) entering(first bool) int {
	best, size := -1, dualTol
	for j, d := range s.d {
		if s.place[j] >= 0 || math.Abs(d) <= size {
			continue
		}
		// A wrong sign counts only where the variable has room in its better direction.
		if d < 0 && s.x[j] < s.upper[j] || d > 0 && s.x[j] > s.lower[j] {
			best, size = j, math.Abs(d)
			if first {
				break
			}
		}
	}
	return best
}

// primalRatio returns how far variable j can move in that direction and the row that stops it; -1
// where its own other bound does. The first pass allows each row its tolerance, the second
// takes the largest pivot among the rows that stop it by then ([Maros03] §6.2.2).
func (s *simplex) primalRatio(j int, direction float64) (row int, step float64) {
	// The way to the other bound needs no pivot. It is infinite where there is none.
	own := s.upper[j] - s.lower[j]
	reach := math.Inf(1)
	for r, a := range s.column {
		// The basic variable of row r moves by -direction*a for each unit.
		if room, rate := s.room(r, -direction*a); rate > pivotTol {
			reach = min(reach, (room+primalTol)/rate)
		}
	}
	// A tie goes to the bound flip, which leaves the basis as it is.
	if own <= reach {
		return -1, own
	}
	row, size := -1, 0.0
	for r, a := range s.column {
		if room, rate := s.room(r, -direction*a); rate > pivotTol && rate > size && room <= reach*rate {
			// A row that is beyond its bound already, within the tolerance, has negative room: the
			// step is 0, never backward.
			row, size, step = r, rate, max(0, room/rate)
		}
	}
	if row < 0 {
		return -1, reach // +Inf: nothing stops it
	}
	return row, step
}

// room returns how far the variable basic in row r is from the bound towards which it moves, and
// the size of its rate.
func (s *simplex) room(r int, rate float64) (room, size float64) {
	j := s.basis[r]
	if rate > 0 {
		return s.upper[j] - s.x[j], rate
	}
	return s.x[j] - s.lower[j], -rate
}

// primalPivot moves variable j by step and, where a row stopped it, exchanges.
func (s *simplex) primalPivot(r, j int, step float64) {
	s.move(j, step)
	// The bound flip: j stands at its other bound, exactly, and the basis stays.
	if r < 0 {
		s.x[j] = nearest(s.x[j], s.lower[j], s.upper[j])
		return
	}
	leaving := s.basis[r]
	// The leaving variable becomes nonbasic and stands at its bound exactly, not up to rounding.
	s.x[leaving] = nearest(s.x[leaving], s.lower[leaving], s.upper[leaving])
	s.priceRow(r)
	// The reduced costs change as in the dual method: d_k by d_j/alpha_rj times alpha_rk.
	ratio := s.d[j] / s.column[r]
	for k, a := range s.row {
		if s.place[k] < 0 && math.Abs(a) > dropTol {
			s.d[k] -= float64(ratio * a)
		}
	}
	s.d[leaving], s.d[j] = -ratio, 0
	s.exchange(r, j)
}
