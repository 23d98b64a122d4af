// This file tests the flags of studies.

package noisy

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/internal/must"
)

func TestStudy(t *testing.T) {
	u := Usage{Seeds: "how many", Noisy: "how noisy", Interference: "how lossy", Loss: 0.25}
	for _, test := range []struct {
		args string
		want Options
		err  error
		say  string
	}{
		{"", Options{Seeds: 50, Interference: 0.25, Out: "demo/out"}, nil, ""},
		{"-seeds 1 -noisy 3 -interference 1 -out x", Options{1, 3, 1, "x"}, nil, ""},
		{"-interference 0", Options{Seeds: 50, Out: "demo/out"}, nil, ""},
		{"-seeds 0", Options{}, command.ErrUsage, "-seeds must be positive"},
		{"-noisy -1", Options{}, command.ErrUsage, "-noisy must not be negative"},
		{"-interference 1.01", Options{}, command.ErrUsage, "in [0, 1]"},
		{"-interference -0.01", Options{}, command.ErrUsage, "in [0, 1]"},
		{"-interference NaN", Options{}, command.ErrUsage, "in [0, 1]"},
		{"more", Options{}, command.ErrUsage, "what is"},
		{"-h", Options{}, flag.ErrHelp, "how lossy"},
	} {
		var said strings.Builder
		var o Options
		run := u.Study("demo", func(asked *Options, _, _ io.Writer) error { o = *asked; return nil })
		err := run(t.Context(), io.Discard, &said, strings.Fields(test.args))
		if !errors.Is(err, test.err) || !strings.Contains(said.String(), test.say) || o != test.want {
			t.Errorf("%s: %+v, %v, %q", test.args, o, err, &said)
		}
	}
}

// A curve that falls from 10 to 0 in ten steps has half of its improvement after five, in the mean of its newest point alone.
func TestPartsOf(t *testing.T) {
	half := func(curve string) ([]float64, []float64, error) {
		if curve == "none" {
			return nil, nil, errors.New("there is no such curve")
		}
		return []float64{0, 1, 2, 3, 4}, map[string][]float64{"even": {4, 3, 2, 1, 0}, "early": {4, 0, 0, 0, 0}}[curve], nil
	}
	got, err := partsOf([]string{"a", "b", "a"}, map[string]string{"a": "even", "b": "early"}, half)
	if err != nil || len(got) != 3 || got[0] != 1 || got[1] != 0.25 || got[2] != 1 {
		t.Errorf("%v, %v, want 1, a quarter and 1", got, err)
	}
	must.Fail(partsOf([]string{"a"}, map[string]string{"a": "none"}, half))(t, must.ErrAny, "a curve that is not there has a part")
}
