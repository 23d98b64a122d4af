// This file tests the checks on settings and clocks, at their edges.

package monitor

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
)

// longest is the longest duration there is.
const longest = time.Duration(math.MaxInt64)

// Sums stop at the longest duration instead of turning negative.
func TestPlus(t *testing.T) {
	for _, test := range []struct{ a, b, want time.Duration }{
		{0, 0, 0}, {1, 2, 3}, {longest, 0, longest}, {longest - 1, 1, longest}, {longest - 1, 2, longest}, {longest, longest, longest}, {1, longest, longest},
	} {
		must.Equal(t, Plus(test.a, test.b), test.want, test.a, test.b)
	}
}

// Silence is what was asked for, or five intervals, the longest duration at most.
func TestSilence(t *testing.T) {
	for _, test := range []struct{ asked, interval, want time.Duration }{
		{7, 10, 7}, {0, 10, 50}, {0, longest / 5, longest / 5 * 5}, {0, longest/5 + 1, longest}, {0, longest, longest}, {longest, 1, longest},
	} {
		must.Equal(t, Silence(test.asked, test.interval), test.want, "asked for", test.asked, "interval", test.interval)
	}
}

// broken is a classifier that says something against itself.
type broken struct{ err error }

func (broken) Judge(*growth.Series) growth.Verdict { return growth.Unsure }
func (b broken) Validate() error                   { return b.err }

// silent is a classifier that cannot say anything against itself.
type silent struct{}

func (silent) Judge(*growth.Series) growth.Verdict { return growth.Unsure }

// Each check adds one fault, with its field, or none.
func TestChecks(t *testing.T) {
	cause := errors.New("cannot be")
	classifier := func(c growth.Classifier) func(*apportion.Faults) {
		return func(f *apportion.Faults) { CheckClassifier(f, c) }
	}
	for _, test := range []struct {
		name  string
		check func(*apportion.Faults)
		field string // "": no fault
		want  error
	}{
		{"interval", func(f *apportion.Faults) { CheckInterval(f, 1) }, "", nil},
		{"interval 0", func(f *apportion.Faults) { CheckInterval(f, 0) }, "Interval", apportion.ErrRange},
		{"interval negative", func(f *apportion.Faults) { CheckInterval(f, -1) }, "Interval", apportion.ErrRange},
		{"same time", func(f *apportion.Faults) { CheckClock(f, 5, 5) }, "", nil},
		{"earlier", func(f *apportion.Faults) { CheckClock(f, 5, 4) }, "now", apportion.ErrRange},
		{"silence 0", func(f *apportion.Faults) { CheckSilence(f, 0) }, "", nil},
		{"silence negative", func(f *apportion.Faults) { CheckSilence(f, -1) }, "Silence", apportion.ErrNegative},
		{"sound", classifier(growth.Threshold{Alpha: 0.05}), "", nil},
		{"of its own fields", classifier(growth.Threshold{Alpha: math.NaN()}), "Alpha", apportion.ErrRange},
		{"another error", classifier(broken{cause}), "Classifier", cause},
		{"no error", classifier(broken{}), "", nil},
		{"cannot say", classifier(silent{}), "", nil},
	} {
		var faults apportion.Faults
		test.check(&faults)
		switch {
		case test.field == "" && len(faults) > 0, test.field != "" && len(faults) != 1:
			t.Errorf("%s: %v", test.name, faults)
		case test.field != "" && (faults[0].Field != test.field || !errors.Is(faults, test.want)):
			t.Errorf("%s: %v, want %s %v", test.name, faults, test.field, test.want)
		}
	}
}
