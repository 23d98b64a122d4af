// This file tests what utilities are worth, and how those of admitted jobs are kept to the rules.

package primaldual

import (
	"math"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"pgregory.net/rapid"
)

// Values of the formulas at and around their corners.
func TestUtilityValues(t *testing.T) {
	for _, test := range []struct {
		utility Utility
		slots   []int
		want    []float64
	}{
		{Constant(7), []int{0, 1, 1 << 30}, []float64{7, 7, 7}},
		{Linear{Start: 10, PerSlot: 4}, []int{0, 1, 2, 3, 4}, []float64{10, 6, 2, 0, 0}},
		{Steps{{1, 9}, {3, 2}}, []int{0, 1, 2, 3, 4}, []float64{9, 9, 2, 2, 0}},
		{Steps{}, []int{0, 5}, []float64{0, 0}},
		{Sigmoid{Gamma1: 8, Gamma2: 0, Gamma3: 3}, []int{0, 9}, []float64{4, 4}},
		{Sigmoid{Gamma1: 8, Gamma2: 1000, Gamma3: 3}, []int{0, 2, 3, 4}, []float64{8, 8, 4, 0}},
		{utilityFunc(func(d int) float64 { return float64(-d) }), []int{0, 2}, []float64{0, -2}},
	} {
		var got []float64
		for _, d := range test.slots {
			got = append(got, test.utility.Value(d))
		}
		near(t, "values", got, test.want)
	}
}

// worthJob returns a job of one slot that is worth so much.
func worthJob(worth Utility) *Job {
	return &Job{Arrival: 1, Epochs: 1, Chunks: 1, Minibatches: 1, MinibatchSlots: 1, WorkerBandwidth: 1, PSBandwidth: 1, Utility: worth}
}

// Whatever a utility turns into, what is tolerated of it keeps the rules, and keeps values that do.
func TestToleratedProperty(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(0, 10), rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300}))
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(value, 1, 8).Draw(t, "values")
		j := worthJob(utilityFunc(func(d int) float64 { return values[d] }))
		got := j.tolerated(nil, 0, len(values)-1)
		before, sound := math.Inf(1), true
		for d, x := range got {
			if !(x >= 0) || math.IsInf(x, 0) || x > before {
				t.Fatalf("%v becomes %v", values, got)
			}
			sound = sound && values[d] >= 0 && !math.IsInf(values[d], 0) && values[d] <= before
			if sound && x != values[d] {
				t.Fatalf("%v becomes %v, though nothing is wrong at first", values, got)
			}
			before = x
		}
	})
}

// What breaks its rules before the first slot that is asked for counts there too, but for what is no value.
func TestToleratedCountsFromTheStart(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		values []float64
		want   float64 // of the last slot
	}{{[]float64{9, 4, 8}, 4}, {[]float64{9, nan, 8}, 8}, {[]float64{9, -1, 10}, 9}, {[]float64{nan, math.Inf(1), 7}, 7}, {[]float64{5, 4, nan}, 0}} {
		j := worthJob(utilityFunc(func(d int) float64 { return test.values[d] }))
		last := len(test.values) - 1
		must.Equal(t, j.tolerated(nil, last, last)[0], test.want, test.values, "in the end")
		must.Equal(t, j.earned(last, 6), max(6, test.want), test.values, "earned", "promised 6")
	}
}
