// This file tests learning curves.

package sim

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestCurveValue(t *testing.T) {
	c, err := NewCurve([]float64{10, 20, 40, 50, 110}, []float64{8, 4, math.NaN(), 2, math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ progress, want float64 }{
		{-1, 8}, {0, 8}, {0.05, 6}, {0.1, 4}, {0.2, 4}, {0.4, 2}, {0.7, 2}, {1, math.Inf(1)}, {2, math.Inf(1)},
	} {
		if got := c.Value(test.progress); got != test.want {
			t.Errorf("Value(%v) = %v, want %v", test.progress, got, test.want)
		}
	}
	if got := c.Value(0.3); !math.IsNaN(got) {
		t.Errorf("Value at a point that is no number = %v", got)
	}
}

func TestCurveFaults(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, at := range [][]float64{nil, {1}, {1, 1}, {2, 1}, {1, nan}, {nan, 1}, {1, inf}, {-math.MaxFloat64, math.MaxFloat64}} {
		if _, err := NewCurve(at, make([]float64, len(at))); !errors.Is(err, ErrCurve) {
			t.Errorf("steps %v: error %v, want %v", at, err, ErrCurve)
		}
	}
	if _, err := NewCurve([]float64{1, 2}, []float64{1}); !errors.Is(err, ErrCurve) {
		t.Errorf("missing value: error %v", err)
	}
}

// A value lies between those of the points around it.
func TestPropCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 8).Draw(t, "values")
		at := make([]float64, len(values))
		for i := range at {
			at[i] = float64(rapid.IntRange(1, 100).Draw(t, "step"))
			if i > 0 {
				at[i] += at[i-1]
			}
		}
		c, err := NewCurve(at, values)
		if err != nil {
			t.Fatal(err)
		}
		for i := range values[1:] {
			low, high := min(values[i], values[i+1]), max(values[i], values[i+1])
			part := rapid.Float64Range(0, 1).Draw(t, "part")
			got := c.Value(c.at[i] + part*(c.at[i+1]-c.at[i]))
			if slack := 1e-9 * max(1, high-low); got < low-slack || got > high+slack {
				t.Fatalf("value %v between %v and %v", got, low, high)
			}
		}
	})
}
