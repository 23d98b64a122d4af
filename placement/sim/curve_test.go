// This file tests learning curves.

package sim

import (
	"math"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestCurveValue(t *testing.T) {
	c := must.Have(NewCurve([]float64{10, 20, 40, 50, 70, 110}, []float64{8, 4, math.NaN(), 2, 1, math.Inf(1)}))(t)
	for _, test := range []struct{ progress, want float64 }{
		{-1, 8}, {0, 8}, {0.05, 6}, {0.1, 4}, {0.2, 4}, {0.4, 2}, {0.5, 1.5}, {0.7, 1}, {1, math.Inf(1)}, {2, math.Inf(1)},
	} {
		must.Equal(t, c.Value(test.progress), test.want, "Value(", test.progress)
	}
	if got := c.Value(0.3); !math.IsNaN(got) {
		t.Errorf("Value at a point that is no number = %v", got)
	}
}

func TestCurveFaults(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, at := range [][]float64{nil, {1}, {1, 1}, {2, 1}, {1, nan}, {nan, 1}, {1, inf}, {-math.MaxFloat64, math.MaxFloat64}} {
		must.Fail(NewCurve(at, make([]float64, len(at))))(t, ErrCurve, "steps", at, "error")
	}
	must.Fail(NewCurve([]float64{1, 2}, []float64{1}))(t, ErrCurve, "missing value: error")
}
