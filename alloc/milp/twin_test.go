// This file compares Builder and ReadMPS with twins that keep everything in maps, on random programs and files.

package milp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// twin is a program as a caller states it: nothing is sorted, nothing is joined until it is asked for.
type twin struct {
	variables []Variable
	names     []string
	rows      []twinRow
	sense     Sense
	constant  float64
	cost      []Term
}

type twinRow struct {
	name         string
	lower, upper float64
	terms        []Term
}

// describe writes the program as describe does for a Model.
func (p *twin) describe() string {
	sum := func(terms []Term) map[int]float64 {
		coefs := map[int]float64{}
		for _, term := range terms {
			coefs[term.Var.Index()] += term.Coef
		}
		return coefs
	}
	name := func(given, prefix string, k int) string {
		if given == "" {
			return fmt.Sprint(prefix, k)
		}
		return given
	}
	var text strings.Builder
	fmt.Fprintln(&text, p.sense, p.constant)
	cost := sum(p.cost)
	for j, v := range p.variables {
		fmt.Fprintf(&text, "%s [%v %v] cost %v integer %v\n", name(p.names[j], "x", j), v.Lower, v.Upper, cost[j], v.Integer)
	}
	for i, row := range p.rows {
		coefs := sum(row.terms)
		columns, values := []int32{}, []float64{}
		for j := range p.variables {
			if coefs[j] != 0 {
				columns, values = append(columns, int32(j)), append(values, coefs[j])
			}
		}
		fmt.Fprintf(&text, "%s [%v %v] %v %v\n", name(row.name, "c", i), row.lower, row.upper, columns, values)
	}
	return text.String()
}

// slip is something that a caller does wrong, and the sentinel of its fault.
type slip struct {
	fault error
	make  func(b *Builder, vars []Var)
}

var slips = []slip{
	{apportion.ErrNotFinite, func(b *Builder, _ []Var) { b.Continuous(nan, 1, "") }},
	{apportion.ErrNotFinite, func(b *Builder, vars []Var) { b.Minimize([]Term{{vars[0], inf}}, 0) }},
	{apportion.ErrNotFinite, func(b *Builder, _ []Var) { b.Maximize(nil, nan) }},
	{apportion.ErrConflict, func(b *Builder, _ []Var) { b.Integer(3, 2, "") }},
	{apportion.ErrConflict, func(b *Builder, _ []Var) { b.Row("", 1, nil, 0) }},
	{apportion.ErrRange, func(b *Builder, _ []Var) { b.Continuous(0, 1e25, "") }},
	{apportion.ErrRange, func(b *Builder, _ []Var) { b.Binary("two words") }},
	{apportion.ErrRange, func(b *Builder, vars []Var) { b.AtMost("", []Term{{vars[0], Infinite}}, 1) }},
	{apportion.ErrRange, func(b *Builder, vars []Var) { b.Equal("", []Term{{vars[0], 0.6e20}, {vars[0], 0.6e20}}, 1) }},
	{apportion.ErrUnknown, func(b *Builder, _ []Var) { b.AtLeast("", []Term{{NewBuilder("").Binary(""), 1}}, 1) }},
}

