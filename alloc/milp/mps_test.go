package milp

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// mpsSeeds are inputs of the fuzz target.
var mpsSeeds = []string{
	"NAME t\nROWS\n N obj\n L c\n G g\n E e\nCOLUMNS\n x obj 1 c 2\n M 'MARKER' 'INTORG'\n y g 1 e 3\n M 'MARKER' 'INTEND'\nRHS\n R c 4\n R obj -7\nRANGES\n R c 2\nBOUNDS\n UP B x -4\n LI B y 1\n UI B y 9\nENDATA\n",
	"OBJSENSE\n MAX\nROWS\n N o\n N free\nCOLUMNS\n x o 1 free 1\nBOUNDS\n FR x\n MI x\n PL x\n BV x\n FX x 3\nENDATA",
	"NAME          FIXED\nROWS\n N  COST\n L  LIM 1\nCOLUMNS\n    X 1       COST                 1   LIM 1                1\nRHS\n    RHS       LIM 1                4\nENDATA\n",
	"ENDATA",
}

// TestMPSBounds: every bound type, alone and after another, on a continuous and on a marked column.
func TestMPSBounds(t *testing.T) {
	for _, c := range []struct {
		bounds       string
		integer      bool
		lower, upper float64
		becomes      bool // integer in the end
	}{
		{"", false, 0, inf, false},
		{"", true, 0, 1, true}, // the markers' default
		{"UP B x 4", false, 0, 4, false},
		{"UP x 4", false, 0, 4, false},
		{"UP B x 4", true, 0, 4, true},
		{"UP B x -4", false, -inf, -4, false},
		{"UP B x 0", false, 0, 0, false},
		{"LO B x -9\n UP B x -4", false, -9, -4, false},
		{"UP B x -4\n LO B x -9", false, -9, -4, false},
		{"LO B x 3", false, 3, inf, false},
		{"LO B x 3", true, 3, inf, true},
		{"FX B x 2.5", false, 2.5, 2.5, false},
		{"FR B x", false, -inf, inf, false},
		{"FR x", true, -inf, inf, true},
		{"MI B x", false, -inf, inf, false},
		{"MI B x\n UP B x 5", false, -inf, 5, false},
		{"MI x\n UP x -5", false, -inf, -5, false},
		{"PL B x", true, 0, inf, true},
		{"BV B x", false, 0, 1, true},
		{"BV B x 1", false, 0, 1, true},
		{"LI B x 2", false, 2, inf, true},
		{"UI B x 7", false, 0, 7, true},
		{"UI B x -7", false, -inf, -7, true},
		{"UP B x 1e30", false, 0, inf, false},
		{"LO B x -1e20", false, -inf, inf, false},
		{"up B x 1e400", true, 0, inf, true},
		{"UP B x 4\n UP OTHER x 2", false, 0, 4, false}, // the first set counts
	} {
		column := " x r 1\n"
		if c.integer {
			column = " M 'MARKER' 'INTORG'\n x r 1\n M 'MARKER' 'INTEND'\n"
		}
		text := "ROWS\n N o\n L r\nCOLUMNS\n" + column + "RHS\n R r 1\nBOUNDS\n " + c.bounds + "\nENDATA\n"
		m, err := ReadMPS(strings.NewReader(text), nil)
		if err != nil {
			t.Errorf("%q: %v", c.bounds, err)
			continue
		}
		if v := m.Variable(0); v.Lower != c.lower || v.Upper != c.upper || v.Integer != c.becomes {
			t.Errorf("%q (marked %v): %+v, want [%v %v] integer %v", c.bounds, c.integer, v, c.lower, c.upper, c.becomes)
		}
	}
}

