// This file tests what is accepted and refused, and that what is accepted means what it means to
// encoding/json.

package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

// Thing and its parts have every sort of field.
type (
	Thing struct {
		ID     string              `json:"id"`
		Count  int64               `json:"count"`
		Small  int8                `json:"small,omitempty"`
		Size   uint16              `json:"size,omitempty"`
		Share  float64             `json:"share,omitempty"`
		On     *bool               `json:"on,omitempty"`
		Data   []byte              `json:"data,omitempty"`
		Room   apportion.Resources `json:"room,omitempty"`
		Colour colour              `json:"colour,omitempty"`
		Parts  []Part              `json:"parts,omitempty"`
		Places map[string]int      `json:"places,omitempty"`
		Usage  map[string]float64  `json:"usage,omitempty"`
		Shape  any                 `json:"shape,omitempty"`
		Plain  []struct{ X int }   `json:",omitempty"`
		Grid   [][]int             `json:"grid,omitempty"`
		Never  int                 `json:"-"`
		embedded
	}
	Part struct {
		ID     string  `json:"id,omitempty"`
		Weight float64 `json:"weight"`
	}
	embedded struct {
		Inner int `json:"inner,omitempty"`
		Count int `json:"count"` // which Thing hides
	}
	colour uint8
)

// UnmarshalText knows red and green.
func (c *colour) UnmarshalText(text []byte) error {
	switch string(text) {
	case "red":
		*c = 1
	case "green":
		*c = 2
	default:
		return errors.New("no such colour")
	}
	return nil
}

// UnmarshalJSON gives a part the weight 1.
func (p *Part) UnmarshalJSON(text []byte) error {
	type fields Part
	read := fields{Weight: 1}
	err := json.Unmarshal(text, &read)
	*p = Part(read)
	return err
}

func TestFaults(t *testing.T) {
	for text, want := range map[string][]string{
		`{"id": "a", "count": 1}`: nil,
		`{"id": "a", "count": 1, "small": -128, "size": 65535, "share": 1e3, "on": true, "data": "AQI=", "colour": "red",
			"parts": [{"weight": 2}, {}], "places": {"x": 1}, "shape": {"x": [1, null]}, "Plain": [{"X": 1}], "inner": 3, "grid": [[1], null, []]}`: nil,
		`{"id": "a", "count": 1, "grid": null}`:     {"1: grid has the wrong type: null, not an array"},
		`{"id": "a", "count": 1, "grid": [[null]]}`: {"1: grid[0][0] has the wrong type: null, not a whole number"},
		`{}`:                                    {"1: id is missing", "1: count is missing"},
		`[]`:                                    {"1:  has the wrong type: an array, not an object"},
		`null`:                                  {"1:  has the wrong type: null, not an object"},
		`{"id": 7, "count": 1}`:                 {"1: id has the wrong type: 7, not a string"},
		`{"id": "a", "count": null}`:            {"1: count has the wrong type: null, not a whole number"},
		`{"id": "a", "count": 1.0}`:             {"1: count is out of range: 1.0 is no whole number that fits 64 bits"},
		`{"id": "a", "count": 1, "small": 128}`: {"1: small is out of range: 128 is no whole number that fits 8 bits"},
		`{"id": "a", "count": 1, "size": -1}`:   {"1: size is out of range: -1 is no whole number that fits 16 bits"},
		`{"id": "a", "count": 1, "share": 1e999}`:                        {"1: share is out of range: 1e999 does not fit a 64-bit floating-point number"},
		`{"id": "a", "count": 1, "share": "1"}`:                          {"1: share has the wrong type: a string, not a number"},
		`{"id": "a", "count": 1, "share": "NaN"}`:                        {"1: share has the wrong type: a string, not a number"},
		`{"id": "a", "count": 1, "on": "yes"}`:                           {"1: on has the wrong type: a string, not true or false"},
		`{"id": "a", "count": 1, "on": null}`:                            {"1: on has the wrong type: null, not true or false"},
		`{"id": "a", "count": 1, "data": [1]}`:                           {"1: data has the wrong type: an array, not a string"},
		`{"id": "a", "count": 1, "colour": "blue"}`:                      {`1: colour is unknown: "blue"`},
		`{"id": "a", "count": 1, "colour": 1}`:                           {"1: colour has the wrong type: 1, not a string"},
		`{"id": "a", "count": 1, "shape": 1}`:                            {"1: shape has the wrong type: 1, not an object"},
		`{"id": "a", "count": 1, "shape": {"x": 1, "x": 2}}`:             {"1: shape.x is there twice"},
		`{"id": "a", "count": 1, "room": [1, 2.5]}`:                      {"1: room[gpu] is out of range: 2.5 is no whole number that fits 64 bits"},
		`{"id": "a", "count": 1, "Never": 1, "hidden": 1, "": 2}`:        {"1: Never is unknown", "1: hidden is unknown", `1: "" is unknown`},
		"{\"ID\": \"a\",\n\"id\": \"a\",\n\"count\": 1, \"count\": \n2}": {"1: ID is unknown", "3: count is there twice"},
		"{\"id\": \"a\", \"count\": 1, \"parts\": [\n{\"id\": \"p\", \"weight\": \"x\"},\n {\"weigth\": 1},\n7]}": {
			`2: part "p": weight has the wrong type: a string, not a number`, "3: part 1: weigth is unknown",
			"4: part 2: has the wrong type: 7, not an object"},
		`{"id": "a", "count": 1, "places": {"x": "1", "y": 2, "y": 3}}`: {
			`1: place "x": places has the wrong type: a string, not a whole number`, `1: place "y": places is there twice`},
		`{"id": "a", "count": 1, "usage": {"cpu": 1, "disk": 2}}`: {"1: usage.disk is unknown", "1: usage.gpu is missing"},
		`{"id": "a", "count": 1, "Plain": [{"x": 1}]}`:            {"1: Plain[0].x is unknown", "1: Plain[0].X is missing"},
	} {
		var thing Thing
		err := strictjson.Unmarshal([]byte(text), &thing, options(&thing))
		var found *strictjson.Error
		if err != nil && !errors.As(err, &found) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		if found != nil {
			for i, fault := range found.Faults {
				got = append(got, fmt.Sprintf("%d: %s", found.Lines[i], strings.TrimSuffix(describe(fault), ": ")))
			}
		}
		must.Equal(t, cmp.Diff(want, got), "", text)
		if err == nil {
			same(t, text, &thing)
		}
	}
}

