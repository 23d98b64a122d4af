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
	columns := m.byColumn()
	for j, cost := range m.cost {
		if cost == 0 {
			continue
		}
		direction := math.Copysign(1, cost)
		if m.sense == Minimize {
			direction = -direction
		}
		step := m.room(y, activity, columns[j], j, direction)
		if step <= 0 || math.IsInf(step, 0) {
			continue
		}
		y[j] += direction * step
		for _, e := range columns[j] {
			activity[e.row] += float64(e.coef * direction * step)
		}
	}
	return y
}

// columnEntry is a coefficient of a column.
type columnEntry struct {
	row  int
	coef float64
}

// byColumn returns the coefficients of every column.
func (m *Model) byColumn() [][]columnEntry {
	columns := make([][]columnEntry, m.Variables())
	for i := range m.Rows() {
		row := m.Row(i)
		for k, j := range row.Columns {
			columns[j] = append(columns[j], columnEntry{i, row.Coefs[k]})
		}
	}
	return columns
}

// room returns how far variable j can move in a direction, 1 or -1, before a bound or a row stops it;
// whole where it must be.
func (m *Model) room(y, activity []float64, column []columnEntry, j int, direction float64) float64 {
	step := m.upper[j] - y[j]
	if direction < 0 {
		step = y[j] - m.lower[j]
	}
	for _, e := range column {
		left := m.rowUpper[e.row] - activity[e.row]
		if e.coef*direction < 0 {
			left = activity[e.row] - m.rowLower[e.row]
		}
		step = math.Min(step, left/math.Abs(e.coef))
	}
	if m.integer[j] {
		step = math.Floor(step)
	}
	return step
}
