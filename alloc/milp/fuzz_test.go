package milp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// FuzzReadMPS: no input makes the reader panic or take more than its share of memory; what it
// accepts is written, and read back to the same text.
func FuzzReadMPS(f *testing.F) {
	for _, seed := range mpsSeeds {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, fixed bool) {
		opts := &MPSOptions{Fixed: fixed, MaxBytes: 4096}
		model, err := ReadMPS(bytes.NewReader(text), opts)
		if err != nil {
			return
		}
		if n := model.Variables() + model.Rows() + model.Nonzeros(); n > len(text) {
			t.Fatalf("%d parts from %d bytes", n, len(text))
		}
		var once, twice, lp strings.Builder
		if err := model.WriteMPS(&once); err != nil {
			t.Skip(err) // a name that the writer refuses, such as 'MARKER'
		}
		back, err := ReadMPS(strings.NewReader(once.String()), nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, once.String())
		}
		if err := back.WriteMPS(&twice); err != nil || once.String() != twice.String() && !hasRange(model) {
			t.Fatalf("%v\n%s\n%s", err, once.String(), twice.String())
		}
		must.Do(t, model.WriteLP(&lp))
	})
}

// hasRange reports whether a row has two different finite bounds, which may move by rounding.
func hasRange(m *Model) bool {
	for i := range m.Rows() {
		if _, _, width := rangeOf(m.Row(i).Lower, m.Row(i).Upper); width != 0 {
			return true
		}
	}
	return false
}
