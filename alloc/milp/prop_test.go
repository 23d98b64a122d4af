package milp

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// write returns the model in MPS.
func write(t must.TB, m *Model) string {
	var text strings.Builder
	must.Do(t, m.WriteMPS(&text))
	return text.String()
}

// TestWriteReadMPS: a model that is written and read back is equal in all that it gives access to,
// and written again it is the same text.
func TestWriteReadMPS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := genModel(t)
		text := write(t, model)
		back, err := ReadMPS(strings.NewReader(text), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(describe(model), describe(back)); diff != "" || back.Name() != model.Name() {
			t.Fatalf("name %q, %q\n%s\n%s", model.Name(), back.Name(), diff, text)
		}
		if again := write(t, back); again != text {
			t.Fatalf("written again:\n%s\nbefore:\n%s", again, text)
		}
	})
}

// TestRangeIsNearest: bounds of any size come back exactly, or off by one unit in the last place
// where no width joins them.
func TestRangeIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lower := rapid.Float64Range(-1e19, 1e19).Draw(t, "lower")
		upper := math.Max(lower, rapid.Float64Range(-1e19, 1e19).Draw(t, "upper"))
		kind, rhs, width := rangeOf(lower, upper)
		row := mpsRow{kind: kind, rhs: rhs, width: width, ranged: width != 0}
		gotLower, gotUpper := row.interval()
		for _, pair := range [][2]float64{{gotLower, lower}, {gotUpper, upper}} {
			if d := math.Abs(pair[0] - pair[1]); d > math.Abs(math.Nextafter(pair[1], inf)-pair[1]) {
				t.Fatalf("[%v %v] came back as [%v %v]", lower, upper, gotLower, gotUpper)
			}
		}
	})
}

// TestByColumns: the matrix by columns holds the same entries as the rows.
func TestByColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genModel(t)
		c := m.ByColumns()
		dense := make(map[[2]int]float64)
		for i := range m.Rows() {
			row := m.Row(i)
			for k, j := range row.Columns {
				dense[[2]int{i, int(j)}] = row.Coefs[k]
			}
		}
		for j := range m.Variables() {
			for k := c.Start[j]; k < c.Start[j+1]; k++ {
				if k > c.Start[j] && c.Rows[k-1] >= c.Rows[k] {
					t.Fatal("rows do not ascend")
				}
				if at := [2]int{int(c.Rows[k]), j}; dense[at] != c.Coefs[k] {
					t.Fatalf("entry %v: %v, want %v", at, c.Coefs[k], dense[at])
				} else {
					delete(dense, at)
				}
			}
		}
		if len(dense) > 0 {
			t.Fatalf("missing %v", dense)
		}
	})
}

// TestLPNames: names in LP files are legal and no two are alike, whatever the model's names are.
func TestLPNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "a[1]", "a_1_", "a(1)", "_", "[", "a~3", "e5", "1", "ü", "a_1_~3"}), 0, 12).Draw(t, "names")
		names := lpNames(len(given), func(k int) string { return given[k] })
		seen := map[string]bool{}
		for _, name := range names {
			if seen[name] || name != lpName(name) {
				t.Fatalf("%q of %q", name, names)
			}
			seen[name] = true
		}
	})
}
