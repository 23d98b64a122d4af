// This file tests speed-up functions.

package sim

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

func TestAmdahl(t *testing.T) {
	for _, test := range []struct {
		serial float64
		n      int64
		want   float64
	}{
		{0, 1, 1}, {0, 32, 32}, {1, 32, 1}, {0.1, 1, 1}, {0.1, 9, 5}, {0.5, 1 << 60, 2},
	} {
		s := must.Have(Amdahl(test.serial))(t)
		if got := s(test.n); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("serial %v on %d: %v, want %v", test.serial, test.n, got, test.want)
		}
	}
	for _, serial := range []float64{-0.1, 1.1, math.NaN()} {
		must.Fail(Amdahl(serial))(t, apportion.ErrRange, "serial", serial, "error")
	}
}

// What takes a time on n containers takes it again, to the nanosecond.
func TestWorkOn(t *testing.T) {
	amdahl, _ := Amdahl(0.02)
	rapid.Check(t, func(rt *rapid.T) {
		speedup := rapid.SampledFrom([]Speedup{nil, Linear, amdahl}).Draw(rt, "speed-up")
		n := rapid.Int64Range(1, 1000).Draw(rt, "n")
		d := time.Duration(rapid.Int64Range(1, int64(1000*time.Hour)).Draw(rt, "d"))
		work, err := WorkOn(speedup, n, d)
		if err != nil {
			rt.Fatal(err)
		}
		job := &Job{Work: work, Speedup: speedup}
		if got, err := job.TimeOn(n); err != nil || got < d || got > d+1 {
			rt.Fatalf("takes %v (%v), want %v", got, err, d)
		}
	})
	if work, err := WorkOn(nil, 8, time.Hour); work != 8*time.Hour || err != nil {
		t.Errorf("an hour on 8 containers is %v (%v), want 8h", work, err)
	}
}

func TestWorkOnRefuses(t *testing.T) {
	nothing := func(int64) float64 { return 0 }
	for _, test := range []struct {
		name string
		with Speedup
		n    int64
		d    time.Duration
		want error
	}{
		{"no containers", nil, 0, 1, apportion.ErrRange},
		{"negative time", nil, 1, -1, apportion.ErrRange},
		{"no speed", nothing, 1, 1, apportion.ErrRange},
		{"too long", nil, 2, math.MaxInt64, apportion.ErrOverflow},
	} {
		must.Fail(WorkOn(test.with, test.n, test.d))(t, test.want, test.name, "error")
	}
	fault := (*apportion.FieldError)(nil)
	if _, err := (&Job{Work: 1, Speedup: nothing}).TimeOn(3); !errors.As(err, &fault) || fault.Field != "Speedup(3)" {
		t.Errorf("no speed: error %v, want one of Speedup(3)", err)
	}
	slow := func(int64) float64 { return 1e-3 }
	must.Fail((&Job{Work: math.MaxInt64 / 2, Speedup: slow}).TimeOn(1))(t, apportion.ErrOverflow, "too long: error")
}
