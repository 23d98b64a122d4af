// This file puts faults into right texts, any number of them at once: exactly these are told, in their order and on
// their lines, and all the rest is read.

package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/internal/must"
)

// written is a way to write a field: its text, and the fault that this is, or "" for a right one.
type written struct{ text, fault string }

// fieldTexts has ways to write each field of a Thing, the first of them right.
var fieldTexts = map[string][]written{
	"id":     {{`"a"`, ""}, {`"b c"`, ""}, {`7`, "id has the wrong type: 7, not a string"}, {`["a"]`, "id has the wrong type: an array, not a string"}},
	"count":  {{`1`, ""}, {`-9223372036854775808`, ""}, {`1.5`, "count is out of range: 1.5 is no whole number that fits 64 bits"}, {`{"x": 1}`, "count has the wrong type: an object, not a whole number"}},
	"small":  {{`-128`, ""}, {`128`, "small is out of range: 128 is no whole number that fits 8 bits"}, {`null`, "small has the wrong type: null, not a whole number"}},
	"size":   {{`65535`, ""}, {`-1`, "size is out of range: -1 is no whole number that fits 16 bits"}, {`true`, "size has the wrong type: true, not a whole number"}},
	"share":  {{`0.25`, ""}, {`1e-3`, ""}, {`1e400`, "share is out of range: 1e400 does not fit a 64-bit floating-point number"}, {`"0.25"`, "share has the wrong type: a string, not a number"}},
	"on":     {{`true`, ""}, {`false`, ""}, {`0`, "on has the wrong type: 0, not true or false"}},
	"data":   {{`"AQI="`, ""}, {`[1, 2]`, "data has the wrong type: an array, not a string"}},
	"room":   {{`[1, 2]`, ""}, {`[]`, ""}, {`[1, "2"]`, "room[gpu] has the wrong type: a string, not a whole number"}, {`{}`, "room has the wrong type: an object, not an array"}},
	"colour": {{`"red"`, ""}, {`"blue"`, `colour is unknown: "blue"`}, {`2`, "colour has the wrong type: 2, not a string"}},
	"parts":  {{`[{"id": "p", "weight": 2}, {}]`, ""}, {`[{"id": "p", "wait": 2}]`, `part "p": wait is unknown`}, {`[{}, {"weight": true}]`, "part 1: weight has the wrong type: true, not a number"}},
	"places": {{`{"x": 1}`, ""}, {`{"x": 1, "y": 0.5}`, `place "y": places is out of range: 0.5 is no whole number that fits 64 bits`}, {`[]`, "places has the wrong type: an array, not an object"}},
	"usage":  {{`{"cpu": 1, "gpu": 0}`, ""}, {`{"cpu": 1, "gpu": 0, "tpu": 2}`, "usage.tpu is unknown"}, {`{"gpu": 1}`, "usage.cpu is missing"}},
	"inner":  {{`3`, ""}, {`""`, "inner has the wrong type: a string, not a whole number"}},
	"grid":   {{`[[1], null]`, ""}, {`[[1], 2]`, "grid[1] has the wrong type: 2, not an array"}},
}

