// This file implements the restricted master program of column generation, [Dantzig60]: a primal
// simplex method with a dense inverse, for few rows and columns that arrive one by one.

package embedded

import "math"

const (
	// reducedCost is the least reduced cost that is worth a pivot; pivotSize the least element to
	// pivot on. Costs and coefficients are of order 1e-3 to 1e3.
	reducedCost, pivotSize = 1e-9, 1e-9
	// mostPivots bounds the pivots of one program.
	mostPivots = 2000
)

// master maximizes cost x over A x = b, x >= 0. Rows have the basic variables they start with, see
// reset; columns may be added at any time.
type master struct {
	rows   int
	inv    []float64 // the inverse of the basis
	value  []float64 // of the basic variable of each row
	basic  []int     // its column
	cols   []float64 // column c, row r at c*rows+r
	cost   []float64
	dual   []float64
	pivots int
	enters []float64 // scratch: the entering column in terms of the basis
}

// reset empties the program. Row r starts with a basic variable of its own with coefficient sign[r]
// (+1 or -1), the given cost and the value right[r] sign[r], which must not be negative.
func (m *master) reset(sign, cost, right []float64) {
	m.rows = len(sign)
	m.inv = resize(m.inv, m.rows*m.rows)
	m.value, m.dual, m.enters = resize(m.value, m.rows), resize(m.dual, m.rows), resize(m.enters, m.rows)
	m.basic, m.cols, m.cost = m.basic[:0], m.cols[:0], m.cost[:0]
	m.pivots = 0
	for r := range sign {
		at := m.add(cost[r])
		m.column(at)[r] = sign[r]
		m.basic = append(m.basic, at)
		m.inv[r*m.rows+r] = sign[r]
		m.value[r] = sign[r] * right[r]
	}
	m.refreshDuals()
}

// resize returns a slice of n zeros, in the memory of s if it is large enough.
func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// add appends a column of zeros and returns its number; column returns its coefficients.
func (m *master) add(cost float64) int {
	m.cost = append(m.cost, cost)
	for range m.rows {
		m.cols = append(m.cols, 0)
	}
	return len(m.cost) - 1
}

// drop takes back the last column, which must not be basic.
func (m *master) drop() {
	last := len(m.cost) - 1
	m.cost, m.cols = m.cost[:last], m.cols[:last*m.rows]
}

func (m *master) column(c int) []float64 { return m.cols[c*m.rows : (c+1)*m.rows] }

// refreshDuals computes cost_B B^-1.
func (m *master) refreshDuals() {
	clear(m.dual)
	for r, c := range m.basic {
		if cost := m.cost[c]; cost != 0 {
			for k, v := range m.inv[r*m.rows : (r+1)*m.rows] {
				m.dual[k] += float64(cost * v)
			}
		}
	}
}

func (m *master) reduced(c int) float64 {
	cost := m.cost[c]
	for r, a := range m.column(c) {
		if a != 0 {
			cost -= float64(m.dual[r] * a)
		}
	}
	return cost
}

// optimize pivots until no column that is here improves. It returns false if mostPivots are used up.
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
	clear(m.enters)
	for k, a := range m.column(c) {
		if a == 0 {
			continue
		}
		for r := range m.enters {
			m.enters[r] += float64(a * m.inv[r*m.rows+k])
		}
	}
	leave, least := -1, math.Inf(1)
	for r, u := range m.enters {
		// Ties go to the larger pivot element: degenerate programs stay accurate.
		if u > pivotSize {
			ratio := math.Max(0, m.value[r]) / u
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
func (m *master) exchange(leave, c int, value float64) {
	row := m.inv[leave*m.rows : (leave+1)*m.rows]
	u := m.enters[leave]
	for k := range row {
		row[k] /= u
	}
	for r, factor := range m.enters {
		if r == leave || factor == 0 {
			continue
		}
		m.value[r] -= float64(factor * value)
		other := m.inv[r*m.rows : (r+1)*m.rows]
		for k, v := range row {
			other[k] -= float64(factor * v)
		}
	}
	m.value[leave] = value
	rc := m.reduced(c)
	for k, v := range row {
		m.dual[k] += float64(rc * v)
	}
	m.basic[leave] = c
}

// objective returns the value of the basic solution.
func (m *master) objective() float64 {
	var sum float64
	for r, c := range m.basic {
		sum += float64(m.cost[c] * m.value[r])
	}
	return sum
}
