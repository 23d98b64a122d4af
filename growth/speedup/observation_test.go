// This file tests the checks on observations and how several times of one configuration become one.

package speedup

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// good is an observation without faults.
var good = Observation{Containers: 4, Servers: 2, Samples: 128, Seconds: 0.5}

func changed(change func(o *Observation)) Observation {
	o := good
	change(&o)
	return o
}

func TestFitFaults(t *testing.T) {
	for _, test := range []struct {
		name  string
		o     Observation
		field string
		want  error
	}{
		{"no container", changed(func(o *Observation) { o.Containers, o.Servers = 0, 1 }), "Containers", apportion.ErrRange},
		{"too many containers", changed(func(o *Observation) { o.Containers = mostContainers + 1 }), "Containers", apportion.ErrRange},
		{"no server", changed(func(o *Observation) { o.Servers = 0 }), "Servers", apportion.ErrRange},
		{"more servers than containers", changed(func(o *Observation) { o.Servers = 5 }), "Servers", apportion.ErrRange},
		{"no samples", changed(func(o *Observation) { o.Samples = 0 }), "Samples", apportion.ErrRange},
		{"samples NaN", changed(func(o *Observation) { o.Samples = math.NaN() }), "Samples", apportion.ErrNotFinite},
		{"negative time", changed(func(o *Observation) { o.Seconds = -1 }), "Seconds", apportion.ErrRange},
		{"time of nothing", changed(func(o *Observation) { o.Seconds = 0 }), "Seconds", apportion.ErrRange},
		{"time infinite", changed(func(o *Observation) { o.Seconds = math.Inf(1) }), "Seconds", apportion.ErrNotFinite},
		{"time beyond all", changed(func(o *Observation) { o.Seconds = 1e61 }), "Seconds", apportion.ErrRange},
	} {
		_, err := Fit([]Observation{good, test.o}, nil)
		var faults apportion.Faults
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Field != test.field || !errors.Is(err, test.want) ||
			faults[0].Item.Kind != "observation" || faults[0].Item.Index != 1 {
			t.Errorf("%s: %v", test.name, err)
		}
		var e Estimator
		if err := e.Observe(test.o); !errors.Is(err, test.want) || e.Count != 0 || e.Kept != nil {
			t.Errorf("%s: the estimator says %v and keeps %v", test.name, err, e.Kept)
		}
	}
}

func TestOptionFaults(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		field   string
		want    error
	}{
		{"no such model", Options{Model: 99}, "Model", apportion.ErrUnknown},
		{"negative request", Options{Request: -1}, "Request", apportion.ErrRange},
		{"request beyond all", Options{Request: mostContainers + 1}, "Request", apportion.ErrRange},
		{"negative samples", Options{Samples: -1}, "Samples", apportion.ErrRange},
		{"samples NaN", Options{Samples: math.NaN()}, "Samples", apportion.ErrNotFinite},
	} {
		_, err := Fit([]Observation{good}, &test.options)
		var faults apportion.Faults
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Field != test.field || !errors.Is(err, test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	must.Fail(Fit(nil, nil))(t, apportion.ErrEmpty, "no observations")
	// All faults at once, those of the options first.
	_, err := Fit([]Observation{{}}, &Options{Request: -1})
	var faults apportion.Faults
	if !errors.As(err, &faults) || len(faults) != 5 || faults[0].Field != "Request" {
		t.Errorf("%d faults: %v", len(faults), err)
	}
}

func TestTidy(t *testing.T) {
	at := func(n int64, seconds float64) Observation { return Observation{n, 1, 8, seconds} }
	in := []Observation{at(2, 9), at(1, 3), at(2, 1), at(1, 1), at(2, 2), {2, 2, 8, 5}, {2, 1, 4, 7}}
	before := slices.Clone(in)
	got := tidy(in)
	want := []Observation{at(1, 2), {2, 1, 4, 7}, at(2, 2), {2, 2, 8, 5}}
	must.Same(t, got, want)
	must.Same(t, in, before, "the input was changed")
	if got[2].rate() != 4 || got[2].each() != 4 {
		t.Errorf("rate %g, samples each %g", got[2].rate(), got[2].each())
	}
}
