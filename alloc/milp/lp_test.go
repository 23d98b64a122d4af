// This file reads LP files with a small reader of its own, and compares what they say with the model.

package milp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
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

// lpSections are the words that begin a section.
var lpSections = map[string]bool{"Minimize": true, "Maximize": true, "Subject": true, "Bounds": true, "General": true, "End": true}

// readLP reads what WriteLP writes. Lines that are indented by two go on with the one before, a backslash begins a
// comment.
func readLP(text string) (*lpProgram, error) {
	p := &lpProgram{cost: map[string]float64{}, lower: map[string]float64{}, upper: map[string]float64{}, integer: map[string]bool{}}
	var statements []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "\\"):
		case strings.HasPrefix(line, "  ") && len(statements) > 0:
			statements[len(statements)-1] += line[1:]
		default:
			statements = append(statements, line)
		}
	}
	section := ""
	for _, statement := range statements {
		words := strings.Fields(statement)
		if !strings.HasPrefix(statement, " ") {
			if !lpSections[words[0]] {
				return nil, fmt.Errorf("unknown section %q", statement)
			}
			section = words[0]
			p.maximise = p.maximise || section == "Maximize"
			continue
		}
		var err error
		switch section {
		case "Minimize", "Maximize":
			p.cost, p.constant, err = lpSum(words[1:])
		case "Subject":
			err = p.row(words)
		case "Bounds":
			err = p.bound(words)
		case "General":
			for _, name := range words {
				p.integer[name] = true
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", statement, err)
		}
	}
	if section != "End" {
		return nil, fmt.Errorf("the file ends in section %q", section)
	}
	return p, nil
}

// lpSum reads "2 x - 3 y + 4".
func lpSum(words []string) (terms map[string]float64, constant float64, err error) {
	terms = map[string]float64{}
	sign, coef, pending := 1.0, 1.0, false
	flush := func() {
		if pending {
			constant += sign * coef
		}
		sign, coef, pending = 1, 1, false
	}
	for _, word := range words {
		number, notNumber := strconv.ParseFloat(word, 64)
		switch {
		case word == "+" || word == "-":
			flush()
			if word == "-" {
				sign = -1
			}
		case notNumber == nil && pending:
			return nil, 0, fmt.Errorf("two numbers before %q", word)
		case notNumber == nil:
			coef, pending = number, true
		default:
			if _, twice := terms[word]; twice {
				return nil, 0, fmt.Errorf("%s is there twice", word)
			}
			terms[word] = sign * coef
			sign, coef, pending = 1, 1, false
		}
	}
	flush()
	return terms, constant, nil
}

// row reads "name: terms >= bound".
func (p *lpProgram) row(words []string) error {
	n := len(words)
	if n < 4 || !strings.HasSuffix(words[0], ":") {
		return fmt.Errorf("no row")
	}
	terms, constant, err := lpSum(words[1 : n-2])
	bound, notNumber := strconv.ParseFloat(words[n-1], 64)
	if err != nil || notNumber != nil {
		return fmt.Errorf("%v, %v", err, notNumber)
	}
	for name, coef := range terms {
		if coef == 0 {
			delete(terms, name) // a row without terms
		}
	}
	p.rows = append(p.rows, lpRow{strings.TrimSuffix(words[0], ":"), words[n-2], terms, bound - constant})
	return nil
}

// bound reads "x free", "x = 3", "x >= 3" and "-inf <= x <= 3".
func (p *lpProgram) bound(words []string) error {
	number := func(k int) float64 {
		x, err := strconv.ParseFloat(words[k], 64)
		if err != nil {
			x = math.NaN()
		}
		return x
	}
	switch {
	case len(words) == 2 && words[1] == "free":
		p.lower[words[0]], p.upper[words[0]] = math.Inf(-1), math.Inf(1)
	case len(words) == 3 && words[1] == "=":
		p.lower[words[0]], p.upper[words[0]] = number(2), number(2)
	case len(words) == 3 && words[1] == ">=":
		p.lower[words[0]], p.upper[words[0]] = number(2), math.Inf(1)
	case len(words) == 5 && words[1] == "<=" && words[3] == "<=":
		p.lower[words[2]], p.upper[words[2]] = number(0), number(4)
	default:
		return fmt.Errorf("no bound")
	}
	return nil
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

// An LP file says what the model says: every cost, row, bound and kind, under names that are legal.
func TestWriteLPSaysTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genModel(t)
		var text strings.Builder
		must.Do(t, m.WriteLP(&text))
		p, err := readLP(text.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, &text)
		}
		checkLP(t, m, p, text.String())
	})
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
