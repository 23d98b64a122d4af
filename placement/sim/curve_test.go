// This file tests learning curves.

package sim

import (
	"errors"
	"math"
	"testing"
)

func TestCurveValue(t *testing.T) {
	c, err := NewCurve([]float64{10, 20, 40, 50, 70, 110}, []float64{8, 4, math.NaN(), 2, 1, math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ progress, want float64 }{
		{-1, 8}, {0, 8}, {0.05, 6}, {0.1, 4}, {0.2, 4}, {0.4, 2}, {0.5, 1.5}, {0.7, 1}, {1, math.Inf(1)}, {2, math.Inf(1)},
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
