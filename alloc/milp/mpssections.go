// This file implements the MPS reader, [IBM76]: what the records of each section mean.

package milp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// readRow reads "L name".
func (p *mpsParser) readRow(fields []string) error {
	if len(fields) != 2 {
		return errors.New("a row is a type and a name")
	}
	kind := strings.ToUpper(fields[0])
	if len(kind) != 1 || !strings.Contains("NLGE", kind) {
		return fmt.Errorf("row type %q is unknown", fields[0])
	}
	name := fields[1]
	if _, twice := p.rowIndex[name]; twice {
		return fmt.Errorf("row %q is there twice", name)
	}
	// The first N row is the objective. Later ones stay rows: they bound nothing, but somebody may
	// want their value.
	if kind == "N" && p.objective < 0 {
		p.objective = int32(len(p.rows))
	}
	p.rowIndex[name] = int32(len(p.rows))
	p.rows = append(p.rows, mpsRow{name: name, kind: kind[0], line: p.line})
	return nil
}

// readColumn reads "column row number [row number]", or a marker.
func (p *mpsParser) readColumn(fields []string) error {
	// A marker has a name, the word and its kind; the quotes are part of the words.
	if len(fields) == 3 && fields[1] == "'MARKER'" {
		switch fields[2] {
		case "'INTORG'":
			p.integer = true
		case "'INTEND'":
			p.integer = false
		default:
			return fmt.Errorf("marker %q is unknown", fields[2])
		}
		return nil
	}
	if len(fields) != 3 && len(fields) != 5 {
		return errors.New("a column is a name and one or two pairs of row and number")
	}
	// A column begins with its first record; one without any is not in the program.
	j, err := p.column(fields[0])
	if err != nil {
		return err
	}
	for pair := fields[1:]; len(pair) > 0; pair = pair[2:] {
		i, known := p.rowIndex[pair[0]]
		if !known {
			return fmt.Errorf("row %q is unknown", pair[0])
		}
		coef, err := parseFinite(pair[1])
		if err != nil {
			return err
		}
		// row.column is the last column that had an entry in the row. All records of a column
		// stand together, so the comparison finds every second entry in O(1), without a map.
		if p.rows[i].column == j+1 {
			return fmt.Errorf("column %q has two entries in row %q", fields[0], pair[0])
		}
		p.rows[i].column = j + 1
		p.entries = append(p.entries, mpsEntry{i, j, coef})
	}
	return nil
}

// column returns the index of the column that is being read, a new one where the name changes.
func (p *mpsParser) column(name string) (int32, error) {
	// A column whose name comes again after another's is refused: column-wise readers rely on
	// records being together.
	last := int32(len(p.columns)) - 1
	if last >= 0 && p.columns[last].name == name {
		return last, nil
	}
	if _, twice := p.colIndex[name]; twice {
		return 0, fmt.Errorf("the records of column %q are not together", name)
	}
	p.colIndex[name] = last + 1
	// A lower bound of 0 is the format's default, and Go's.
	p.columns = append(p.columns, mpsColumn{
		// The markers around its first record decide whether a column is integer.
		name: name, upper: math.Inf(1), integer: p.integer, line: p.line,
	})
	return last + 1, nil
}

// inFirstSet reports whether a record belongs to the first set of its section.
func (p *mpsParser) inFirstSet(set string) bool {
	// RHS, RANGES and BOUNDS choose their sets apart.
	first, known := p.sets[p.section]
	// The first record of a section says which set counts, also where it has no name.
	if !known {
		p.sets[p.section] = set
	}
	return !known || first == set
}

// readVector reads "[set] row number [row number]" of RHS and RANGES: an even number of fields has no
// set.
func (p *mpsParser) readVector(fields []string) error {
	set := ""
	// Pairs take an even number of fields, so an odd one means that the set's name comes first.
	if len(fields)%2 == 1 {
		set, fields = fields[0], fields[1:]
	}
	if len(fields) != 2 && len(fields) != 4 {
		return errors.New("a record is a set and one or two pairs of row and number")
	}
	used := p.inFirstSet(set)
	for pair := fields; len(pair) > 0; pair = pair[2:] {
		i, known := p.rowIndex[pair[0]]
		if !known {
			return fmt.Errorf("row %q is unknown", pair[0])
		}
		x, err := parseNumber(pair[1])
		if err != nil {
			return err
		}
		// A record of a later set is checked like any other, and then ignored.
		if !used {
			continue
		}
		row := &p.rows[i]
		row.line = p.line
		// A second record of the same set about the same row replaces the first: the last
		// statement counts.
		if p.section == "RHS" {
			row.rhs = x
		} else {
			row.width, row.ranged = x, true
		}
	}
	return nil
}

// valueless lists the bound types that need no number.
var valueless = []string{"FR", "MI", "PL", "BV"}

