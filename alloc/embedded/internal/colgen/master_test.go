// This file tests the simplex method against a look at all bases.

package colgen

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/rapidtest"
)

// program draws max cost x subject to A x <= right, x >= 0, with a row sum x <= bound last, so that it is bounded.
// Entries are small whole numbers, and rows that start violated (right < 0) occur.
type program struct {
	a           [][]float64
	right, cost []float64
}

func drawProgram(t *rapid.T) *program {
	whole := func(least, most int, name string) float64 { return float64(rapid.IntRange(least, most).Draw(t, name)) }
	lp := &program{}
	columns := rapid.IntRange(1, 4).Draw(t, "columns")
	for range rapid.IntRange(1, 2).Draw(t, "rows") {
		row := make([]float64, columns)
		for c := range row {
			row[c] = whole(-3, 3, "coefficient")
		}
		lp.a, lp.right = append(lp.a, row), append(lp.right, whole(-2, 6, "right"))
	}
	last := make([]float64, columns)
	for c := range last {
		last[c] = 1
		lp.cost = append(lp.cost, whole(-2, 5, "cost"))
	}
	lp.a, lp.right = append(lp.a, last), append(lp.right, whole(0, 8, "bound"))
	return lp
}

// enter fills m with the program, as Residual does: violated rows start with an artificial variable.
func (lp *program) enter(m *master) {
	rows := len(lp.right)
	sign, cost := make([]float64, rows), make([]float64, rows)
	for r := range sign {
		if sign[r] = 1; lp.right[r] < 0 {
			sign[r], cost[r] = -1, -1e6
		}
	}
	m.reset(sign, cost, lp.right)
	for r := range sign {
		if sign[r] < 0 {
			m.add(0, entry{r, 1})
		}
	}
	for c := range lp.cost {
		var column []entry
		for r := range lp.a {
			if lp.a[r][c] != 0 {
				column = append(column, entry{r, lp.a[r][c]})
			}
		}
		m.add(lp.cost[c], column...)
	}
}

// best returns the optimum by trying every basis of A x + s = right, and whether there is a solution.
func (lp *program) best() (float64, bool) {
	rows, n := len(lp.right), len(lp.cost)
	best, found := math.Inf(-1), false
	for set := range 1 << (n + rows) {
		var basis []int
		for c := range n + rows {
			if set>>c&1 != 0 {
				basis = append(basis, c)
			}
		}
		if len(basis) != rows {
			continue
		}
		x, ok := lp.solve(basis)
		if !ok {
			continue
		}
		var value float64
		for at, c := range basis {
			if ok = ok && x[at] >= -1e-9; c < n {
				value += lp.cost[c] * x[at]
			}
		}
		if ok {
			best, found = math.Max(best, value), true
		}
	}
	return best, found
}

// solve returns the values of the basic variables by elimination; slacks are columns n, n+1, ...
func (lp *program) solve(basis []int) ([]float64, bool) {
	rows, n := len(lp.right), len(lp.cost)
	table := make([][]float64, rows)
	for r := range table {
		for _, c := range basis {
			switch {
			case c < n:
				table[r] = append(table[r], lp.a[r][c])
			case c-n == r:
				table[r] = append(table[r], 1)
			default:
				table[r] = append(table[r], 0)
			}
		}
		table[r] = append(table[r], lp.right[r])
	}
	for at := range rows {
		pivot := at
		for r := at; r < rows; r++ {
			if math.Abs(table[r][at]) > math.Abs(table[pivot][at]) {
				pivot = r
			}
		}
		if table[at], table[pivot] = table[pivot], table[at]; math.Abs(table[at][at]) < 1e-9 {
			return nil, false
		}
		for r := range rows {
			factor := table[r][at] / table[at][at]
			for c := range table[r] {
				if r != at {
					table[r][c] -= factor * table[at][c]
				}
			}
		}
	}
	x := make([]float64, rows)
	for at := range x {
		x[at] = table[at][rows] / table[at][at]
	}
	return x, true
}

// The optimum is that of the best basis; inverse, values and duals are what they are said to be.
func TestMasterAgainstBases(t *testing.T) {
	var m master // one for all, as Residual reuses its own
	solved := 0
	rapidtest.Until(t, "no program had a solution", func() bool { return solved > 0 }, func(t *rapid.T) {
		lp := drawProgram(t)
		lp.enter(&m)
		if !m.optimize() {
			t.Fatalf("stopped after %d pivots", m.pivots)
		}
		checkBasis(t, &m, lp.right)
		want, found := lp.best()
		if got := m.objective(); found && math.Abs(got-want) > 1e-6 || !found && got > -1e5 {
			t.Fatalf("optimum %g, want %g, found %v", got, want, found)
		}
		if found {
			solved++
		}
	})
}

// checkBasis tests the invariants of a master: B Value = right, and every basic column has reduced cost 0.
func checkBasis(t *rapid.T, m *master, right []float64) {
	sum := make([]float64, m.rows)
	for r, c := range m.Basic {
		if m.Value[r] < -1e-9 {
			t.Fatalf("row %d: value %g", r, m.Value[r])
		}
		if rc := m.reduced(c); math.Abs(rc) > 1e-6 {
			t.Fatalf("row %d: its basic column has reduced cost %g", r, rc)
		}
		for _, e := range m.column(c) {
			sum[e.row] += e.value * m.Value[r]
		}
	}
	for r := range sum {
		if math.Abs(sum[r]-right[r]) > 1e-6 {
			t.Fatalf("row %d: B x = %g, the right side is %g", r, sum[r], right[r])
		}
	}
}

// Nothing bounds a column without a positive coefficient, and the pivots are bounded.
func TestMasterStops(t *testing.T) {
	var m master
	m.reset([]float64{1}, []float64{0}, []float64{1})
	m.add(1, entry{0, -1})
	if m.optimize() {
		t.Error("an unbounded program has an optimum")
	}
	m.reset([]float64{1}, []float64{0}, []float64{1})
	m.add(1, entry{0, 1})
	m.pivots = mostPivots
	if m.optimize() || m.objective() != 0 {
		t.Errorf("worth %g without a pivot", m.objective())
	}
	m.pivots = mostPivots - 2
	if !m.optimize() || m.objective() != 1 {
		t.Errorf("worth %g with a pivot to spare, want 1", m.objective())
	}
}
