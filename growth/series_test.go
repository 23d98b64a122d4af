// This file tests the rule for readings: what is kept, what is dropped, what each measures.

package growth_test

import (
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
)

func TestSeriesRule(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	type reading struct {
		at           int
		value, usage float64
		want         growth.Outcome
		gain         float64 // raw gain afterwards
		progress     float64 // raw progress afterwards
	}
	for _, test := range []struct {
		name     string
		readings []reading
	}{
		{"in order", []reading{{0, 5, 1, growth.Started, 0, 0}, {10, 3, 1, growth.Measured, 2, 0.2}, {30, 7, 1, growth.Measured, 4, 0.2}}},
		{"out of order and twice", []reading{
			{10, 5, 1, growth.Started, 0, 0}, {20, 4, 1, growth.Measured, 1, 0.1}, {15, 9, 1, growth.Late, 1, 0.1},
			{20, 1, 1, growth.Late, 1, 0.1}, {30, 1, 1, growth.Measured, 3, 0.3}}},
		{"the same value again", []reading{{0, 5, 1, growth.Started, 0, 0}, {10, 5, 1, growth.Repeated, 0, 0}, {20, 4, 1, growth.Measured, 1, 0.1}}},
		{"NaN between", []reading{
			{0, 5, 1, growth.Started, 0, 0}, {10, nan, 1, growth.Diverged, 0, 0}, {20, 4, 1, growth.Measured, 1, 0.05}}},
		{"NaN first", []reading{
			{0, nan, 1, growth.Diverged, 0, 0}, {10, inf, 1, growth.Diverged, 0, 0}, {20, 4, 1, growth.Started, 0, 0}, {30, 5, 1, growth.Measured, 1, 0.1}}},
		{"infinite and as good as infinite", []reading{
			{0, 1, 1, growth.Started, 0, 0}, {1, inf, 1, growth.Diverged, 0, 0}, {2, -inf, 1, growth.Diverged, 0, 0},
			{3, 2e100, 1, growth.Diverged, 0, 0}, {4, 1e100, 1, growth.Measured, 1e100, 2.5e99}}},
		{"usage that is none", []reading{
			{0, 1, 1, growth.Started, 0, 0}, {10, 2, nan, growth.Unusable, 0, 0}, {10, 2, -1, growth.Unusable, 0, 0},
			{10, 2, inf, growth.Unusable, 0, 0}, {-5, 2, 1, growth.Unusable, 0, 0}, {20, 3, 0, growth.Measured, 2, 0.1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s growth.Series
			for i, r := range test.readings {
				must.Equal(t, s.Add(time.Duration(r.at)*second, r.value, growth.Used(r.usage)), r.want, "reading", i)
				must.Equal(t, s.Gain(growth.Raw), r.gain, "reading", i, "gain")
				if got := s.Progress(growth.Raw); math.Abs(got-r.progress) > 1e-12*max(1, r.progress) {
					t.Errorf("reading %d: progress %v, want %v", i, got, r.progress)
				}
			}
		})
	}
}

func TestNormalization(t *testing.T) {
	series := func(values ...float64) *growth.Series {
		var s growth.Series
		for i, v := range values {
			s.Add(time.Duration(i)*10*second, v, growth.Used(0.5))
		}
		return &s
	}
	for _, test := range []struct {
		name       string
		series     *growth.Series
		n          growth.Normalization
		gain       float64
		efficiency float64
	}{
		{"raw", series(-8, -4, -3), growth.Raw, 1, 0.2},
		{"first value", series(-8, -4, -3), growth.FirstValue, 1. / 8, 0.2 / 8},
		{"largest growth", series(-8, -4, -3), growth.LargestGrowth, 1. / 4, 0.5},
		{"first value that is not 0", series(0, 0.5, 2), growth.FirstValue, 3, 0.6},
		{"nothing but zeros", series(0, 0, 0), growth.FirstValue, 0, 0},
		{"nothing grew", series(3, 3), growth.LargestGrowth, 0, 0},
		{"largest growth is the newest", series(1, 2, 7), growth.LargestGrowth, 1, 2},
	} {
		if got := test.series.Gain(test.n); math.Abs(got-test.gain) > 1e-12 {
			t.Errorf("%s: gain %v, want %v", test.name, got, test.gain)
		}
		if got := test.series.Efficiency(test.n); math.Abs(got-test.efficiency) > 1e-12 {
			t.Errorf("%s: efficiency %v, want %v", test.name, got, test.efficiency)
		}
	}
}

func TestSeriesIsAValue(t *testing.T) {
	var a growth.Series
	a.Add(0, 5, growth.Used(1))
	b := a
	b.Add(10*second, 1, growth.Used(1))
	if a.Measured() || !b.Measured() || a.Newest() != growth.Started || b.Newest() != growth.Measured {
		t.Error("a copy shares state with the original")
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{growth.Outside.String(), "outside"}, {growth.Converged.String(), "converged"}, {growth.Category(9).String(), "unknown 9"},
		{growth.FirstValue.String(), "first-value"}, {growth.LargestGrowth.String(), "largest-growth"},
		{growth.Change{Job: "vae", From: growth.Progressing, To: growth.Watching, Growth: 0.04, Cause: growth.GrowsSlowly}.String(),
			"vae: progressing -> watching, grows slowly (0.04)"},
		{growth.Change{Job: "vae", From: growth.Watching, To: growth.Outside, Cause: growth.Left}.String(), "vae: watching -> outside, left"},
	} {
		must.Equal(t, test.got, test.want)
	}
}
