package number_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/number"
)

func TestFloat(t *testing.T) {
	for _, c := range []struct {
		value float64
		text  string
	}{
		{0, "0"}, {-1.5, "-1.5"}, {0.1, "0.1"}, {1e300, "1e+300"}, {math.Copysign(0, -1), "-0"},
		{math.Inf(1), `"+Inf"`}, {math.Inf(-1), `"-Inf"`}, {math.NaN(), `"NaN"`},
	} {
		text := must.Have(json.Marshal(number.Float(c.value)))(t)
		must.Equal(t, string(text), c.text, c.value, "is written as", text)
		var read number.Float
		if err := json.Unmarshal(text, &read); err != nil || math.Float64bits(float64(read)) != math.Float64bits(c.value) {
			t.Errorf("%s is read as %g, %v", text, float64(read), err)
		}
	}
}

func TestFloatErrors(t *testing.T) {
	for _, text := range []string{`"1"`, `"inf"`, `"+inf"`, `"Infinity"`, `""`, `true`, `{}`, `[1]`} {
		var f number.Float
		must.Err(t, json.Unmarshal([]byte(text), &f), must.ErrAny, text, "is read as", float64(f))
	}
}

// A Float within a value is written and read in its place, and what cannot be read leaves it as it was.
func TestFloatInPlace(t *testing.T) {
	type gap struct {
		Gap   number.Float            `json:"gap"`
		Other map[string]number.Float `json:"other,omitempty"`
		List  []number.Float          `json:"list,omitempty"`
	}
	want := gap{number.Float(math.Inf(1)), map[string]number.Float{"a": number.Float(math.Inf(-1))}, []number.Float{0.5, number.Float(math.Inf(1))}}
	text := must.Have(json.Marshal(want))(t)
	must.Equal(t, string(text), `{"gap":"+Inf","other":{"a":"-Inf"},"list":[0.5,"+Inf"]}`, text)
	read := gap{Gap: 3}
	if err := json.Unmarshal(text, &read); err != nil || read.Gap != want.Gap || read.Other["a"] != want.Other["a"] || read.List[1] != want.List[1] {
		t.Errorf("%+v, %v", read, err)
	}
	read = gap{Gap: 3}
	if err := json.Unmarshal([]byte(`{"gap":"much"}`), &read); err == nil || read.Gap != 3 {
		t.Errorf("%+v, %v", read, err)
	}
}
