// This file tests the table of rates: isotonic regression against an exhaustive twin, and straight lines in between.

package speedup

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// Reference: [Barlow72]: of all sequences that rise the result has the least sum of squares. The twin tries every division into
// blocks that have their means.
func TestRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rates := rapid.SliceOfN(rapid.Float64Range(1, 10), 1, 8).Draw(t, "rates")
		points := make([]Point, len(rates))
		for i, r := range rates {
			points[i] = Point{int64(i + 1), 1, r}
		}
		rise(points)
		squares := func(value func(i int) float64) (total float64) {
			for i, r := range rates {
				total += (value(i) - r) * (value(i) - r)
			}
			return total
		}
		got := squares(func(i int) float64 { return points[i].Rate })
		least := math.Inf(1)
		for cuts := range 1 << (len(rates) - 1) {
			if blocks := means(rates, cuts); blocks != nil {
				least = min(least, squares(func(i int) float64 { return blocks[i] }))
			}
		}
		if math.Abs(got-least) > 1e-9 {
			t.Errorf("%v became %v with %g, the least is %g", rates, points, got, least)
		}
		for i := 1; i < len(points); i++ {
			if points[i].Rate < points[i-1].Rate {
				t.Errorf("%v falls", points)
			}
		}
	})
}

// means returns the means of the blocks between cuts, or nil where they do not rise.
func means(rates []float64, cuts int) []float64 {
	var out []float64
	for from := 0; from < len(rates); {
		to := from + 1
		for to < len(rates) && cuts>>(to-1)&1 == 0 {
			to++
		}
		mean := 0.0
		for _, r := range rates[from:to] {
			mean += r / float64(to-from)
		}
		if len(out) > 0 && mean < out[len(out)-1] {
			return nil
		}
		for range to - from {
			out = append(out, mean)
		}
		from = to
	}
	return out
}

func TestLookUp(t *testing.T) {
	c := must.Have(Fit([]Observation{{2, 1, 10, 0.5}, {4, 1, 10, 0.25}, {3, 1, 10, 0.2}, {4, 4, 10, 0.5}, {16, 4, 10, 0.125}, {1, 1, 10, 1}}, &Options{Model: Table}))(t)
	// On one server 10, 20, then 50 and 40, which become 45 each; on four 20 and 80.
	for _, test := range []struct {
		containers, servers int64
		want                float64
	}{
		{1, 1, 10}, {2, 1, 20}, {3, 1, 45}, {4, 1, 45}, {100, 1, 45}, {4, 4, 20}, {8, 4, 40}, {16, 4, 80}, {32, 4, 80}, {32, 8, 80},
		{4, 2, 45 - 25./3}, {4, 3, 45 - 50./3}, {8, 8, 40},
	} {
		if got := 10 / c.StepTime(test.containers, test.servers, 10); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%d on %d: rate %g, want %g", test.containers, test.servers, got, test.want)
		}
	}
	// Below the first of a number of servers in proportion.
	high, err := Fit([]Observation{{8, 2, 1, 0.5}}, &Options{Model: Table})
	if got := 1 / high.StepTime(4, 1, 1); err != nil || got != 1 {
		t.Errorf("half of what was measured has rate %g, want 1 (%v)", got, err)
	}
	if got := (&Curve{Model: Table}).StepTime(1, 1, 1); !math.IsInf(got, 1) {
		t.Errorf("an empty table has a time of %g", got)
	}
}
