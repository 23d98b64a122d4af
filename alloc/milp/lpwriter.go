// This file implements the LP-format writer: the model for people to look at, and for solvers.

package milp

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// lpLine is where a line of terms is broken; solvers read at most 255 to 510 characters.
const lpLine = 96

// WriteLP writes the model in the LP format that CPLEX introduced. Characters that the format does
// not allow in a name become "_"; a name that is there already gets "~" and the index. A row with two
// different bounds becomes two, the second one called after the first with ".upper", since readers
// disagree about ranges; a row without bounds is a comment. O(nonzeros).
func (m *Model) WriteLP(w io.Writer) error {
	out := &lpWriter{
		Writer:    bufio.NewWriter(w),
		variables: lpNames(m.Variables(), m.VariableName),
	}
	out.nameRows(m)
	if m.name != "" {
		// A backslash begins a comment: LP has no place for a name of the model.
		out.WriteString("\\ " + m.name + "\n")
	}
	out.writeObjective(m)
	out.WriteString("Subject To\n")
	// Errors of single writes are kept by bufio.Writer, which then writes nothing more; Flush
	// returns the first.
	for i := range m.Rows() {
		out.writeRow(i, m.Row(i))
	}
	out.writeBounds(m)
	out.writeKinds(m)
	out.WriteString("End\n")
	return out.Flush()
}

// lpWriter writes one model; lines are broken between terms.
type lpWriter struct {
	*bufio.Writer
	variables, rows []string
	second          map[int]string // names of the second halves of ranges
	column          int            // characters in this line
	first           bool           // no term of this sum is written
}

// lpNames returns one legal name for each thing, no two alike.
func lpNames(count int, name func(int) string) []string {
	names := make([]string, count)
	seen := make(map[string]bool, count)
	for k := range names {
		legal := lpName(name(k))
		// Two names may become one when their characters are replaced. The index keeps most of
		// them apart.
		if seen[legal] {
			legal += "~" + strconv.Itoa(k)
		}
		// Somebody may have given just that name already: further characters help then.
		for seen[legal] {
			legal += "~"
		}
		seen[legal] = true
		names[k] = legal
	}
	return names
}

// lpWords are names that a reader of LP takes for words of the format.
var lpWords = []string{
	"bin", "binaries", "binary", "bound", "bounds", "end", "free", "gen", "general", "generals", "inf",
	"infinity", "int", "integer", "integers", "max", "maximise", "maximize", "maximum", "min", "minimise",
	"minimize", "minimum", "s.t.", "semi", "sos", "sos1", "sos2", "st", "st.", "subject", "such",
}

// lpName replaces what LP does not allow. A name that starts like a number, or is a word of the
// format, gets a "_" in front.
func lpName(name string) string {
	legal := strings.Map(func(c rune) rune {
		// These characters are legal in names. Brackets, "^", "*", "+" and the like mean something
		// in an expression, and a reader may stop at letters beyond ASCII.
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
			strings.ContainsRune("!\"#$%&(),.;?@_'`{}~", c) {
			return c
		}
		return '_'
	}, name)
	// "e5" and "E" may be read as the exponent of the coefficient before them; so may whatever
	// begins with a digit or a point.
	if number := strings.TrimLeft(legal, "eE"); legal == "" || number == "" || legal[0] == '.' ||
		number[0] >= '0' && number[0] <= '9' || slices.Contains(lpWords, strings.ToLower(legal)) {
		return "_" + legal
	}
	return legal
}

func (w *lpWriter) writeObjective(m *Model) {
	if m.sense == Maximize {
		w.WriteString("Maximize\n")
	} else {
		w.WriteString("Minimize\n")
	}
	// The objective has a name in this format, which no row shares: rows have a section of their own.
	w.start(" obj:")
	for j, cost := range m.cost {
		if cost != 0 {
			w.term(cost, w.variables[j])
		}
	}
	// An objective without terms still needs one, or readers take the next section's word for a
	// variable.
	if m.constant != 0 || w.first {
		w.term(m.constant, "")
	}
	w.WriteByte('\n')
}

