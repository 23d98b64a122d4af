// This file tests parts of the walk by themselves: what is told once, which item a fault belongs to, what goes with
// a value that is dropped, and names of kinds.

package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

// A value nested as deep as is allowed is read past, one deeper is not; the walk along a type does not count.
func TestDepth(t *testing.T) {
	nested := func(depth int) string {
		return string(slices.Repeat([]byte("["), depth)) + string(slices.Repeat([]byte("]"), depth))
	}
	for depth, want := range map[int]error{1: nil, maxDepth: nil, maxDepth + 1: ErrTooDeep, 10 * maxDepth: ErrTooDeep} {
		c := newCursor([]byte(nested(depth)))
		if c.skip(c.next()); !errors.Is(c.err, want) {
			t.Errorf("%d deep: %v, want %v", depth, c.err, want)
		}
	}
}

// After an error of the text there are no tokens, no faults and no further error.
func TestErrorStays(t *testing.T) {
	c := newCursor([]byte(`[1, x]`))
	for range 3 {
		c.next()
	}
	first := c.err
	c.next()
	c.end()
	c.wrong(nil, "a", "b", 0)
	if first == nil || c.err != first || len(c.faults) > 0 || len(c.repairs) > 0 || c.more() {
		t.Errorf("%v, then %v with %v", first, c.err, c.faults)
	}
}

// Faults in an error of a type's own reading are put below its path; an error without faults is left to the caller.
func TestRefused(t *testing.T) {
	var several apportion.Faults
	several.Add(apportion.Item{}, "a", apportion.ErrRange, "1")
	several.Add(apportion.Item{}, "[2]", apportion.ErrEmpty, "")
	typed := json.Unmarshal([]byte(`{"A": "x"}`), &struct{ A int }{})
	for _, test := range []struct {
		err  error
		path string
		want []string
	}{
		{io.EOF, "p", nil},
		{several, "p", []string{"p.a is out of range: 1", "p[2] is empty"}},
		{fmt.Errorf("around: %w", several), "", []string{"a is out of range: 1", "[2] is empty"}},
		{several[0], "p", []string{"p.a is out of range: 1"}},
		{&apportion.FieldError{Err: apportion.ErrRange, Detail: "7"}, "p", []string{"p is out of range: 7"}},
		{typed, "p", []string{"p.A has the wrong type: string, not int"}},
	} {
		w := &walker{cursor: newCursor(nil), Options: &Options{}}
		refused := w.refused(test.err, test.path, 0)
		var got []string
		for _, f := range w.faults {
			got = append(got, f.FieldError.Error())
		}
		if diff := cmp.Diff(test.want, got); diff != "" || refused != (len(test.want) > 0) {
			t.Errorf("%v at %q: %v (-want +got):\n%s", test.err, test.path, refused, diff)
		}
	}
}
