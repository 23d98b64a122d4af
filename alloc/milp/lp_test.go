// This file reads LP files with a small reader of its own, and compares what they say with the model.

package milp

import (
	"math"

	"pgregory.net/rapid"
)

// lpProgram is what an LP file says: sums by name of the variable, rows in their order, bounds by name.
type lpProgram struct {
	maximise bool
	constant float64
	cost     map[string]float64
	rows     []lpRow
	lower    map[string]float64
	upper    map[string]float64
	integer  map[string]bool
}

// lpRow is one line of Subject To, with one relation.
type lpRow struct {
	name, relation string
	terms          map[string]float64
	bound          float64
}

// sameTerms compares a sum of a file with the coefficients of a model.
func sameTerms(got map[string]float64, names []string, want map[int]float64) bool {
	count := 0
	for j, coef := range want {
		if coef == 0 {
			continue
		}
		count++
		if got[names[j]] != coef {
			return false
		}
	}
	return len(got) == count
}

// checkLP compares what a reader has understood of a file with the model.
func checkLP(t rapid.TB, m *Model, p *lpProgram, text string) {
	names := lpNames(m.Variables(), m.VariableName)
	costs := map[int]float64{}
	for j := range m.Variables() {
		v := m.Variable(j)
		costs[j] = v.Cost
		lower, bounded := p.lower[names[j]]
		upper := p.upper[names[j]]
		if !bounded {
			lower, upper = 0, math.Inf(1)
		}
		if lower != v.Lower || upper != v.Upper || p.integer[names[j]] != v.Integer {
			t.Fatalf("%s: [%g %g], integer %v; the model has %+v\n%s", names[j], lower, upper, p.integer[names[j]], v, text)
		}
	}
	if p.maximise != (m.Sense() == Maximize) || p.constant != m.Constant() || !sameTerms(p.cost, names, costs) {
		t.Fatalf("objective %v + %g, maximise %v\n%s", p.cost, p.constant, p.maximise, text)
	}
	checkLPRows(t, m, p, names, text)
}

// checkLPRows compares the rows of a file with those of a model, of which a range is two and a free row none.
func checkLPRows(t rapid.TB, m *Model, p *lpProgram, names []string, text string) {
	rows, taken := p.rows, map[string]bool{}
	for i := range m.Rows() {
		row := m.Row(i)
		terms := map[int]float64{}
		for k, j := range row.Columns {
			terms[int(j)] = row.Coefs[k]
		}
		var due []lpRow
		if row.Lower == row.Upper {
			due = append(due, lpRow{relation: "=", bound: row.Lower})
		} else {
			if !math.IsInf(row.Lower, -1) {
				due = append(due, lpRow{relation: ">=", bound: row.Lower})
			}
			if !math.IsInf(row.Upper, 1) {
				due = append(due, lpRow{relation: "<=", bound: row.Upper})
			}
		}
		for _, want := range due {
			if len(rows) == 0 || rows[0].relation != want.relation || rows[0].bound != want.bound || !sameTerms(rows[0].terms, names, terms) || taken[rows[0].name] {
				t.Fatalf("row %d %+v should be %s %g, the file goes on with %+v\n%s", i, row, want.relation, want.bound, rows, text)
			}
			taken[rows[0].name] = true
			rows = rows[1:]
		}
	}
	if len(rows) > 0 {
		t.Fatalf("%d rows more than the model has\n%s", len(rows), text)
	}
}
