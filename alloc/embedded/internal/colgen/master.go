// This file implements the restricted master program of column generation, [Dantzig60]: a primal
// simplex method with a dense inverse, for few rows and columns that arrive one by one.

package colgen

import (
	"math"
)

const (
	// reducedCost is the least reduced cost that is worth a pivot; pivotSize the least element to
	// pivot on. Costs and coefficients are of order 1e-3 to 1e3.
	reducedCost, pivotSize = 1e-9, 1e-9
	// mostPivots bounds the pivots of one program.
	mostPivots = 2000
)

// master maximizes cost x over A x = b, x >= 0. Rows have the basic variables they start with, see
// reset; columns may be added at any time.
//
// It takes 8 rows^2 bytes for the inverse and 16 for each entry of a column.
//
// Invariants between calls: B is the matrix of the basic columns, inv is its inverse, row by row,
// Value = B^-1 b >= 0 but for rounding, and dual = cost_B B^-1. A pivot updates all three in O(rows^2).
type master struct {
	rows    int
	inv     []float64 // the inverse of the basis
	Value   []float64 // of the basic variable of each row
	Basic   []int     // its column
	first   []int     // column c has the entries from first[c] to first[c+1]
	entries []entry
	// dual[r] is the shadow price of row r: utilization per unit of its right side.
	cost   []float64
	dual   []float64
	pivots int
	enters []float64 // scratch: the entering column in terms of the basis
}

// entry is one coefficient of a column that is not zero; those of a column come by row.
type entry struct {
	row   int
	value float64
}

// reset empties the program. Row r starts with a basic variable of its own with coefficient sign[r]
// (+1 or -1), the given cost and the value right[r] sign[r], which must not be negative.
// A basis of signed unit vectors is its own inverse, which makes phase one needless:
// an infeasible start pays by its cost until pivots have driven it out.
func (m *master) reset(sign, cost, right []float64) {
	m.rows = len(sign)
	m.inv = Resize(m.inv, m.rows*m.rows)
	m.Value, m.dual, m.enters = Resize(m.Value, m.rows), Resize(m.dual, m.rows), Resize(m.enters, m.rows)
	m.Basic, m.entries, m.cost = m.Basic[:0], m.entries[:0], m.cost[:0]
	m.first = append(m.first[:0], 0)
	m.pivots = 0
	for r := range sign {
		m.Basic = append(m.Basic, m.add(cost[r], entry{r, sign[r]}))
		m.inv[r*m.rows+r] = sign[r]
		m.Value[r] = sign[r] * right[r]
	}
	m.refreshDuals()
}

// Resize returns a slice of n zeros, in the memory of s if it is large enough.
func Resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// add appends a column and returns its number.
// The column starts outside the basis, at 0, so that the basic solution stays as it
// is.
func (m *master) add(cost float64, column ...entry) int {
	m.cost = append(m.cost, cost)
	m.entries = append(m.entries, column...)
	m.first = append(m.first, len(m.entries))
	return len(m.cost) - 1
}

func (m *master) column(c int) []entry { return m.entries[m.first[c]:m.first[c+1]] }

// refreshDuals computes cost_B B^-1.
func (m *master) refreshDuals() {
	clear(m.dual)
	for r, c := range m.Basic {
		// Most basic columns are patterns at cost 0, which contribute nothing.
		if cost := m.cost[c]; cost != 0 {
			for k, v := range m.inv[r*m.rows : (r+1)*m.rows] {
				m.dual[k] += float64(cost * v)
			}
		}
	}
}

// reduced returns cost - dual column.
//
//	rc = cost - sum_r dual_r a_r
//
// is what the objective gains for each unit of the column that enters.
func (m *master) reduced(c int) float64 {
	cost := m.cost[c]
	for _, e := range m.column(c) {
		cost -= float64(m.dual[e.row] * e.value)
	}
	return cost
}

// optimize pivots until no column that is here improves. It returns false if it stopped before that, as
// its pivots are used up or nothing bounds the program: then other columns do not help either.
// The rule is Dantzig's, the largest reduced cost enters, ties to the older column: few pivots, each of
// O(entries + rows^2). It may cycle where degenerate; the limit on pivots ends that too.
func (m *master) optimize() bool {
	for m.pivots < mostPivots {
		enter, most := -1, reducedCost
		for c := range m.cost {
			if rc := m.reduced(c); rc > most {
				enter, most = c, rc
			}
		}
		if enter < 0 {
			return true
		}
		if !m.pivot(enter) {
			return false
		}
	}
	return false
}

// pivot brings column c into the basis. It reports false where nothing bounds it.
func (m *master) pivot(c int) bool {
	m.pivots++
	// u = B^-1 a: how fast each basic variable falls while the column rises.
	clear(m.enters)
	for _, e := range m.column(c) {
		for r := range m.enters {
			m.enters[r] += float64(e.value * m.inv[r*m.rows+e.row])
		}
	}
	// Ratio test: the column rises to min over u_r > 0 of Value_r / u_r, where the first basic variable
	// reaches 0 and leaves.
	leave, least := -1, math.Inf(1)
	for r, u := range m.enters {
		// Ties go to the larger pivot element: degenerate programs stay accurate.
		if u > pivotSize {
			ratio := math.Max(0, m.Value[r]) / u
			if ratio < least-1e-12 || ratio <= least+1e-12 && leave >= 0 && u > m.enters[leave] {
				leave, least = r, ratio
			}
		}
	}
	if leave < 0 {
		return false
	}
	m.exchange(leave, c, least)
	return true
}

// exchange makes column c basic in row leave with the given value.
// In product form: the pivot row of the inverse is divided by u_leave, and u_r times that is subtracted
// from every other row r. The objective grows by rc times value, hence the duals by rc times the new row.
func (m *master) exchange(leave, c int, value float64) {
	row := m.inv[leave*m.rows : (leave+1)*m.rows]
	u := m.enters[leave]
	for k := range row {
		row[k] /= u
	}
	for r, factor := range m.enters {
		// Rows of factor 0 stay: with sparse columns these are most.
		if r == leave || factor == 0 {
			continue
		}
		m.Value[r] -= float64(factor * value)
		other := m.inv[r*m.rows : (r+1)*m.rows]
		for k, v := range row {
			other[k] -= float64(factor * v)
		}
	}
	m.Value[leave] = value
	// The reduced cost must still be that of the old duals, here; afterwards it is 0, as
	// it is basic.
	rc := m.reduced(c)
	for k, v := range row {
		m.dual[k] += float64(rc * v)
	}
	m.Basic[leave] = c
}

// objective returns the value of the basic solution.
// It bounds the optimum of the full program from below, but for artificial variables
// left in the basis.
func (m *master) objective() float64 {
	var sum float64
	for r, c := range m.Basic {
		sum += float64(m.cost[c] * m.Value[r])
	}
	return sum
}
