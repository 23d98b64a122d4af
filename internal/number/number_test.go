package number_test

import (
	"encoding/json"
	"math"
	"testing"

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
		text, err := json.Marshal(number.Float(c.value))
		if err != nil || string(text) != c.text {
			t.Errorf("%g is written as %s, %v; want %s", c.value, text, err, c.text)
		}
		var read number.Float
		if err := json.Unmarshal(text, &read); err != nil || math.Float64bits(float64(read)) != math.Float64bits(c.value) {
			t.Errorf("%s is read as %g, %v", text, float64(read), err)
		}
	}
}

func TestFloatErrors(t *testing.T) {
	for _, text := range []string{`"1"`, `"inf"`, `"+inf"`, `"Infinity"`, `""`, `true`, `{}`, `[1]`} {
		var f number.Float
		if err := json.Unmarshal([]byte(text), &f); err == nil {
			t.Errorf("%s is read as %g", text, float64(f))
		}
	}
}
