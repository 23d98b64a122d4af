package milp

import (
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