// describe writes a fault with its field also where that is empty.
func describe(f *apportion.FieldError) string {
	if f.Field == "" && f.Item.IsZero() {
		return " " + f.Error()
	}
	return f.Error()
}

func options(thing *Thing) *strictjson.Options {
	return &strictjson.Options{
		Items: map[string]string{"places": "place"},
		Kinds: func() apportion.Kinds { return apportion.Kinds{"cpu", "gpu"} },
		Keys: func(path string) []string {
			if path == "usage" {
				return []string{"cpu", "gpu"}
			}
			return nil
		},
	}
}

// same compares a value with what encoding/json reads.
func same[T any](t *testing.T, text string, got *T) {
	t.Helper()
	var want T
	must.Do(t, json.Unmarshal([]byte(text), &want), text, "encoding/json refuses it")
	if !reflect.DeepEqual(want, *got) {
		t.Errorf("%s: read as %+v, by encoding/json as %+v", text, *got, want)
	}
}

// What is right in a text is read in spite of faults beside it, and what Validate finds comes behind them,
// without what only follows from them.
func TestReadInSpite(t *testing.T) {
	var thing Thing
	o := options(&thing)
	o.Item = func() apportion.Item { return apportion.Item{Kind: "thing", ID: thing.ID} }
	o.Validate = func() error {
		item := apportion.Item{Kind: "thing", ID: "a"}
		var faults apportion.Faults
		faults.Add(item, "Count", apportion.ErrRange, "")
		faults.Add(item, "Room[gpu]", apportion.ErrNegative, "")
		faults.Add(item, "Room", apportion.ErrLength, "")
		faults.Add(apportion.Item{Kind: "part", Index: 1}, "Weight", apportion.ErrRange, "")
		faults.Add(item, "Inner x Small", apportion.ErrOverflow, "")
		faults.Add(item, "Unheard[Of]", apportion.ErrUnknown, "")
		return faults
	}
	err := strictjson.Unmarshal([]byte(`{"x": {"y": 1}, "id": "a", "count": true, "room": [1, "2"], "parts": [{"id": "p"}, 3, {"weight": 4}],
		"places": {"s": 1, "s": 2, "t": "3"}, "share": 0.5, "share": 0.7, "inner": 2, "z": []}`), &thing, o)
	want := []string{"x is unknown", "count has the wrong type: true, not a whole number", "room[gpu] has the wrong type: a string, not a whole number",
		"has the wrong type: 3, not an object", "places is there twice", "places has the wrong type: a string, not a whole number",
		"share is there twice", "z is unknown", "inner x small overflows int64", "unheard[Of] is unknown"}
	lines := strings.Split(err.Error(), "\n")
	must.Equal(t, len(lines), len(want), "faults")
	for i, line := range lines {
		if i >= len(want) || !strings.HasSuffix(line, want[i]) {
			t.Errorf("fault %d is %s", i, line)
		}
	}
	expected := Thing{ID: "a", Room: apportion.Resources{1, 0}, Parts: []Part{{ID: "p", Weight: 1}, {Weight: 1}, {Weight: 4}},
		Places: map[string]int{"s": 1}, Share: 0.5, embedded: embedded{Inner: 2}}
	if !reflect.DeepEqual(thing, expected) {
		t.Errorf("%+v, want %+v", thing, expected)
	}
	if !strings.HasPrefix(err.Error(), `thing "a": x`) {
		t.Errorf("%v does not name the thing", err)
	}
	o.Validate = func() error { return io.ErrNoProgress }
	if err := strictjson.Unmarshal([]byte(`{"id": "a", "count": 1}`), &thing, o); err != io.ErrNoProgress {
		t.Errorf("error %v, want that of Validate", err)
	}
}

