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

// A fault of Validate is news unless the text has one of the same item in the same field or a part of it.
func TestCovers(t *testing.T) {
	item := apportion.Item{Kind: "part", ID: "p"}
	told := told{}
	told.add(&apportion.FieldError{Item: item, Field: "demand[1]"})
	told.add(&apportion.FieldError{Item: item, Field: "options.share"})
	told.add(&apportion.FieldError{Item: apportion.Item{Kind: "part", Index: 3}})
	told.add(&apportion.FieldError{Field: "kinds"})
	for _, test := range []struct {
		item  apportion.Item
		field string
		want  bool
	}{
		{item, "demand[1]", true}, {item, "demand", true}, {item, "demand[0]", false}, {item, "demands", false},
		{item, "options", true}, {item, "options.share", true}, {item, "options.sha", false}, {item, "options.share.x", false},
		{item, "", false}, {item, "kinds", false},
		{apportion.Item{Kind: "part", Index: 3}, "anything", true}, {apportion.Item{Kind: "part", Index: 3}, "", true}, {apportion.Item{Kind: "part", Index: 4}, "anything", false},
		{apportion.Item{}, "kinds", true}, {apportion.Item{}, "demand", false}, {apportion.Item{Kind: "server", ID: "p"}, "demand", false},
	} {
		if got := told.covers(&apportion.FieldError{Item: test.item, Field: test.field}); got != test.want {
			t.Errorf("%v %q: %v, want %v", test.item, test.field, got, test.want)
		}
	}
}

// Faults get the item around them once; the innermost one is told first and stays.
func TestBelong(t *testing.T) {
	part, whole := apportion.Item{Kind: "part", ID: "p"}, apportion.Item{Kind: "whole", ID: "w"}
	c := newCursor(nil)
	c.add("a", apportion.ErrRange, "", 0)
	before := len(c.faults)
	c.add("b", apportion.ErrRange, "", 0)
	c.belong(before, part)
	c.add("c", apportion.ErrRange, "", 0)
	c.belong(before, apportion.Item{})
	c.belong(before, whole)
	var got []apportion.Item
	for _, f := range c.faults {
		got = append(got, f.Item)
	}
	if diff := cmp.Diff([]apportion.Item{{}, part, whole}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A value that is dropped takes its key along; what is dropped within it does not.
func TestDropField(t *testing.T) {
	c := newCursor(nil)
	c.repairs = []repair{{10, 11, false}, {10, 12, false}, {14, 15, false}, {10, 20, false}}
	c.dropField(7, 10, 1)
	want := []repair{{10, 11, false}, {7, 12, true}, {14, 15, false}, {7, 20, true}}
	if !slices.Equal(c.repairs, want) {
		t.Errorf("%v, want %v", c.repairs, want)
	}
}

// What is there is called what JSON calls it, and is read past whatever it is.
func TestWrong(t *testing.T) {
	for text, want := range map[string]string{
		"null": "null, not x", "true": "true, not x", "-1.50": "-1.50, not x", `"a"`: "a string, not x",
		"[[1], {}]": "an array, not x", `{"a": [1]}`: "an object, not x",
	} {
		c := newCursor([]byte("[" + text + ", 7]"))
		c.next()
		from := c.offset()
		c.wrong(c.next(), "path", "x", from)
		if len(c.faults) != 1 || c.faults[0].Detail != want || c.faults[0].Field != "path" || !errors.Is(c.faults[0].Err, apportion.ErrType) || c.faults[0].offset != 1 {
			t.Errorf("%s: %+v", text, c.faults)
		}
		if next := fmt.Sprint(c.next()); next != "7" {
			t.Errorf("%s: %s comes behind", text, next)
		}
		if got := string(c.repaired(0, len(c.text))); got != "[null, 7]" {
			t.Errorf("%s: %s is left", text, got)
		}
	}
}

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

// The position of a quantity becomes the name of its kind, where there is one.
func TestWithKind(t *testing.T) {
	type vectors struct {
		Demand apportion.Resources `json:"demand"`
		Points []int64             `json:"points"`
	}
	kinds := func() apportion.Kinds { return apportion.Kinds{"cpu", "gpu"} }
	names := NamesOf(vectors{})
	for field, want := range map[string]string{
		"demand[0]": "demand[cpu]", "demand[1]": "demand[gpu]", "demand[2]": "demand[2]", "demand": "demand", "demand[x]": "demand[x]",
		"options.demand[1]": "options.demand[gpu]", "points[1]": "points[1]", "supply[1]": "supply[1]", "": "", "[1]": "[1]",
	} {
		if got := names.withKind(field, kinds); got != want {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
		if got := names.withKind(field, nil); got != field {
			t.Errorf("%q without kinds: %q", field, got)
		}
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
