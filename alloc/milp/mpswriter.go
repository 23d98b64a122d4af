// This file implements the MPS writer, [IBM76], free form.

package milp

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// WriteMPS writes the model in free MPS form. Reading it back gives an equal model, see the package
// documentation for the one exception. Two variables or two rows of one name (a generated name may
// meet a given one), and names that the format cannot carry, are an error. O(nonzeros) and one copy
// of the matrix and of the names.
func (m *Model) WriteMPS(w io.Writer) error {
	out, err := newMPSWriter(m, w)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "NAME %s\n", m.name)
	if m.sense == Maximize {
		fmt.Fprint(out, "OBJSENSE\n    MAX\n")
	}
	fmt.Fprintf(out, "ROWS\n N %s\n", out.objective)
	for i, name := range out.rows {
		// The same function makes type, right-hand side and width, here and in writeSides, so that
		// the three agree.
		kind, _, _ := rangeOf(m.rowLower[i], m.rowUpper[i])
		fmt.Fprintf(out, " %c %s\n", kind, name)
	}
	out.writeColumns(m)
	out.writeSides(m)
	out.writeBounds(m)
	fmt.Fprint(out, "ENDATA\n")
	return out.Flush()
}

// mpsWriter writes one model, section by section.
type mpsWriter struct {
	*bufio.Writer
	variables, rows []string
	objective       string // a name that no row has
}

func newMPSWriter(m *Model, w io.Writer) (*mpsWriter, error) {
	out := &mpsWriter{Writer: bufio.NewWriter(w), objective: "OBJ"}
	var faults apportion.Faults
	// A lazy name may be costly to make, so each is made once and kept for the time of writing.
	// Variables and rows may share names: the format keeps them apart by their place.
	seen := make(map[string]bool, m.Variables())
	for j := range m.lower {
		out.variables = append(out.variables, m.VariableName(j))
		checkMPSName(&faults, seen, out.variables[j], check.Item("variable", "", j))
	}
	seen = make(map[string]bool, m.Rows())
	for i := range m.rowLower {
		out.rows = append(out.rows, m.RowName(i))
		checkMPSName(&faults, seen, out.rows[i], check.Item("row", "", i))
	}
	// Rows and the objective share one space of names in this format.
	for seen[out.objective] {
		out.objective += "_"
	}
	return out, faults.Err()
}

// checkMPSName adds a name that is empty, there twice, or that a reader would take for the format itself.
func checkMPSName(faults *apportion.Faults, seen map[string]bool, name string, item apportion.Item) {
	check.ID(faults, seen, name, item)
	// The builder has checked names that were given, but not those of NameVariables and NameRows.
	if strings.ContainsFunc(name, breaksName) || name == "'MARKER'" {
		faults.Add(item, "name", apportion.ErrRange, strconv.Quote(name)+" cannot stand in an MPS file")
	}
}

// writeColumns writes COLUMNS. A variable that occurs nowhere gets a cost of 0, so that it is there.
func (out *mpsWriter) writeColumns(m *Model) {
	fmt.Fprint(out, "COLUMNS\n")
	matrix := m.ByColumns()
	integer := false
	for j, cost := range m.cost {
		// One pair of markers surrounds each run of integer columns; the order of the variables is
		// the model's.
		if m.integer[j] != integer {
			integer = !integer
			out.writeMarker(integer)
		}
		name := out.variables[j]
		from, to := matrix.Start[j], matrix.Start[j+1]
		// A column exists only by its records.
		if cost != 0 || from == to {
			fmt.Fprintf(out, " %s %s %s\n", name, out.objective, formatNumber(cost))
		}
		for k := from; k < to; k++ {
			fmt.Fprintf(out, " %s %s %s\n", name, out.rows[matrix.Rows[k]], formatNumber(matrix.Coefs[k]))
		}
	}
	if integer {
		out.writeMarker(false)
	}
}

// writeMarker writes the line before or after a run of integer columns.
// The marker's own name is the same everywhere, as readers look at the second field only.
func (out *mpsWriter) writeMarker(integer bool) {
	word := "INTEND"
	if integer {
		word = "INTORG"
	}
	fmt.Fprintf(out, " MARKER 'MARKER' '%s'\n", word)
}

func (out *mpsWriter) writeSides(m *Model) {
	fmt.Fprint(out, "RHS\n")
	// A constant of 0 is what a file without it has.
	if m.constant != 0 {
		// Negated, as the reader takes it: the objective row is "terms = rhs".
		fmt.Fprintf(out, " RHS %s %s\n", out.objective, formatNumber(-m.constant))
	}
	for i := range m.rowLower {
		if _, rhs, _ := rangeOf(m.rowLower[i], m.rowUpper[i]); rhs != 0 {
			fmt.Fprintf(out, " RHS %s %s\n", out.rows[i], formatNumber(rhs))
		}
	}
	fmt.Fprint(out, "RANGES\n")
	for i := range m.rowLower {
		// Rows without a second bound have width 0. Equal bounds are type E, so no real range has
		// width 0.
		if _, _, width := rangeOf(m.rowLower[i], m.rowUpper[i]); width != 0 {
			fmt.Fprintf(out, " RANGES %s %s\n", out.rows[i], formatNumber(width))
		}
	}
}

// rangeOf returns the row type, the right-hand side and the width (0: none) that stand for
// lower <= row <= upper.
func rangeOf(lower, upper float64) (kind byte, rhs, width float64) {
	switch noLower, noUpper := math.IsInf(lower, -1), math.IsInf(upper, 1); {
	case noLower && noUpper:
		return 'N', 0, 0
	case noLower:
		return 'L', upper, 0
	case noUpper:
		return 'G', lower, 0
	case lower == upper:
		return 'E', lower, 0
	}
	// The width joins both ends best from the one of smaller size: its unit is the finer one.
	if math.Abs(lower) <= math.Abs(upper) {
		return 'G', lower, upper - lower
	}
	return 'L', upper, upper - lower
}

// writeBounds writes BOUNDS: all that differs from [0, +Inf), and everything about integer
// variables and negative upper bounds, where dialects differ.
func (out *mpsWriter) writeBounds(m *Model) {
	fmt.Fprint(out, "BOUNDS\n")
	for j, lower := range m.lower {
		upper, name := m.upper[j], out.variables[j]
		noLower, noUpper := math.IsInf(lower, -1), math.IsInf(upper, 1)
		switch {
		case noLower && noUpper:
			fmt.Fprintf(out, " FR BOUNDS %s\n", name)
			continue
		case lower == upper:
			fmt.Fprintf(out, " FX BOUNDS %s %s\n", name, formatNumber(lower))
			continue
		case noLower:
			fmt.Fprintf(out, " MI BOUNDS %s\n", name)
		// A lower bound comes before the upper one: a negative UP without it would set it to minus
		// infinity.
		case lower != 0:
			fmt.Fprintf(out, " LO BOUNDS %s %s\n", name, formatNumber(lower))
		}
		if !noUpper {
			fmt.Fprintf(out, " UP BOUNDS %s %s\n", name, formatNumber(upper))
			// PL is what [0, +Inf) needs where markers alone would mean [0, 1].
		} else if m.integer[j] {
			fmt.Fprintf(out, " PL BOUNDS %s\n", name)
		}
	}
}