func TestNoJSON(t *testing.T) {
	for text, want := range map[string]error{
		"": strictjson.ErrCutOff, " \n": strictjson.ErrCutOff, `{"id": "a`: strictjson.ErrCutOff, `{"id"`: strictjson.ErrCutOff,
		`{"id": "a", "count": 1} {}`: strictjson.ErrTrailing, `{"id": "a", "count": 1} x`: strictjson.ErrTrailing,
		`{"q": ` + strings.Repeat("[", 101): strictjson.ErrTooDeep, `{id: 1}`: nil, `{"id": 01}`: nil, `{"id" "a"}`: nil,
	} {
		err := strictjson.Unmarshal([]byte(text), new(Thing), nil)
		if err == nil || want != nil && !errors.Is(err, want) || want == nil && !strings.Contains(err.Error(), "near byte") {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	if err := strictjson.Decode(io.MultiReader(strings.NewReader(`{"id": `), errorReader{}), new(Thing), nil); err != io.ErrClosedPipe {
		t.Errorf("error %v hides why reading failed", err)
	}
}

// errorReader gives an error.
type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// FuzzUnmarshal reads any text as each of the public inputs: what is accepted means what it means to
// encoding/json, and what is refused with faults is JSON.
func FuzzUnmarshal(f *testing.F) {
	problem := must.Have(os.ReadFile("../../apportion/cluster.json"))(f)
	f.Add(problem)
	for _, text := range []string{
		`{"id":"a","demand":[1],"weight":0.5,"max":3}`, `{"kinds":["cpu"],"servers":[],"applications":[{}],"previous":{"a":{"s":1}}}`,
		`{"id":"a","arrival":1,"epochs":1,"chunks":1,"minibatches":1,"minibatch_slots":1,"comm_slots":0,"worker_bandwidth":1,"ps_bandwidth":1,` +
			`"worker":[1],"ps":[1],"utility":{"steps":[[1,2]]}}`,
		`{"status":"decided","allocation":{},"objective":1,"bound":"+Inf","metrics":{},"shares":[],"certificate":{"by":{"solver":"x"}}}`,
		`{"id":"a","id":null,"x":[{"y":[1]}]}`, `{`, `{"U_worker":[1],"L_worker":[],"U_ps":[0],"L_ps":[1e5]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		both(t, text, new(alloc.Problem))
		both(t, text, new(alloc.Decision))
		both(t, text, new(drf.Claim))
		both(t, text, new(primaldual.Job))
		both(t, text, new(primaldual.Bounds))
		both(t, text, new(Thing))
	})
}

func both[T any](t *testing.T, text []byte, v *T) {
	t.Helper()
	var faults *strictjson.Error
	switch err := strictjson.Unmarshal(text, v, nil); {
	case err == nil:
		same(t, string(text), v)
	case errors.As(err, &faults):
		if !json.Valid(text) || len(faults.Lines) != len(faults.Faults) {
			t.Errorf("%s: %d faults, %d lines, valid: %v", text, len(faults.Faults), len(faults.Lines), json.Valid(text))
		}
		if json.Unmarshal(text, new(T)) == nil {
			stricter(t, text, faults.Faults)
		}
	case json.Valid(text) && !errors.Is(err, strictjson.ErrTooDeep):
		t.Errorf("%s is JSON, yet %v", text, err)
	}
}

// stricter checks that a text which encoding/json accepts was refused for nothing but what the package
// comment says.
func stricter(t *testing.T, text []byte, faults apportion.Faults) {
	t.Helper()
	for _, fault := range faults {
		switch fault.Err {
		case apportion.ErrUnknown, apportion.ErrDuplicate, apportion.ErrMissing:
		default:
			if !strings.HasPrefix(fault.Detail, "null, not") {
				t.Errorf("%s: %v, yet encoding/json accepts it", text, fault)
			}
		}
	}
}