// A builder holds what it was told, whatever the order of the terms; what is told after a slip counts for nothing,
// and the first slip is the fault.
func TestBuilderAgainstTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	faulty := 0
	for range 400 {
		b, p, vars := NewBuilder(""), &twin{}, []Var(nil)
		addVariable := func() {
			v := Variable{Lower: float64(rng.IntN(5) - 5), Upper: float64(rng.IntN(5)), Integer: rng.IntN(2) == 0}
			name := []string{"", fmt.Sprint("v", len(vars))}[rng.IntN(2)]
			add := b.Continuous
			if v.Integer {
				add = b.Integer
			}
			vars = append(vars, add(v.Lower, v.Upper, name))
			p.variables, p.names = append(p.variables, v), append(p.names, name)
		}
		terms := func() (list []Term) {
			for range rng.IntN(6) {
				list = append(list, Term{vars[rng.IntN(len(vars))], float64(rng.IntN(7) - 3)})
			}
			return list
		}
		addVariable()
		for range rng.IntN(25) {
			switch rng.IntN(4) {
			case 0:
				addVariable()
			case 1:
				sense, list, constant := []Sense{Minimize, Maximize}[rng.IntN(2)], terms(), float64(rng.IntN(9))
				b.objective(sense, list, constant)
				p.sense, p.cost, p.constant = sense, list, constant
			default:
				row := twinRow{[]string{"", fmt.Sprint("r", len(p.rows))}[rng.IntN(2)], float64(-rng.IntN(9)), float64(rng.IntN(9)), terms()}
				if at := b.Row(row.name, row.lower, row.terms, row.upper); at != len(p.rows) {
					t.Fatalf("row %d is called %d", len(p.rows), at)
				}
				p.rows = append(p.rows, row)
			}
		}
		if rng.IntN(3) == 0 {
			faulty++
			first, second := slips[rng.IntN(len(slips))], slips[rng.IntN(len(slips))]
			first.make(b, vars)
			before := b.Err()
			second.make(b, vars)
			if model, err := b.Build(); !errors.Is(before, first.fault) || err != before || model != nil {
				t.Fatalf("fault %v, in the end %v, want %v", before, err, first.fault)
			}
			continue
		}
		m := must.Have(b.Build())(t)
		if diff := cmp.Diff(p.describe(), describe(m)); diff != "" {
			t.Fatalf("(-told +built):\n%s", diff)
		}
	}
	if faulty < 50 {
		t.Errorf("only %d slips", faulty)
	}
}

// mpsFile is a random file with what it means, by the rules of [IBM76] one by one.
type mpsFile struct {
	text     strings.Builder
	sense    Sense
	constant float64
	rows     []mpsMeaning
	columns  []mpsMeaning
}

// mpsMeaning is a row or a column of the file.
type mpsMeaning struct {
	name         string
	lower, upper float64
	integer      bool
	coefs        map[string]float64 // of a column by row, the objective's as ""
}

// number writes a number as files do, in one of several ways.
func (f *mpsFile) number(rng *rand.Rand, x float64) string {
	return fmt.Sprintf([]string{"%g", "%.3f", "%e"}[rng.IntN(3)], x)
}

// draw writes sections ROWS to BOUNDS.
func (f *mpsFile) draw(rng *rand.Rand) {
	value := func() float64 { return float64(rng.IntN(41)-20) / 4 }
	f.text.WriteString("NAME random\n* a comment\n")
	if rng.IntN(2) == 0 {
		f.sense = Maximize
		f.text.WriteString([]string{"OBJSENSE\n MAX\n", "OBJSENSE MAXIMIZE\n"}[rng.IntN(2)])
	}
	f.text.WriteString("ROWS\n N cost\n")
	var rhs, ranges strings.Builder
	for i := range rng.IntN(5) {
		row := mpsMeaning{name: fmt.Sprint("r", i)}
		kind, right, width := "NLGE"[rng.IntN(4)], 0.0, math.Inf(1)
		fmt.Fprintf(&f.text, " %c %s\n", kind, row.name)
		if rng.IntN(3) > 0 {
			right = value()
			fmt.Fprintf(&rhs, " R %s %s\n", row.name, f.number(rng, right))
		}
		signed := 0.0
		if kind != 'N' && rng.IntN(3) == 0 {
			signed = value()
			width = math.Abs(signed)
			fmt.Fprintf(&ranges, " R %s %s\n", row.name, f.number(rng, signed))
		}
		ranged := !math.IsInf(width, 1)
		switch {
		case kind == 'N':
			row.lower, row.upper = math.Inf(-1), math.Inf(1)
		case kind == 'L', kind == 'E' && ranged && signed < 0:
			row.lower, row.upper = right-width, right
		case kind == 'G', kind == 'E' && ranged:
			row.lower, row.upper = right, right+width
		default:
			row.lower, row.upper = right, right
		}
		f.rows = append(f.rows, row)
	}
	if rng.IntN(2) == 0 {
		right := value()
		f.constant = -right + 0
		fmt.Fprintf(&rhs, " R cost %s\n", f.number(rng, right))
	}
	f.text.WriteString("COLUMNS\n")
	bounds := f.drawColumns(rng, value)
	f.text.WriteString("RHS\n" + rhs.String() + "RANGES\n" + ranges.String() + "BOUNDS\n" + bounds + "ENDATA\n")
}

