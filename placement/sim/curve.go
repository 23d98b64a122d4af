// This file implements learning curves: the evaluation function of a job by the work done, [Zheng]
// §4.1.3.

package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// ErrCurve: a learning curve with fewer than two points, or steps that do not grow.
var ErrCurve = errors.New("sim: not a learning curve")

// Curve is an evaluation function by progress in [0, 1]. It does not change once it is made.
type Curve struct {
	// at has the progress of each point, from 0 to 1, and values what the job reports there.
	at, values []float64
}

// NewCurve returns a curve through points: at grows strictly and is finite, values may be NaN or
// infinite, which says that the job diverged. Progress 0 is the first point, 1 the last. The slices
// are copied. Errors are ErrCurve.
func NewCurve(at, values []float64) (*Curve, error) {
	if len(at) < 2 || len(at) != len(values) {
		return nil, fmt.Errorf("%w: %d steps, %d values", ErrCurve, len(at), len(values))
	}
	// Steps may count anything, batches or epochs, from any number on: only their distances matter.
	first, span := at[0], at[len(at)-1]-at[0]
	c := &Curve{at: make([]float64, len(at)), values: slices.Clone(values)}
	for i, x := range at {
		c.at[i] = (x - first) / span
		if i > 0 && !(x > at[i-1]) || math.IsInf(x, 0) || math.IsInf(span, 0) {
			return nil, fmt.Errorf("%w: step %v at position %d", ErrCurve, x, i)
		}
	}
	return c, nil
}

// Value returns the value at a progress, which is clamped to [0, 1]. Between two points it is on the
// straight line through them, because jobs report more often than these curves were recorded;
// beside a point that is not finite it is that of the point before. O(log n).
func (c *Curve) Value(progress float64) float64 {
	after := sort.SearchFloat64s(c.at, progress)
	switch {
	case after == 0:
		return c.values[0]
	case after == len(c.at):
		return c.values[after-1]
	case c.at[after] == progress:
		return c.values[after]
	}
	low, high := c.values[after-1], c.values[after]
	if slope := high - low; math.IsNaN(slope) || math.IsInf(slope, 0) {
		return low
	}
	part := (progress - c.at[after-1]) / (c.at[after] - c.at[after-1])
	return low + float64(part*(high-low))
}
