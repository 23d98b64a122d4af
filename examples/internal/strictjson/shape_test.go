// This file tests what is known of a struct type: its fields, which of them are required, and what an element
// of it is called.

package strictjson

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type (
	inner struct {
		Same int `json:"same"`
		Deep int `json:"deep,omitzero"`
		_    int // no field of JSON
	}
	// Tagged is embedded under a name of its own, which makes it a field.
	Tagged struct{ Inside int }
	outer  struct {
		inner
		Tagged  `json:"tagged"`
		ID      string   `json:"id"`
		Plain   bool     // without a tag
		Dash    int      `json:"-"`
		Same    string   `json:"same,omitempty"`
		Named   inner    `json:"named"`
		Pointer *float64 `json:",omitempty"`
	}
	// defaults reads itself and gives Weight and On a value; Other it leaves alone.
	defaults struct {
		Weight float64 `json:"weight"`
		On     bool    `json:"on"`
		Other  int     `json:"other"`
		Any    any     `json:"any"`
	}
	// numbered has an ID that is no text.
	numbered struct{ ID int }
)

// UnmarshalJSON sets what is absent.
func (d *defaults) UnmarshalJSON(text []byte) error {
	type fields defaults
	read := fields{Weight: 1, On: true}
	err := json.Unmarshal(text, &read)
	*d = defaults(read)
	return err
}

func TestShapeOf(t *testing.T) {
	for _, test := range []struct {
		value          any
		fields         []string // name:Go name, with a ! where it is required
		item           string
		custom, opaque bool
	}{
		// A field of the struct hides the embedded one of its name, and comes before all embedded ones.
		{outer{}, []string{"tagged:Tagged!", "id:ID!", "Plain:Plain!", "same:Same", "named:Named!", "Pointer:Pointer", "deep:Deep"}, "outer", false, false},
		{inner{}, []string{"same:Same!", "deep:Deep"}, "", false, false},
		{defaults{}, []string{"weight:Weight", "on:On", "other:Other!", "any:Any!"}, "", true, true},
		{numbered{}, []string{"ID:ID!"}, "", false, false},
	} {
		s := shapeOf(reflect.TypeOf(test.value))
		var got []string
		for i, f := range s.fields {
			text := f.name + ":" + f.goName
			if f.required {
				text += "!"
			}
			got = append(got, text)
			if at, ok := s.byName[f.name]; !ok || at != i {
				t.Errorf("%T: %s is found at %d, %t, and stands at %d", test.value, f.name, at, ok, i)
			}
		}
		if diff := cmp.Diff(test.fields, got); diff != "" || len(s.byName) != len(got) {
			t.Errorf("%T (-want +got):\n%s", test.value, diff)
		}
		if s.item != test.item || s.custom != test.custom || s.opaque != test.opaque {
			t.Errorf("%T: item %q, custom %t, opaque %t", test.value, s.item, s.custom, s.opaque)
		}
		if again := shapeOf(reflect.TypeOf(test.value)); again != s {
			t.Errorf("%T: its shape is made twice", test.value)
		}
	}
}

// A tag of "-" hides a field; one of "-," calls it so, as in encoding/json.
func TestShapeOfDash(t *testing.T) {
	field := func(tag reflect.StructTag) []shapeField {
		return shapeOf(reflect.StructOf([]reflect.StructField{{Name: "Dash", Type: reflect.TypeFor[int](), Tag: tag}})).fields
	}
	if fields := field(`json:"-"`); len(fields) != 0 {
		t.Errorf("hidden: %+v", fields)
	}
	if fields := field(`json:"-,"`); len(fields) != 1 || fields[0].name != "-" {
		t.Errorf("called so: %+v", fields)
	}
}

// A type is asked whether it reads itself through its pointer, by which encoding/json asks, too.
func TestReads(t *testing.T) {
	for value, want := range map[any]bool{defaults{}: true, &defaults{}: false, inner{}: false, 3: false} {
		if got := reads[json.Unmarshaler](reflect.TypeOf(value)); got != want {
			t.Errorf("%T: %t, want %t", value, got, want)
		}
	}
}

