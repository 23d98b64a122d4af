// This file implements the MPS reader, [IBM76] with the integer extensions: lines and sections.

package milp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
)

const (
	// defaultMaxMPSBytes bounds what ReadMPS reads; its memory is at most about 60 times the input.
	defaultMaxMPSBytes = 256 << 20
	// maxMPSLine bounds one line: six fields with generous names.
	maxMPSLine = 64 << 10
)

// MPSOptions says how an MPS file is to be read. nil and the zero value read free form.
type MPSOptions struct {
	// Fixed reads fields by their columns (2-3, 5-12, 15-22, 25-36, 40-47, 50-61), so that names
	// may hold spaces; each such space becomes "_". Files in fixed form whose names have none can
	// be read as free form too.
	Fixed bool
	// MaxBytes bounds the input; 0: 256 MiB.
	MaxBytes int64
}

// ParseError reports the line at which a text stops being a model.
type ParseError struct {
	// Line counts from 1.
	Line int
	Err  error
}

// Error returns "milp: MPS line 12: row "x" is unknown".
func (e *ParseError) Error() string { return fmt.Sprintf("milp: MPS line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *ParseError) Unwrap() error { return e.Err }

// ReadMPS reads a model in MPS format. Sections: NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS,
// ENDATA; bound types UP LO FX FR MI PL BV LI UI; markers INTORG and INTEND. Of several right-hand
// sides, ranges or bounds sets the first counts. What the package documentation says about dialects
// holds. A fault is a [*ParseError]; an input longer than MaxBytes is one too. Time and memory are
// linear in the input.
func ReadMPS(r io.Reader, opts *MPSOptions) (*Model, error) {
	if opts == nil {
		opts = &MPSOptions{}
	}
	limit := opts.MaxBytes
	if limit <= 0 {
		limit = defaultMaxMPSBytes
	}
	// One byte more than allowed is let through: when it has been read, the input was too long.
	input := &io.LimitedReader{R: r, N: limit + 1}
	// The parser sees lines alone, and never the whole text.
	p := newMPSParser(opts.Fixed)
	lines := bufio.NewScanner(input)
	// The buffer bounds a line, so that input without line ends cannot take the memory of the
	// whole.
	lines.Buffer(nil, maxMPSLine)
	// What follows ENDATA is not looked at; some tools append text there.
	for !p.ended && lines.Scan() {
		p.line++
		if err := p.readLine(lines.Text()); err != nil {
			return nil, &ParseError{p.line, err}
		}
	}
	// A line that is too long, or an error of the reader, lies behind the last good line.
	if err := lines.Err(); err != nil {
		return nil, &ParseError{p.line + 1, err}
	}
	// This comes before the check of ENDATA: a file that was cut off at the limit lacks that, too.
	if input.N <= 0 {
		return nil, &ParseError{p.line, fmt.Errorf("the input is longer than %d bytes", limit)}
	}
	if !p.ended {
		return nil, &ParseError{p.line, errors.New("ENDATA is missing")}
	}
	return p.finish()
}

// mpsParser is the state between two lines.
type mpsParser struct {
	// fixed, line, ended and section are the place in the file.
	fixed   bool
	line    int
	ended   bool
	section string

	// The rest is the model as far as it has been read. Indices are int32, as in Model.
	name      string
	sense     Sense
	rows      []mpsRow
	rowIndex  map[string]int32
	objective int32 // index of the first N row, or -1
	columns   []mpsColumn
	colIndex  map[string]int32
	entries   []mpsEntry
	integer   bool // between the markers
	// sets holds the name of the first set of RHS, RANGES and BOUNDS each; records of other sets
	// are ignored.
	sets map[string]string
}

// mpsRow is a row while its file is read.
type mpsRow struct {
	name       string
	kind       byte // N, L, G, E
	rhs, width float64
	ranged     bool
	line       int   // of the last statement about it
	column     int32 // the last column with an entry here, +1
}

// mpsColumn is a variable while its file is read.
type mpsColumn struct {
	name         string
	lower, upper float64
	integer      bool
	bounded      bool // some bound is stated
	lowerSet     bool // the lower bound is stated
	line         int  // of the last statement about it
}

type mpsEntry struct {
	row, column int32
	coef        float64
}

// newMPSParser returns a parser of files with fields in fixed columns, or between spaces.
func newMPSParser(fixed bool) *mpsParser {
	return &mpsParser{
		fixed: fixed, objective: -1,
		rowIndex: map[string]int32{}, colIndex: map[string]int32{}, sets: map[string]string{},
	}
}

// readLine reads one line: a comment, a section header (it starts in column 1) or a record.
func (p *mpsParser) readLine(line string) error {
	// Comments come before the check of characters: old files have all sorts of bytes in them.
	if strings.HasPrefix(line, "*") || strings.TrimSpace(line) == "" {
		return nil
	}
	if strings.ContainsFunc(line, breaksLine) {
		return errors.New("a control character, or not UTF-8")
	}
	// What starts in the first column is a section's header, in both forms of the format.
	if line[0] != ' ' && line[0] != '\t' {
		return p.header(line)
	}
	fields := strings.Fields(line)
	if p.fixed {
		fields = fixedFields(line)
	}
	// A line of spaces within the fields of fixed form says nothing.
	if len(fields) == 0 {
		return nil
	}
	switch p.section {
	case "OBJSENSE":
		return p.setSense(fields[0])
	case "ROWS":
		return p.readRow(fields)
	case "COLUMNS":
		return p.readColumn(fields)
	// Both sections have the same records; readVector asks p.section which one it is in.
	case "RHS", "RANGES":
		return p.readVector(fields)
	case "BOUNDS":
		return p.readBound(fields)
	}
	return fmt.Errorf("a record where a section is due (after %q)", p.section)
}

// breaksLine reports whether a character cannot stand in a line of text.
func breaksLine(c rune) bool {
	return c != '\t' && c != '\r' && (c == unicode.ReplacementChar || unicode.IsControl(c))
}

// header opens a section.
func (p *mpsParser) header(line string) error {
	fields := strings.Fields(line)
	// Case does not matter for the format's own words; names keep theirs.
	section := strings.ToUpper(fields[0])
	switch section {
	case "NAME":
		p.name = strings.TrimSpace(line[len(section):])
	case "OBJSENSE":
		// Some writers put the sense behind the word, others in a line of its own.
		if len(fields) > 1 {
			if err := p.setSense(fields[1]); err != nil {
				return err
			}
		}
	case "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS":
	case "ENDATA":
		p.ended = true
	default:
		return fmt.Errorf("section %.40q is not supported", fields[0])
	}
	p.section = section
	return nil
}

// setSense reads the direction of the objective.
func (p *mpsParser) setSense(word string) error {
	switch strings.ToUpper(word) {
	case "MAX", "MAXIMIZE", "MAXIMISE":
		p.sense = Maximize
	case "MIN", "MINIMIZE", "MINIMISE":
		p.sense = Minimize
	default:
		return fmt.Errorf("objective sense %q is unknown", word)
	}
	return nil
}

// fixedFields cuts a line of fixed form; blank fields are left out.
func fixedFields(line string) []string {
	var fields []string
	// The six fields of [IBM76], counted from 0 and half open. A short line ends some of them
	// early.
	for _, columns := range [...][2]int{{1, 3}, {4, 12}, {14, 22}, {24, 36}, {39, 47}, {49, 61}} {
		from, to := min(columns[0], len(line)), min(columns[1], len(line))
		if field := strings.TrimSpace(line[from:to]); field != "" {
			fields = append(fields, strings.Join(strings.Fields(field), "_"))
		}
	}
	return fields
}

// parseNumber reads a number that may be infinite (size 1e20 and above).
func parseNumber(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	// A number beyond float64, such as 1e400, comes back infinite with ErrRange: it means an
	// infinite bound here.
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	if math.Abs(x) >= Infinite {
		return math.Copysign(math.Inf(1), x), nil
	}
	return x, nil
}

func parseFinite(text string) (float64, error) {
	x, err := parseNumber(text)
	if err == nil && math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is too large", text)
	}
	return x, err
}
