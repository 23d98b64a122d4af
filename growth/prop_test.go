// This file checks Prospect against its definition.

package growth_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/oracle/growthoracle"
)

// TestPropProspectIsItsDefinition compares the thinned history with the whole one.
func TestPropProspectIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{7, 8, 9, 31, 32, 33, 48, 64, 100, 256, 300}).Draw(t, "evaluations")
		noise := rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "noise")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		prospect := growth.Prospect{Alpha: 0.05, Confidence: rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "confidence")}
		confidence := prospect.Confidence
		if confidence == 0 {
			confidence = growth.DefaultConfidence
		}
		var series growth.Series
		var work, value []float64
		at, used := time.Duration(0), 0.0
		for i := range n {
			v := 3/math.Sqrt(float64(i+1)) + noise*rng.NormFloat64()
			usage := 0.1 + rng.Float64()
			if i > 0 {
				gap := time.Duration(1+rng.IntN(30)) * second
				at += gap
				used += usage * gap.Seconds()
			}
			series.Add(at, v, growth.Used(usage))
			work, value = append(work, used), append(value, v)
			if i == 0 {
				continue
			}
			gain, doubt, ok := growthoracle.Prospect(work, value)
			want := growth.Unsure
			switch {
			case ok && math.Abs(gain+confidence*doubt-prospect.Alpha) < 1e-9, ok && math.Abs(gain-confidence*doubt-prospect.Alpha) < 1e-9:
				continue // too close to call in floating point
			case ok && gain+confidence*doubt < prospect.Alpha:
				want = growth.Slow
			case ok && gain-confidence*doubt >= prospect.Alpha:
				want = growth.Growing
			}
			if got := prospect.Judge(&series); got != want {
				t.Fatalf("after %d evaluations %v, want %v (gain %v, doubt %v, %v)", i+1, got, want, gain, doubt, ok)
			}
		}
	})
}