// A number fits a type where encoding/json sets it, and nowhere else.
func TestFits(t *testing.T) {
	for _, value := range []any{new(int8), new(int64), new(uint8), new(uint64), new(float32), new(float64), new(int), new(uintptr)} {
		for _, number := range []string{"0", "-0", "-1", "127", "128", "-128", "-129", "255", "256", "1.0", "1e2", "0.5",
			"9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e38", "1e39", "1e308", "1e309"} {
			want := json.Unmarshal([]byte(number), value) == nil
			if got := fits(number, reflect.TypeOf(value).Elem()); got != want {
				t.Errorf("%s as %T: %t, by encoding/json %t", number, value, got, want)
			}
		}
	}
}

// Every sort of token is due where encoding/json takes it, and has a name where it does not.
func TestDueFor(t *testing.T) {
	for _, test := range []struct {
		value any
		token json.Token
		want  string
	}{
		{true, true, ""}, {true, "true", "true or false"}, {true, json.Number("1"), "true or false"},
		{"", "x", ""}, {"", true, "a string"}, {[]byte(nil), "AQI=", ""}, {[]byte(nil), json.Delim('['), "a string"},
		{int8(0), json.Number("1"), ""}, {int8(0), "1", "a whole number"}, {uint(0), nil, "a whole number"},
		{0.5, json.Number("1"), ""}, {0.5, json.Delim('{'), "a number"}, {float32(0), true, "a number"},
	} {
		if got := dueFor(reflect.TypeOf(test.value), test.token); got != test.want {
			t.Errorf("%v for a %T: %q, want %q", test.token, test.value, got, test.want)
		}
	}
}

// Paths are put together in one way only, and a part of a field is within it.
func TestPaths(t *testing.T) {
	for _, test := range [][3]string{{"", "a", "a"}, {"a", "b", "a.b"}, {"a[1]", "b", "a[1].b"}, {"", "", `""`}, {"a", "", `a.""`}} {
		if got := join(test[0], test[1]); got != test[2] {
			t.Errorf("join(%q, %q) is %q, want %q", test[0], test[1], got, test[2])
		}
	}
	for _, test := range []struct {
		path, field string
		want        bool
	}{
		{"a", "a", true}, {"a.b", "a", true}, {"a[1]", "a", true}, {"ab", "a", false}, {"a", "a.b", false}, {"b.a", "a", false},
	} {
		if got := within(test.path, test.field); got != test.want {
			t.Errorf("within(%q, %q) is %t", test.path, test.field, got)
		}
	}
	for _, test := range []struct {
		kind string
		due  []string
		want string
	}{{"application", nil, "previous"}, {"application", []string{"x"}, "previous"}, {"", []string{"x"}, "previous.x"}, {"", nil, "previous[x]"}} {
		if got := entryPath("previous", "x", test.kind, test.due); got != test.want {
			t.Errorf("entryPath of kind %q, due %v is %q, want %q", test.kind, test.due, got, test.want)
		}
	}
}

// The ID of an item is found wherever it stands in its text, and only if it is a text.
func TestIDOf(t *testing.T) {
	for text, want := range map[string]string{
		`{"id": "a"}`: "a", `{"x": {"id": "b"}, "id": "a"}`: "a", `{"ID": "a"}`: "", `{"id": 7}`: "", `{"id": null}`: "", `{}`: "", `7`: "", `[`: "",
	} {
		if got := idOf([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Tokens come in their order, the offset of each is where it begins, and after an error there are none.
func TestCursor(t *testing.T) {
	const text = " { \"a\" : [ 1 , null ] }"
	c := newCursor([]byte(text))
	var got []string
	for range 7 {
		from := c.offset()
		token := c.next()
		got = append(got, fmt.Sprintf("%v %q", token, text[from:c.passed()]))
	}
	want := []string{`{ "{"`, `a "\"a\""`, `[ "["`, `1 "1"`, `<nil> "null"`, `] "]"`, `} "}"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.end(); c.err != nil {
		t.Error(c.err)
	}
	if c.next() != nil || c.err != ErrCutOff || c.more() {
		t.Errorf("at the end: %v", c.err)
	}
	if c.add("a", nil, "", 0); len(c.faults) > 0 {
		t.Error("a fault is recorded after the end of the text")
	}
}

// What is skipped is one value with all that it contains, and no more.
func TestSkip(t *testing.T) {
	for _, value := range []string{"1", `"x"`, "null", "{}", "[]", `{"a": [1, {"b": []}], "c": {}}`, `[[], [[]]]`} {
		c := newCursor([]byte("[" + value + `, "next"]`))
		c.next()
		c.skip(c.next())
		if got := c.next(); got != "next" || c.err != nil {
			t.Errorf("%s: %v comes behind, error %v", value, got, c.err)
		}
	}
}
