// This file tests the reading of progress lines: what counts as one, and that it does not matter in what
// pieces output comes.

package command

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestParseLine(t *testing.T) {
	nan := math.NaN()
	for line, want := range map[string]Reading{
		`{"step":3,"value":0.25}`: {3, 0.25, false},
		`{"step":0}`:              {0, nan, false},
		`  {"value": -1e-3, "step": 12, "lr": [1]}` + "\r": {12, -1e-3, false},
		`{"step":9,"value":null,"done":true}`:              {9, nan, true},
		`{"step":9,"value":NaN}`:                           {9, nan, false},
		`{"step":9,"value":-Infinity,"done":true}`:         {9, nan, true},
		`{"step":9223372036854775807}`:                     {math.MaxInt64, nan, false},
	} {
		got, ok := ParseLine([]byte(line))
		same := got.Value == want.Value || math.IsNaN(got.Value) && math.IsNaN(want.Value)
		if !ok || got.Step != want.Step || got.Done != want.Done || !same {
			t.Errorf("%s: %+v, %v", line, got, ok)
		}
	}
	for _, line := range []string{
		"", " ", "step 3 loss 0.25", `[{"step":3}]`, `{"step":-1}`, `{"step":1.5}`, `{"step":"3"}`, `{"step":null}`, `{"value":3}`, `{"step":3`,
		`{"step":3} and more`, `{"step":1e400}`, `{"step":3,"value":"0.2"}`, `{"step":3,"value":1e999}`, `{"step":9223372036854775808}`,
		`{"step":1,"x":"` + strings.Repeat("x", maxLine) + `"}`, "\x00\x00{", strings.Repeat("{", 1000),
	} {
		if got, ok := ParseLine([]byte(line)); ok {
			t.Errorf("%.50q is a reading: %+v", line, got)
		}
	}
}

// TestReadingSurvivesJSON: a reading that is written is a line that says the same.
func TestReadingSurvivesJSON(t *testing.T) {
	nan := math.NaN()
	same := func(a, b Reading) bool {
		return a.Step == b.Step && a.Done == b.Done && (a.Value == b.Value || math.IsNaN(a.Value) && math.IsNaN(b.Value))
	}
	for want, r := range map[string]Reading{
		`{"step":120,"value":0.25}`:                    {120, 0.25, false},
		`{"step":0,"value":0}`:                         {0, 0, false},
		`{"step":9,"done":true}`:                       {9, nan, true},
		`{"step":9223372036854775807,"value":-5e-324}`: {math.MaxInt64, -5e-324, false},
	} {
		text := must.Have(json.Marshal(r))(t)
		must.Equal(t, string(text), want, r, "is written as", text)
		var back Reading
		if err := json.Unmarshal(text, &back); err != nil || !same(back, r) {
			t.Errorf("%s is read as %+v, %v", text, back, err)
		}
		if line, ok := ParseLine(text); !ok || !same(line, r) {
			t.Errorf("%s is the line %+v, %v", text, line, ok)
		}
	}
	for _, odd := range []Reading{{-1, 0.5, false}, {1, math.Inf(1), false}, {1, math.Inf(-1), true}} { // no lines
		var back Reading
		if text, err := json.Marshal(odd); err != nil || json.Unmarshal(text, &back) != nil || back != odd {
			t.Errorf("%+v is written as %s, %v, and read as %+v", odd, text, err, back)
		}
	}
	for _, bad := range []string{`{}`, `{"step":null}`, `{"value":1}`, `[]`, `{"step":1,"value":"x"}`} {
		r := Reading{Step: 7}
		if err := json.Unmarshal([]byte(bad), &r); err == nil || r.Step != 7 {
			t.Errorf("%s is read as %+v, %v", bad, r, err)
		}
	}
}

// FuzzParseLine: whatever a job prints, it is a reading with a step, or none.
func FuzzParseLine(f *testing.F) {
	f.Add([]byte(`{"step":3,"value":NaN}`))
	f.Add([]byte(`{"step":3,"value":1e308,"done":true}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, ok := ParseLine(line)
		if ok && (r.Step < 0 || math.IsInf(r.Value, 0)) || !ok && r != (Reading{}) {
			t.Errorf("%q: %+v, %v", line, r, ok)
		}
	})
}