// TestMPSObjective: sense, constant, costs; one without an N row.
func TestMPSObjective(t *testing.T) {
	const rest = "ROWS\n N o\n L r\nCOLUMNS\n x o 2 r 1\nRHS\n o 5\nENDATA\n" // no set name
	for text, want := range map[string]string{
		rest:                                  "minimize -5\nx [0 +Inf] cost 2 integer false\nr [-Inf 0] [0] [1]\n",
		"OBJSENSE\n    MAX\n" + rest:          "maximize -5\nx [0 +Inf] cost 2 integer false\nr [-Inf 0] [0] [1]\n",
		"NAME x\nOBJSENSE MAXIMIZE\n" + rest:  "maximize -5\nx [0 +Inf] cost 2 integer false\nr [-Inf 0] [0] [1]\n",
		"OBJSENSE MIN\nROWS\nCOLUMNS\nENDATA": "minimize 0\n",
		"OBJSENSE MAX\nROWS\nCOLUMNS\nENDATA": "maximize 0\n",
		"* comment\n\nROWS\r\n N o\r\n L r\r\nCOLUMNS\r\n x\to\t2\r\nENDATA\r\n\x00 ignored": "minimize 0\nx [0 +Inf] cost 2 integer false\nr [-Inf 0] [] []\n",
	} {
		m, err := ReadMPS(strings.NewReader(text), nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := describe(m); got != want {
			t.Errorf("%q: got\n%swant\n%s", text, got, want)
		}
	}
}

// TestMPSErrors: each fault is found at its line.
func TestMPSErrors(t *testing.T) {
	const rows = "ROWS\n N o\n L r\n"
	for _, c := range []struct {
		text  string
		line  int
		fault string
	}{
		{"", 0, "ENDATA is missing"},
		{rows, 3, "ENDATA is missing"},
		{" x 1\n", 1, "where a section is due"},
		{"NAME n\n x 1\n", 2, "where a section is due"},
		{"SOS\n", 1, `section "SOS" is not supported`},
		{"OBJSENSE\n SIDEWAYS\n", 2, "sense"},
		{"OBJSENSE SIDEWAYS\n", 1, "sense"},
		{"ROWS\n Q r\n", 2, "row type"},
		{"ROWS\n L\n", 2, "a type and a name"},
		{rows + " L r\n", 4, `row "r" is there twice`},
		{rows + "COLUMNS\n x r\n", 5, "pairs"},
		{rows + "COLUMNS\n x q 1\n", 5, `row "q" is unknown`},
		{rows + "COLUMNS\n x r one\n", 5, `"one" is not a number`},
		{rows + "COLUMNS\n x r nan\n", 5, "not a number"},
		{rows + "COLUMNS\n x r 1e20\n", 5, "too large"},
		{rows + "COLUMNS\n x r 1 r 2\n", 5, "two entries"},
		{rows + "COLUMNS\n x r 1\n x r 2\n", 6, "two entries"},
		{rows + "COLUMNS\n x r 1\n y r 1\n x o 2\n", 7, "not together"},
		{rows + "COLUMNS\n M 'MARKER' 'INTWHAT'\n", 5, "marker"},
		{rows + "COLUMNS\n x r 1\nRHS\n R q 1\n", 7, `row "q" is unknown`},
		{rows + "COLUMNS\n x r 1\nRHS\n R r\n", 7, "is unknown"},
		{rows + "COLUMNS\n x r 1\nRHS\n R\n", 7, "pairs"},
		{rows + "COLUMNS\n x r 1\nRHS\n R r -1e30\nENDATA\n", 7, "out of range"},
		{rows + "COLUMNS\n x r 1\nRHS\n R o 1e30\nENDATA\n", 7, "not a finite"},
		{rows + "COLUMNS\n x r 1\nBOUNDS\n UP B x\n", 7, "column"},
		{rows + "COLUMNS\n x r 1\nBOUNDS\n FR B y\n", 7, `column "y" is unknown`},
		{rows + "COLUMNS\n x r 1\nBOUNDS\n SC B x 4\n", 7, `bound type "SC" is unknown`},
		{rows + "COLUMNS\n x r 1\nBOUNDS\n UP B x 4 5\n", 7, "a bound is"},
		{rows + "COLUMNS\n x r 1\nBOUNDS\n UP\n", 7, "needs a column"},
		{rows + "COLUMNS\n x r 1\nBOUNDS\n LO B x 4\n UP B x 3\nENDATA\n", 8, "4 > upper bound 3"},
		{rows + "COLUMNS\n x\x00 r 1\n", 5, "control character"},
		{rows + "COLUMNS\n x\xff r 1\n", 5, "not UTF-8"},
		{rows + "COLUMNS\n " + strings.Repeat("x", maxMPSLine) + " r 1\n", 5, "too long"},
	} {
		_, err := ReadMPS(strings.NewReader(c.text), nil)
		var fault *ParseError
		if !errors.As(err, &fault) || fault.Line != c.line || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%.60q: error %v, want line %d: %s", c.text, err, c.line, c.fault)
		}
	}
}