// nameRows names the rows, and after them the second halves of ranges.
func (w *lpWriter) nameRows(m *Model) {
	w.second = make(map[int]string)
	var ranges []int
	for i := range m.Rows() {
		// Only rows with two different finite bounds become two.
		if row := m.Row(i); row.Lower != row.Upper && !math.IsInf(row.Lower, -1) && !math.IsInf(row.Upper, 1) {
			ranges = append(ranges, i)
		}
	}
	// All names are made in one call, so that the name of a second half cannot meet that of
	// another row.
	names := lpNames(m.Rows()+len(ranges), func(k int) string {
		if k < m.Rows() {
			return m.RowName(k)
		}
		return m.RowName(ranges[k-m.Rows()]) + ".upper"
	})
	w.rows = names[:m.Rows()]
	for r, i := range ranges {
		// The r-th range is row i, and its second name is the r-th after those of the rows.
		w.second[i] = names[m.Rows()+r]
	}
}

// writeRow writes " name: terms >= lower", and the same for the upper bound where it has one.
func (w *lpWriter) writeRow(i int, row Row) {
	noLower, noUpper := math.IsInf(row.Lower, -1), math.IsInf(row.Upper, 1)
	switch second, isRange := w.second[i]; {
	// LP has no free rows. The comment tells the reader of the file that one was there.
	case noLower && noUpper:
		w.WriteString("\\ " + w.rows[i] + " has no bounds\n")
	case row.Lower == row.Upper:
		w.writeHalf(w.rows[i], row, " = ", row.Upper)
	case isRange:
		w.writeHalf(w.rows[i], row, " >= ", row.Lower)
		w.writeHalf(second, row, " <= ", row.Upper)
	case noUpper:
		w.writeHalf(w.rows[i], row, " >= ", row.Lower)
	default:
		w.writeHalf(w.rows[i], row, " <= ", row.Upper)
	}
}

func (w *lpWriter) writeHalf(name string, row Row, relation string, bound float64) {
	w.start(" " + name + ":")
	for k, coef := range row.Coefs {
		w.term(coef, w.variables[row.Columns[k]])
	}
	// A row without terms may still be violated by 0, so it must be written: 0 times the first
	// variable, if there is one.
	if len(row.Coefs) == 0 {
		w.put(" 0")
		if len(w.variables) > 0 {
			w.put(" " + w.variables[0])
		}
	}
	w.put(relation + formatNumber(bound))
	w.WriteByte('\n')
}

// writeBounds writes one line for each variable that is not in [0, +Inf).
func (w *lpWriter) writeBounds(m *Model) {
	w.WriteString("Bounds\n")
	for j, name := range w.variables {
		// A variable that the section does not name is in [0, +Inf): all other bounds must be
		// said.
		lower, upper := m.lower[j], m.upper[j]
		switch {
		case math.IsInf(lower, -1) && math.IsInf(upper, 1):
			w.WriteString(" " + name + " free\n")
		// A fixed variable is one equation; two bounds would do as well, but people read this.
		case lower == upper:
			w.WriteString(" " + name + " = " + formatNumber(lower) + "\n")
		case math.IsInf(upper, 1) && lower != 0:
			w.WriteString(" " + name + " >= " + formatNumber(lower) + "\n")
		// Both bounds stand on one line, "-inf" included: a single negative upper bound is read in
		// two ways.
		case !math.IsInf(upper, 1):
			w.WriteString(" " + formatNumber(lower) + " <= " + name + " <= " + formatNumber(upper) + "\n")
		}
	}
}

// writeKinds lists the integer variables, if there are any.
func (w *lpWriter) writeKinds(m *Model) {
	if m.Integers() == 0 {
		return
	}
	w.WriteString("General\n")
	// The section's word has ended its line, so the list begins in a new one.
	w.column = 0
	for j, integer := range m.integer {
		if integer {
			w.put(" " + w.variables[j])
		}
	}
	w.WriteByte('\n')
}

// start begins a line.
func (w *lpWriter) start(text string) {
	w.WriteString(text)
	w.column, w.first = len(text), true
}

// term writes " + 2 x", as the first term " 2 x"; without a variable a number.
func (w *lpWriter) term(coef float64, variable string) {
	sign := " + "
	if w.first {
		sign = " "
	}
	if coef < 0 {
		// The sign is written apart from the number: "+ -3 x" is not legal everywhere.
		sign, coef = " - ", -coef
	}
	w.first = false
	switch {
	case variable == "":
		w.put(sign + formatNumber(coef))
	// A 1 is left out because people read this format.
	case coef == 1:
		w.put(sign + variable)
	default:
		w.put(sign + formatNumber(coef) + " " + variable)
	}
}

// put writes text, in a new line where this one is full.
func (w *lpWriter) put(text string) {
	// A line is broken between terms only; text is at most one term and its sign.
	if w.column+len(text) > lpLine {
		w.WriteString("\n  ")
		w.column = 2
	}
	w.WriteString(text)
	w.column += len(text)
}
