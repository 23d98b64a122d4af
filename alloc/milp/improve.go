// This file finds points without a search, for the referee to hold against a solver's claims.

package milp

import (
	"math"
	"slices"
)

// corner returns the point next to x in every variable that the bounds allow, whole where it must be;
// an infinite x stands for the bound on that side, where there is one.
func (m *Model) corner(x float64) []float64 {
	point := make([]float64, m.Variables())
	for j := range point {
		lower, upper := m.lower[j], m.upper[j]
		if m.integer[j] {
			// Rounding goes inwards. Where no whole number is left, lower > upper, and Verify
			// refuses the point.
			lower, upper = math.Ceil(lower), math.Floor(upper)
		}
		// This clamps x to [lower, upper]; with an infinite x it is the bound on that side.
		point[j] = math.Max(lower, math.Min(x, upper))
		// There is no bound on that side. The value next to 0 stands in, since a point must be
		// finite.
		if math.IsInf(point[j], 0) {
			point[j] = math.Max(lower, math.Min(0, upper))
		}
	}
	return point
}

// improve returns a copy of the feasible point x in which every variable with a cost, in their order, has
// been moved as far in the better direction as its bounds and rows allow. O(nonzeros).
func (m *Model) improve(x []float64) []float64 {
	y := slices.Clone(x)
	// activity[i] is the value of row i at y and follows each step, so that no row is summed up
	// twice.
	activity := make([]float64, m.Rows())
	for i := range activity {
		activity[i] = m.Activity(i, y)
	}
	matrix := m.ByColumns()
	// One greedy pass: each step keeps every row within its bounds, so y is feasible after each of
	// them, up to rounding.
	for j, cost := range m.cost {
		if cost == 0 {
			continue
		}
		// A larger x[j] is better where its cost is positive and the model maximises, and where
		// both are the other way round.
		direction := math.Copysign(1, cost)
		if m.sense == Minimize {
			direction = -direction
		}
		step := m.room(y, activity, &matrix, j, direction)
		// An infinite step would lead to a point that is not finite, which Verify refuses: the
		// variable stays where it is.
		if step <= 0 || math.IsInf(step, 0) {
			continue
		}
		y[j] += float64(direction * step)
		for at := matrix.Start[j]; at < matrix.Start[j+1]; at++ {
			activity[matrix.Rows[at]] += float64(matrix.Coefs[at] * direction * step)
		}
	}
	return y
}

// room returns how far variable j can move in a direction, 1 or -1, before a bound or a row stops it;
// whole where it must be.
func (m *Model) room(y, activity []float64, matrix *Columns, j int, direction float64) float64 {
	// The variable's own bound stops it first of all.
	step := m.upper[j] - y[j]
	if direction < 0 {
		step = y[j] - m.lower[j]
	}
	for at := matrix.Start[j]; at < matrix.Start[j+1]; at++ {
		i, coef := matrix.Rows[at], matrix.Coefs[at]
		// A step raises the row where coef and direction agree in sign: the row's upper bound
		// stops it; otherwise the lower.
		left := m.rowUpper[i] - activity[i]
		if coef*direction < 0 {
			left = activity[i] - m.rowLower[i]
		}
		// The row moves by |coef| for each unit of the step; left is infinite where the row has no
		// bound on that side.
		step = math.Min(step, left/math.Abs(coef))
	}
	if m.integer[j] {
		// y[j] is whole in a feasible point, so a whole step keeps it whole.
		step = math.Floor(step)
	}
	return step
}
