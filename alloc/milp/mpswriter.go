// This file implements the MPS writer, [IBM76], free form.

package milp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apportion/apportion"
)

// WriteMPS writes the model in free MPS form. Reading it back gives an equal model, see the package
// documentation for the one exception. Two variables or two rows of one name (a generated name may
// meet a given one), and names that the format cannot carry, are an error. O(nonzeros) and one copy
// of the matrix.
func (m *Model) WriteMPS(w io.Writer) error {
	objective, err := m.mpsNames()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "NAME %s\n", m.name)
	if m.sense == Maximize {
		fmt.Fprint(out, "OBJSENSE\n    MAX\n")
	}
	fmt.Fprintf(out, "ROWS\n N %s\n", objective)
	for i := range m.rowLower {
		kind, _, _ := rangeOf(m.rowLower[i], m.rowUpper[i])
		fmt.Fprintf(out, " %c %s\n", kind, m.RowName(i))
	}
	m.writeColumns(out, objective)
	m.writeSides(out, objective)
	m.writeBounds(out)
	fmt.Fprint(out, "ENDATA\n")
	return out.Flush()
}

// mpsNames checks the names and returns one for the objective that no row has.
func (m *Model) mpsNames() (objective string, err error) {
	variables, rows := map[string]bool{}, map[string]bool{}
	var faults apportion.Faults
	for j := range m.lower {
		checkMPSName(&faults, variables, m.VariableName(j), fmt.Sprintf("variable %d", j))
	}
	for i := range m.rowLower {
		checkMPSName(&faults, rows, m.RowName(i), fmt.Sprintf("row %d", i))
	}
	objective = "OBJ"
	for rows[objective] {
		objective += "_"
	}
	return objective, faults.Err()
}

func checkMPSName(faults *apportion.Faults, seen map[string]bool, name, item string) {
	apportion.CheckID(faults, seen, name, item)
	var b Builder
	b.checkName(item, name)
	if fault := new(apportion.FieldError); errors.As(b.err, &fault) {
		*faults = append(*faults, fault)
	}
	if name == "'MARKER'" {
		faults.Add(item, "name", apportion.ErrRange, name+" is a word of the format")
	}
}

// writeColumns writes COLUMNS. A variable that occurs nowhere gets a cost of 0, so that it is there.
func (m *Model) writeColumns(out *bufio.Writer, objective string) {
	fmt.Fprint(out, "COLUMNS\n")
	matrix := m.ByColumns()
	integer := false
	for j, cost := range m.cost {
		if m.integer[j] != integer {
			integer = !integer
			writeMarker(out, integer)
		}
		name := m.VariableName(j)
		from, to := matrix.Start[j], matrix.Start[j+1]
		if cost != 0 || from == to {
			fmt.Fprintf(out, " %s %s %s\n", name, objective, formatNumber(cost))
		}
		for k := from; k < to; k++ {
			fmt.Fprintf(out, " %s %s %s\n", name, m.RowName(int(matrix.Rows[k])), formatNumber(matrix.Coefs[k]))
		}
	}
	if integer {
		writeMarker(out, false)
	}
}

func writeMarker(out *bufio.Writer, integer bool) {
	word := "INTEND"
	if integer {
		word = "INTORG"
	}
	fmt.Fprintf(out, " MARKER 'MARKER' '%s'\n", word)
}

// writeSides writes RHS and RANGES.
func (m *Model) writeSides(out *bufio.Writer, objective string) {
	fmt.Fprint(out, "RHS\n")
	if m.constant != 0 {
		fmt.Fprintf(out, " RHS %s %s\n", objective, formatNumber(-m.constant))
	}
	for i := range m.rowLower {
		if _, rhs, _ := rangeOf(m.rowLower[i], m.rowUpper[i]); rhs != 0 {
			fmt.Fprintf(out, " RHS %s %s\n", m.RowName(i), formatNumber(rhs))
		}
	}
	fmt.Fprint(out, "RANGES\n")
	for i := range m.rowLower {
		if _, _, width := rangeOf(m.rowLower[i], m.rowUpper[i]); width != 0 {
			fmt.Fprintf(out, " RANGES %s %s\n", m.RowName(i), formatNumber(width))
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
	// A float64 can join both ends only from the end of smaller size: its unit is the finer one.
	if math.Abs(lower) <= math.Abs(upper) {
		return 'G', lower, joining(upper-lower, func(w float64) bool { return lower+w == upper })
	}
	return 'L', upper, joining(upper-lower, func(w float64) bool { return upper-w == lower })
}

// joining returns the width or a neighbour of it that fits, else the width.
func joining(width float64, fits func(float64) bool) float64 {
	for _, w := range []float64{width, math.Nextafter(width, 0), math.Nextafter(width, math.Inf(1))} {
		if fits(w) {
			return w
		}
	}
	return width
}

// writeBounds writes BOUNDS: all that differs from [0, +Inf), and everything about integer
// variables and negative upper bounds, where dialects differ.
func (m *Model) writeBounds(out *bufio.Writer) {
	fmt.Fprint(out, "BOUNDS\n")
	for j, lower := range m.lower {
		upper, name := m.upper[j], m.VariableName(j)
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
		case lower != 0:
			fmt.Fprintf(out, " LO BOUNDS %s %s\n", name, formatNumber(lower))
		}
		if !noUpper {
			fmt.Fprintf(out, " UP BOUNDS %s %s\n", name, formatNumber(upper))
		} else if m.integer[j] {
			fmt.Fprintf(out, " PL BOUNDS %s\n", name)
		}
	}
}
