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
			lower, upper = math.Ceil(lower), math.Floor(upper)
		}
		point[j] = math.Max(lower, math.Min(x, upper))
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
	activity := make([]float64, m.Rows())
	for i := range activity {
		activity[i] = m.Activity(i, y)
	}
	matrix := m.ByColumns()
	for j, cost := range m.cost {
		if cost == 0 {
			continue
		}
		direction := math.Copysign(1, cost)
		if m.sense == Minimize {
			direction = -direction
		}
		step := m.room(y, activity, &matrix, j, direction)
		if step <= 0 || math.IsInf(step, 0) {
			continue
		}
		y[j] += direction * step
		for at := matrix.Start[j]; at < matrix.Start[j+1]; at++ {
			activity[matrix.Rows[at]] += float64(matrix.Coefs[at] * direction * step)
		}
	}
	return y
}

// room returns how far variable j can move in a direction, 1 or -1, before a bound or a row stops it;
// whole where it must be.
func (m *Model) room(y, activity []float64, matrix *Columns, j int, direction float64) float64 {
	step := m.upper[j] - y[j]
	if direction < 0 {
		step = y[j] - m.lower[j]
	}
	for at := matrix.Start[j]; at < matrix.Start[j+1]; at++ {
		i, coef := matrix.Rows[at], matrix.Coefs[at]
		left := m.rowUpper[i] - activity[i]
		if coef*direction < 0 {
			left = activity[i] - m.rowLower[i]
		}
		step = math.Min(step, left/math.Abs(coef))
	}
	if m.integer[j] {
		step = math.Floor(step)
	}
	return step
}
