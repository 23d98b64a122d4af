// This file tests what is left of a text without its faults, and on which lines they stand.

package strictjson

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// A field goes with its key and one comma, whichever it is; the element of a list becomes null.
func TestRepaired(t *testing.T) {
	for _, test := range []struct {
		text string
		drop []string // in braces: a field
		want string
	}{
		{`{"a": 1, "b": 2, "c": 3}`, nil, `{"a": 1, "b": 2, "c": 3}`},
		{`{"a": 1, "b": 2, "c": 3}`, []string{`{"a": 1}`}, `{ "b": 2, "c": 3}`},
		{`{"a": 1, "b": 2, "c": 3}`, []string{`{"b": 2}`}, `{"a": 1,  "c": 3}`},
		{`{"a": 1, "b": 2 , "c": 3 }`, []string{`{"c": 3}`}, `{"a": 1, "b": 2 }`},
		{`{"a": 1, "b": 2, "c": 3}`, []string{`{"b": 2}`, `{"c": 3}`}, `{"a": 1}`},
		{`{"a": 1, "b": 2, "c": 3}`, []string{`{"c": 3}`, `{"a": 1}`, `{"b": 2}`}, `{}`},
		{`[1, {"a": 2}, 3]`, []string{`1`, `{"a": 2}`}, `[null, {}, 3]`},
		{`[{"a": [2, 3]}]`, []string{`3`, `{"a": [2, 3]}`}, `[{}]`},
	} {
		c := newCursor([]byte(test.text))
		for _, part := range test.drop {
			field := strings.HasPrefix(part, "{")
			part = strings.TrimSuffix(strings.TrimPrefix(part, "{"), "}")
			at := strings.Index(test.text, part)
			c.repairs = append(c.repairs, repair{at, at + len(part), field})
		}
		got := string(c.repaired(0, len(test.text)))
		if compact(got) != compact(test.want) || !json.Valid([]byte(got)) {
			t.Errorf("%s without %q is %s, want %s", test.text, test.drop, got, test.want)
		}
	}
}

func compact(text string) string { return strings.Join(strings.Fields(text), "") }

// Faults in any order have the lines that counting from the beginning gives.
func TestLinesOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := []byte(strings.Repeat("ab\n\ncd", 50))
	for range 100 {
		faults := make([]located, rng.IntN(20))
		var want []int
		for i := range faults {
			faults[i].offset = rng.IntN(len(text))
			want = append(want, 1+strings.Count(string(text[:faults[i].offset]), "\n"))
		}
		must.Same(t, linesOf(text, faults), want, "lines")
	}
}
