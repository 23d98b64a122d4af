// This file tests speed-up functions.

package sim

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
)

func TestAmdahl(t *testing.T) {
	for _, test := range []struct {
		serial float64
		n      int64
		want   float64
	}{
		{0, 1, 1}, {0, 32, 32}, {1, 32, 1}, {0.1, 1, 1}, {0.1, 9, 5}, {0.5, 1 << 60, 2},
	} {
		s, err := Amdahl(test.serial)
		if err != nil {
			t.Fatal(err)
		}
		if got := s(test.n); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("serial %v on %d: %v, want %v", test.serial, test.n, got, test.want)
		}
	}
	for _, serial := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := Amdahl(serial); !errors.Is(err, apportion.ErrRange) {
			t.Errorf("serial %v: error %v, want %v", serial, err, apportion.ErrRange)
		}
	}
}

func TestMeasured(t *testing.T) {
	s, err := Measured([]Measurement{{8, 30}, {2, 10}, {4, 18}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		n    int64
		want float64
	}{
		{1, 5}, {2, 10}, {3, 14}, {4, 18}, {6, 24}, {8, 30}, {9, 30}, {math.MaxInt64, 30},
	} {
		if got := s(test.n); got != test.want {
			t.Errorf("on %d: %v, want %v", test.n, got, test.want)
		}
	}
}

func TestMeasuredRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		with []Measurement
		want error
	}{
		{"nothing", nil, apportion.ErrEmpty},
		{"no containers", []Measurement{{0, 1}}, apportion.ErrRange},
		{"no speed", []Measurement{{1, 0}}, apportion.ErrRange},
		{"NaN", []Measurement{{1, math.NaN()}}, apportion.ErrNotFinite},
		{"infinite", []Measurement{{1, math.Inf(1)}}, apportion.ErrNotFinite},
		{"twice", []Measurement{{2, 1}, {1, 1}, {2, 2}}, apportion.ErrDuplicate},
	} {
		if _, err := Measured(test.with); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
	}
}

// Interpolation stays within its neighbours, so rising measurements give a rising speed-up.
func TestMeasuredIsMonotone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var table []Measurement
		var n int64
		speed := 0.0
		for range rapid.IntRange(1, 6).Draw(rt, "measurements") {
			n += rapid.Int64Range(1, 5).Draw(rt, "step")
			speed += rapid.Float64Range(0.001, 5).Draw(rt, "gain")
			table = append(table, Measurement{n, speed})
		}
		s, err := Measured(rapid.Permutation(table).Draw(rt, "order"))
		if err != nil {
			rt.Fatal(err)
		}
		for m := int64(1); m < n+3; m++ {
			if s(m+1) < s(m) {
				rt.Fatalf("%v on %d, %v on %d", s(m), m, s(m+1), m+1)
			}
		}
	})
}