// endless is a well-formed input without an end; it counts what is read.
type endless struct {
	line string
	read int64
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n+len(e.line) <= len(p) {
		n += copy(p[n:], e.line)
	}
	if n == 0 {
		n = copy(p, e.line)
	}
	e.read += int64(n)
	return n, nil
}

// TestMPSLimit: an endless input ends at MaxBytes, with memory in proportion.
func TestMPSLimit(t *testing.T) {
	const limit = 1 << 20
	for _, line := range []string{"* comment\n", "\n"} {
		input := &endless{line: line}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadMPS(input, &MPSOptions{MaxBytes: limit})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "longer than") {
			t.Errorf("%q: %v", line, err)
		}
		if input.read > limit+64<<10 {
			t.Errorf("%q: %d bytes read", line, input.read)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 60*limit {
			t.Errorf("%q: %d bytes allocated", line, used)
		}
	}
	const model = "ROWS\n N o\nCOLUMNS\nENDATA\n"
	if _, err := ReadMPS(strings.NewReader(model), &MPSOptions{MaxBytes: int64(len(model))}); err != nil {
		t.Errorf("an input of just the limit: %v", err)
	}
	if _, err := ReadMPS(strings.NewReader("*"+model), &MPSOptions{MaxBytes: int64(len(model))}); err == nil {
		t.Error("an input one byte longer was read")
	}
}

// Reference: [Bixby98], the counts in the heads of the files; each is also written and read back.
func TestMIPLIBFiles(t *testing.T) {
	for name, want := range map[string][4]int{ // rows, columns, integers, nonzeros without the objective's
		"enigma": {21, 100, 100, 289}, "flugpl": {18, 18, 11, 46}, "lseu": {28, 89, 89, 309}, "misc03": {96, 160, 159, 2053},
		"mod008": {6, 319, 319, 1243}, "p0033": {16, 33, 33, 98}, "rgn": {24, 180, 100, 460}, "stein27": {118, 27, 27, 378},
	} {
		file := must.Have(os.Open(filepath.Join("milptest", "miplib", name+".mps.gz")))(t)
		defer file.Close()
		text := must.Have(gzip.NewReader(file))(t)
		m, err := ReadMPS(text, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := [4]int{m.Rows(), m.Variables(), m.Integers(), m.Nonzeros()}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		back, err := ReadMPS(strings.NewReader(write(t, m)), nil)
		if err != nil || describe(back) != describe(m) {
			t.Errorf("%s: differs after reading back (%v)", name, err)
		}
	}
}

// TestWriteMPSRefuses: names that the format cannot carry.
func TestWriteMPSRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		sort error
		lazy func(int) string
	}{
		{"two alike", apportion.ErrDuplicate, func(int) string { return "same" }},
		{"white space", apportion.ErrRange, func(j int) string { return strings.Repeat(" ", j+1) }},
		{"empty", apportion.ErrEmpty, func(j int) string { return strings.Repeat("x", j) }},
		{"a word of the format", apportion.ErrRange, func(j int) string { return "'MARKER'" + strings.Repeat("x", j) }},
	} {
		for _, rows := range []bool{false, true} {
			b := NewBuilder("")
			b.Binary("")
			b.Binary("")
			b.AtMost("", nil, 1)
			b.AtMost("", nil, 1)
			if rows {
				b.NameRows(c.lazy)
			} else {
				b.NameVariables(c.lazy)
			}
			m := must.Have(b.Build())(t)
			if err := m.WriteMPS(new(strings.Builder)); !errors.Is(err, c.sort) {
				t.Errorf("%s (rows %v): %v", c.name, rows, err)
			}
			if err := m.WriteLP(new(strings.Builder)); err != nil {
				t.Errorf("%s: LP: %v", c.name, err)
			}
		}
	}
}