// readBound reads "type [set] column [number]".
func (p *mpsParser) readBound(fields []string) error {
	kind := strings.ToUpper(fields[0])
	operands := fields[1:]
	// text is the number as it stands, which bound reads where its type has one.
	text := ""
	// Three operands are a set, a column and a number, so that "BV B x 1" is read, whose number
	// means nothing.
	if n := len(operands); !slices.Contains(valueless, kind) || n == 3 {
		if n < 2 {
			return fmt.Errorf("bound %s needs a column and a number", kind)
		}
		operands, text = operands[:n-1], operands[n-1]
	}
	set := ""
	// The set may be left out: then the column stands alone.
	if len(operands) == 2 {
		set, operands = operands[0], operands[1:]
	}
	if len(operands) != 1 {
		return errors.New("a bound is a type, a set, a column and a number")
	}
	j, known := p.colIndex[operands[0]]
	if !known {
		return fmt.Errorf("column %q is unknown", operands[0])
	}
	if !p.inFirstSet(set) {
		return nil
	}
	p.columns[j].line = p.line
	return p.columns[j].bound(kind, text)
}

func (c *mpsColumn) bound(kind, text string) error {
	// bounded ends the markers' default of [0, 1], see addTo.
	c.bounded = true
	switch kind {
	case "FR":
		c.lower, c.upper, c.lowerSet = math.Inf(-1), math.Inf(1), true
		return nil
	case "MI":
		c.lower, c.lowerSet = math.Inf(-1), true
		return nil
	case "PL":
		c.upper = math.Inf(1)
		return nil
	case "BV":
		c.lower, c.upper, c.lowerSet, c.integer = 0, 1, true, true
		return nil
	}
	// Bounds may be infinite here: 1e30 is how some writers say so.
	x, err := parseNumber(text)
	if err != nil {
		return err
	}
	switch kind {
	case "LO", "LI":
		c.lower, c.lowerSet = x, true
	case "UP", "UI":
		c.upper = x
		// A lower bound of 0 that nobody stated would make the column infeasible; dialects agree
		// on minus infinity here.
		if x < 0 && !c.lowerSet {
			c.lower = math.Inf(-1)
		}
	case "FX":
		c.lower, c.upper, c.lowerSet = x, x, true
	default:
		return fmt.Errorf("bound type %q is unknown", kind)
	}
	// LI and UI are LO and UP of an integer column. No bound makes an integer column continuous.
	c.integer = c.integer || kind[1] == 'I'
	return nil
}

func (r *mpsRow) interval() (lower, upper float64) {
	// [IBM76]: the width's sign matters for E rows only.
	width := math.Abs(r.width)
	if !r.ranged {
		width = math.Inf(1)
	}
	switch {
	case r.kind == 'N':
		return math.Inf(-1), math.Inf(1)
	// [IBM76] with R for the right-hand side and w for the width: L means [R-|w|, R], G means [R,
	// R+|w|].
	case r.kind == 'L':
		return r.rhs - width, r.rhs
	case r.kind == 'G':
		return r.rhs, r.rhs + width
	// E means R alone without a width, [R-|w|, R] where w is negative, and [R, R+|w|] where it is
	// not.
	case !r.ranged:
		return r.rhs, r.rhs
	case r.width < 0:
		return r.rhs - width, r.rhs
	}
	return r.rhs, r.rhs + width
}

func (p *mpsParser) finish() (*Model, error) {
	b := NewBuilder(p.name)
	// Variables first, in the file's order: the index of a column is that of its variable.
	for j := range p.columns {
		p.columns[j].addTo(b)
		if b.Err() != nil {
			return nil, &ParseError{p.columns[j].line, b.Err()}
		}
	}
	// Entries were read by columns, and the builder takes rows. A stable sort keeps the columns of
	// a row ascending.
	slices.SortStableFunc(p.entries, func(x, y mpsEntry) int { return cmp.Compare(x.row, y.row) })
	next := p.entries // by row, the columns of each row ascending
	var terms []Term
	for i := range p.rows {
		row := &p.rows[i]
		terms = terms[:0]
		for ; len(next) > 0 && next[0].row == int32(i); next = next[1:] {
			terms = append(terms, Term{Var{b, next[0].column}, next[0].coef})
		}
		// The right-hand side of the objective is its constant, negated: the row is read as "terms
		// = rhs".
		if int32(i) == p.objective {
			b.objective(p.sense, terms, 0-row.rhs)
		} else {
			lower, upper := row.interval()
			b.Row(row.name, lower, terms, upper)
		}
		if b.Err() != nil {
			return nil, &ParseError{row.line, b.Err()}
		}
	}
	// Without an N row only the sense is left to say.
	if p.objective < 0 {
		b.objective(p.sense, nil, 0)
	}
	model, err := b.Build()
	if err != nil {
		return nil, &ParseError{p.line, err}
	}
	return model, nil
}

func (c *mpsColumn) addTo(b *Builder) {
	upper := c.upper
	// CPLEX, Gurobi, SCIP and HiGHS read a marked column without any bound as binary; see
	// Deviations.
	if c.integer && !c.bounded {
		upper = 1
	}
	b.variable(Variable{Lower: c.lower, Upper: upper, Integer: c.integer}, c.name)
}
