// This file generates scenarios for the property tests.

package specon_test

import (
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
)

// ids prefix one another on purpose.
var ids = []string{"a", "a/b", "ab", "sci", "scidev", "z"}

// scene is the jobs that run at a time, with their readings.
type scene struct {
	now          time.Duration
	observations []specon.Observation
}

// scenes draws up to 12 times, on whole seconds, with jobs that come, stay and go, listed in
// any order.
func scenes() *rapid.Generator[[]scene] {
	return rapid.Custom(func(t *rapid.T) []scene {
		var all []scene
		now := time.Duration(0)
		there := map[string]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			s := scene{now: now}
			for _, id := range ids {
				if rapid.IntRange(0, 4).Draw(t, "flip") == 0 {
					there[id] = !there[id]
				}
				if there[id] {
					s.observations = append(s.observations, specon.Observation{Job: id, At: now, Value: values.Draw(t, "value"), Usage: usage.Draw(t, "usage")})
				}
			}
			s.observations = rapid.Permutation(s.observations).Draw(t, "order")
			all = append(all, s)
			now += time.Duration(rapid.IntRange(1, 60).Draw(t, "seconds")) * time.Second
		}
		return all
	})
}

// values repeat often, and some are 0, so that growth is 0 and scales are missing at times.
var values = rapid.OneOf(
	rapid.SampledFrom([]float64{0, 0, 1, 1, 0.5, -2, 180.25}),
	rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-4000, 4000).Draw(t, "quarters")) / 4 }),
)

// wild values are anything a job may print.
var wild = rapid.OneOf(values, rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1),
	math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1e100, -1e100, 1e-300}))

// usage may be missing, nothing or any share.
var usage = rapid.Custom(func(t *rapid.T) growth.Usage {
	if rapid.IntRange(0, 3).Draw(t, "not measured") == 0 {
		return growth.Usage{}
	}
	return growth.Used(rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 0.25}), rapid.Float64Range(0, 1)).Draw(t, "share"))
})