// randomThing writes a Thing with each field on a line of its own, in any order, and returns the faults that it
// has, with their lines, and a text without the fields that are wrong.
func randomThing(rng *rand.Rand) (text string, faults []string, right string) {
	names := make([]string, 0, len(fieldTexts))
	for name := range fieldTexts {
		names = append(names, name)
	}
	slices.Sort(names)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var lines, rightLines, missing []string
	for _, name := range names {
		if rng.IntN(6) == 0 {
			if name == "id" || name == "count" {
				missing = append(missing, "1: "+name+" is missing")
			}
			continue
		}
		way := fieldTexts[name][0]
		if rng.IntN(3) == 0 {
			way = fieldTexts[name][rng.IntN(len(fieldTexts[name]))]
		}
		line := fmt.Sprintf("%q: %s", name, way.text)
		lines = append(lines, line)
		if way.fault == "" {
			rightLines = append(rightLines, line)
		} else {
			faults = append(faults, fmt.Sprintf("%d: %s", 1+len(lines), way.fault))
		}
		if rng.IntN(15) == 0 { // once more, which counts for nothing
			lines = append(lines, line)
			faults = append(faults, fmt.Sprintf("%d: %s is there twice", 1+len(lines), name))
		}
		if rng.IntN(15) == 0 {
			lines = append(lines, `"more": [{"x": null}]`)
			sort := "is unknown"
			if slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, ": more ") }) {
				sort = "is there twice"
			}
			faults = append(faults, fmt.Sprintf("%d: more %s", 1+len(lines), sort))
		}
	}
	slices.Sort(missing)
	slices.Reverse(missing) // id before count, as in the type
	return "{\n" + strings.Join(lines, ",\n") + "\n}", append(faults, missing...), "{" + strings.Join(rightLines, ",") + "}"
}

// isPart says that the fault is in a part of a field, whose rest is read.
func isPart(faults []string) bool {
	return slices.ContainsFunc(faults, func(f string) bool {
		for _, part := range []string{"[gpu]", "part ", "place ", "usage.", "grid["} {
			if strings.Contains(f, part) {
				return true
			}
		}
		return false
	})
}

func TestManyFaultsAtOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	most, whole := 0, 0
	for range 3000 {
		text, want, right := randomThing(rng)
		var thing Thing
		err := strictjson.Unmarshal([]byte(text), &thing, options(&thing))
		var found *strictjson.Error
		if err != nil && !errors.As(err, &found) {
			t.Fatalf("%s: %v", text, err)
		}
		var got []string
		if found != nil {
			for i, fault := range found.Faults {
				got = append(got, fmt.Sprintf("%d: %s", found.Lines[i], fault))
			}
		}
		must.Equal(t, cmp.Diff(want, got), "", text)
		most = max(most, len(want))
		if isPart(want) {
			continue
		}
		whole++
		var expected Thing
		must.Do(t, json.Unmarshal([]byte(right), &expected))
		if !reflect.DeepEqual(thing, expected) {
			t.Fatalf("%s\nread as %+v, want %+v", text, thing, expected)
		}
	}
	if most < 6 || whole < 500 {
		t.Errorf("at most %d faults at once, %d texts whose values were compared", most, whole)
	}
}

// A struct that reads itself and has a part of any form keeps what its own method finds right: where a fault names
// a field, only that field counts as absent.
type reading struct {
	Name  string `json:"name"`
	Limit int    `json:"limit"`
	Form  any    `json:"form"`
}

// UnmarshalJSON refuses forms but squares, and limits above 9.
func (r *reading) UnmarshalJSON(text []byte) error {
	type fields reading
	read := fields{}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*r = reading(read)
	var faults apportion.Faults
	if form, ok := r.Form.(map[string]any); r.Form != nil && (!ok || form["square"] == nil) {
		faults.Add(apportion.Item{}, "form", apportion.ErrUnknown, "")
	}
	if r.Limit > 9 {
		faults.Add(apportion.Item{}, "limit", apportion.ErrRange, fmt.Sprint(r.Limit))
	}
	if r.Name == "nobody" {
		return errors.New("nobody reads")
	}
	return faults.Err()
}

