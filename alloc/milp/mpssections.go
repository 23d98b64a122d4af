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
	if kind == "N" && p.objective < 0 {
		p.objective = int32(len(p.rows))
	}
	p.rowIndex[name] = int32(len(p.rows))
	p.rows = append(p.rows, mpsRow{name: name, kind: kind[0], line: p.line})
	return nil
}

// readColumn reads "column row number [row number]", or a marker.
func (p *mpsParser) readColumn(fields []string) error {
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
	last := int32(len(p.columns)) - 1
	if last >= 0 && p.columns[last].name == name {
		return last, nil
	}
	if _, twice := p.colIndex[name]; twice {
		return 0, fmt.Errorf("the records of column %q are not together", name)
	}
	p.colIndex[name] = last + 1
	p.columns = append(p.columns, mpsColumn{
		name: name, upper: math.Inf(1), integer: p.integer, line: p.line,
	})
	return last + 1, nil
}

// inFirstSet reports whether a record belongs to the first set of its section.
func (p *mpsParser) inFirstSet(set string) bool {
	first, known := p.sets[p.section]
	if !known {
		p.sets[p.section] = set
	}
	return !known || first == set
}

// readVector reads "[set] row number [row number]" of RHS and RANGES: an even number of fields has no
// set.
func (p *mpsParser) readVector(fields []string) error {
	set := ""
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
		if !used {
			continue
		}
		row := &p.rows[i]
		row.line = p.line
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
	text := ""
	if n := len(operands); !slices.Contains(valueless, kind) || n == 3 {
		if n < 2 {
			return fmt.Errorf("bound %s needs a column and a number", kind)
		}
		operands, text = operands[:n-1], operands[n-1]
	}
	set := ""
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

// bound applies one bound.
func (c *mpsColumn) bound(kind, text string) error {
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
	x, err := parseNumber(text)
	if err != nil {
		return err
	}
	switch kind {
	case "LO", "LI":
		c.lower, c.lowerSet = x, true
	case "UP", "UI":
		c.upper = x
		if x < 0 && !c.lowerSet {
			c.lower = math.Inf(-1)
		}
	case "FX":
		c.lower, c.upper, c.lowerSet = x, x, true
	default:
		return fmt.Errorf("bound type %q is unknown", kind)
	}
	c.integer = c.integer || kind[1] == 'I'
	return nil
}

// interval returns the bounds of a row.
func (r *mpsRow) interval() (lower, upper float64) {
	width := math.Abs(r.width)
	if !r.ranged {
		width = math.Inf(1)
	}
	switch {
	case r.kind == 'N':
		return math.Inf(-1), math.Inf(1)
	case r.kind == 'L':
		return r.rhs - width, r.rhs
	case r.kind == 'G':
		return r.rhs, r.rhs + width
	case !r.ranged:
		return r.rhs, r.rhs
	case r.width < 0:
		return r.rhs - width, r.rhs
	}
	return r.rhs, r.rhs + width
}

// finish builds the model.
func (p *mpsParser) finish() (*Model, error) {
	b := NewBuilder(p.name)
	for j := range p.columns {
		p.columns[j].addTo(b)
		if b.Err() != nil {
			return nil, &ParseError{p.columns[j].line, b.Err()}
		}
	}
	slices.SortStableFunc(p.entries, func(x, y mpsEntry) int { return cmp.Compare(x.row, y.row) })
	next := p.entries // by row, the columns of each row ascending
	var terms []Term
	for i := range p.rows {
		row := &p.rows[i]
		terms = terms[:0]
		for ; len(next) > 0 && next[0].row == int32(i); next = next[1:] {
			terms = append(terms, Term{Var{b, next[0].column}, next[0].coef})
		}
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
	if p.objective < 0 {
		b.objective(p.sense, nil, 0)
	}
	model, err := b.Build()
	if err != nil {
		return nil, &ParseError{p.line, err}
	}
	return model, nil
}

// addTo adds the column's variable.
func (c *mpsColumn) addTo(b *Builder) {
	upper := c.upper
	if c.integer && !c.bounded {
		upper = 1
	}
	b.variable(Variable{Lower: c.lower, Upper: upper, Integer: c.integer}, c.name)
}