// drawColumns writes COLUMNS and returns the text of BOUNDS.
func (f *mpsFile) drawColumns(rng *rand.Rand, value func() float64) string {
	var bounds strings.Builder
	for j := range rng.IntN(5) {
		column := mpsMeaning{name: fmt.Sprint("c", j), upper: math.Inf(1), integer: rng.IntN(2) == 0, coefs: map[string]float64{}}
		if column.integer {
			fmt.Fprint(&f.text, " M 'MARKER' 'INTORG'\n")
			column.upper = 1
		}
		column.coefs[""] = value()
		fmt.Fprintf(&f.text, " %s cost %s\n", column.name, f.number(rng, column.coefs[""]))
		for i := range f.rows {
			if rng.IntN(2) == 0 {
				column.coefs[f.rows[i].name] = value()
				fmt.Fprintf(&f.text, "\t%s %s %s\n", column.name, f.rows[i].name, f.number(rng, column.coefs[f.rows[i].name]))
			}
		}
		if column.integer {
			fmt.Fprint(&f.text, " M 'MARKER' 'INTEND'\n")
		}
		low, width := value(), math.Abs(value())
		switch rng.IntN(6) {
		case 0:
			fmt.Fprintf(&bounds, " LO B %s %g\n UP B %s %g\n", column.name, low, column.name, low+width)
			column.lower, column.upper = low, low+width
		case 1:
			fmt.Fprintf(&bounds, " FX B %s %g\n", column.name, low)
			column.lower, column.upper = low, low
		case 2:
			fmt.Fprintf(&bounds, " FR B %s\n", column.name)
			column.lower, column.upper = math.Inf(-1), math.Inf(1)
		case 3:
			fmt.Fprintf(&bounds, " UP B %s %g\n", column.name, low)
			if column.upper = low; low < 0 {
				column.lower = math.Inf(-1)
			}
		case 4:
			fmt.Fprintf(&bounds, " BV B %s\n", column.name)
			column.lower, column.upper, column.integer = 0, 1, true
		}
		f.columns = append(f.columns, column)
	}
	return bounds.String()
}

// A file means what the rules say, record by record; comments, tabs and ways to write a number mean nothing.
func TestReadMPSAgainstRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 6))
	for range 400 {
		f := &mpsFile{}
		f.draw(rng)
		m, err := ReadMPS(strings.NewReader(f.text.String()), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, &f.text)
		}
		if m.Sense() != f.sense || m.Constant() != f.constant || m.Variables() != len(f.columns) || m.Rows() != len(f.rows) || m.Name() != "random" {
			t.Fatalf("%v, constant %g, %d variables, %d rows; want %v, %g\n%s", m.Sense(), m.Constant(), m.Variables(), m.Rows(), f.sense, f.constant, &f.text)
		}
		for j, column := range f.columns {
			if v := m.Variable(j); v != (Variable{column.lower, column.upper, column.coefs[""], column.integer}) || m.VariableName(j) != column.name {
				t.Fatalf("%s is %+v, want %+v\n%s", m.VariableName(j), v, column, &f.text)
			}
		}
		for i, row := range f.rows {
			got := m.Row(i)
			var columns []int32
			var coefs []float64
			for j, column := range f.columns {
				if coef := column.coefs[row.name]; coef != 0 {
					columns, coefs = append(columns, int32(j)), append(coefs, coef)
				}
			}
			if got.Lower != row.lower || got.Upper != row.upper || !slices.Equal(got.Columns, columns) || !slices.Equal(got.Coefs, coefs) || m.RowName(i) != row.name {
				t.Fatalf("%s is %+v, want %+v with %v %v\n%s", m.RowName(i), got, row, columns, coefs, &f.text)
			}
		}
	}
}