func TestJudgedFields(t *testing.T) {
	for text, want := range map[string]struct {
		faults string
		value  reading
	}{
		`{"name": "a", "limit": 3, "form": {"square": 1}}`: {"", reading{"a", 3, map[string]any{"square": 1.0}}},
		`{"name": "a", "limit": 3, "form": {"round": 1}}`:  {"form is unknown", reading{"a", 3, nil}},
		`{"name": "a", "limit": 30, "form": {"square": 1}}`: {
			"limit is out of range: 30", reading{"a", 0, map[string]any{"square": 1.0}}},
		`{"name": "a", "limit": 30, "form": {"round": 1}}`: {"form is unknown\nlimit is out of range: 30", reading{"a", 0, nil}},
		`{"name": "a", "limit": "x", "form": {"round": 1}}`: {
			"limit has the wrong type: a string, not a whole number\nform is unknown", reading{"a", 0, nil}},
		`{"name": "a", "limit": 3}`: {"form is missing", reading{"a", 3, nil}},
	} {
		var got reading
		err := strictjson.Unmarshal([]byte(text), &got, nil)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if message != want.faults || !reflect.DeepEqual(got, want.value) {
			t.Errorf("%s: %q, read as %+v\nwant %q, %+v", text, message, got, want.faults, want.value)
		}
	}
	// An error that names no field takes the whole value with it.
	var got reading
	if err := strictjson.Unmarshal([]byte(`{"name": "nobody", "limit": 3, "form": {}}`), &got, nil); err == nil || !strings.Contains(err.Error(), "nobody reads") {
		t.Errorf("%v, read as %+v", err, got)
	}
}

// Options name items and keys by the path of their object, and an empty name of an item is none.
func TestOptionsByPath(t *testing.T) {
	type nested struct {
		Outer map[string]map[string]int `json:"outer"`
		Other map[string]int            `json:"other"`
	}
	const text = `{"outer": {"x": {"y": "1"}}, "other": {"z": "2"}}`
	for name, test := range map[string]struct {
		options strictjson.Options
		want    string
	}{
		"none":          {strictjson.Options{}, "outer[x][y] has the wrong type: a string, not a whole number\nother[z] has the wrong type: a string, not a whole number"},
		"items":         {strictjson.Options{Items: map[string]string{"outer": "box"}}, "box \"x\": outer[y] has the wrong type: a string, not a whole number\nother[z] has the wrong type: a string, not a whole number"},
		"an empty item": {strictjson.Options{Item: func() apportion.Item { return apportion.Item{} }}, "outer[x][y] has the wrong type: a string, not a whole number\nother[z] has the wrong type: a string, not a whole number"},
		"keys": {strictjson.Options{Keys: func(path string) []string {
			if path == "other" {
				return []string{"z", "w"}
			}
			return nil
		}}, "outer[x][y] has the wrong type: a string, not a whole number\nother.z has the wrong type: a string, not a whole number\nother.w is missing"},
	} {
		err := strictjson.Unmarshal([]byte(text), new(nested), &test.options)
		must.Equal(t, cmp.Diff(test.want, fmt.Sprint(err)), "", name)
	}
}

// Many may read at once: shapes of types are shared between them.
func TestReadAtOnce(t *testing.T) {
	type own struct {
		A int `json:"a"`
		B struct {
			C []drf.Claim `json:"c"`
		} `json:"b"`
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			var v own
			text := fmt.Sprintf(`{"a": %d, "b": {"c": [{"id": "x", "demand": [%d]}]}}`, i, i+1)
			if err := strictjson.Unmarshal([]byte(text), &v, nil); err != nil || v.A != i || v.B.C[0].Demand[0] != int64(i+1) || v.B.C[0].Weight != 1 {
				t.Errorf("%s: %v, read as %+v", text, err, v)
			}
		})
	}
	group.Wait()
}

// A reader is read once, to its end or just beyond the longest text.
func TestDecodeReads(t *testing.T) {
	for text, want := range map[string]string{
		`{"id": "a", "count": 1}`: "<nil>", `{"id": "a"}`: "count is missing", `{"id": "a", "count": 1}{`: strictjson.ErrTrailing.Error(),
	} {
		in := strings.NewReader(text)
		var thing Thing
		if err := strictjson.Decode(in, &thing, nil); fmt.Sprint(err) != want || in.Len() > 0 || thing.ID != "a" && want != strictjson.ErrTrailing.Error() {
			t.Errorf("%s: %v, %d bytes left, %+v", text, err, in.Len(), thing)
		}
	}
}
