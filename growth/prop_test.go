// This file checks the history and the estimate against their definitions.

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

// run is a job that falls as 3/sqrt(n), with a little noise and none of its readings held back.
type run struct {
	series      growth.Series
	at          time.Duration
	work, value []float64
	used        float64
}

// step adds the next reading.
func (r *run) step(i int, noise float64, rng *rand.Rand) {
	v, usage := 3/math.Sqrt(float64(i+1))+noise*rng.NormFloat64(), 0.1+rng.Float64()
	if i > 0 {
		gap := time.Duration(1+rng.IntN(30)) * second
		r.at += gap
		r.used += usage * gap.Seconds()
	}
	r.series.Add(r.at, v, growth.Used(usage))
	r.work, r.value = append(r.work, r.used), append(r.value, v)
}

// outlook asks the twin.
func (r *run) outlook(direction growth.Direction, size int) growthoracle.Outlook {
	works, _ := growthoracle.Thinned(r.work)
	values, _ := growthoracle.Thinned(r.value)
	sign := map[growth.Direction]float64{growth.SmallerIsBetter: 1, growth.LargerIsBetter: -1}[direction]
	return growthoracle.Look(growthoracle.History{Work: works, Value: values, Now: r.used, Start: r.value[0], Size: float64(size), Sign: sign})
}

// TestPropEstimateIsItsDefinition compares the thinned history with the whole one, and the estimate with that
// of its twin, wherever a reading has completed an average. Tables of shapes are off by a little.
func TestPropEstimateIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{2, 3, 8, 31, 32, 33, 64, 100, 256}).Draw(t, "evaluations")
		noise := rapid.SampledFrom([]float64{0, 0.003, 0.03}).Draw(t, "noise")
		direction := rapid.SampledFrom([]growth.Direction{growth.EitherWay, growth.SmallerIsBetter, growth.LargerIsBetter}).Draw(t, "direction")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		r := &run{}
		r.series.Toward(direction)
		for i := range n {
			r.step(i, noise, rng)
			averages, size := growthoracle.Thinned(r.value)
			if r.series.History() > len(averages) {
				t.Fatalf("%d points, want %d", r.series.History(), len(averages))
			}
			if r.series.History() < len(averages) || (i+1)%size != 0 {
				return // a reading was held back, or waits for others
			}
			for k, want := range averages {
				if got := r.series.Point(k).Value; math.Abs(got-want) > 1e-9 {
					t.Fatalf("point %d of %d is %v, want %v", k, len(averages), got, want)
				}
			}
			got, ok := r.series.Estimate()
			if ok != (i >= 2) {
				t.Fatalf("an estimate of %d readings: %v", i+1, ok)
			}
			if ok {
				compare(t, got, r.outlook(direction, size))
			}
		}
	})
}

// compare allows what the tables cost: the values lie in [0, 3].
func compare(t *rapid.T, got growth.Estimate, want growthoracle.Outlook) {
	for _, row := range []struct {
		name      string
		got, want float64
	}{
		{"level", got.Level, want.Level}, {"improvement", got.Improvement, want.Improvement}, {"slope", got.Slope, want.Slope},
		{"doubt", got.Doubt, want.Doubt}, {"ahead", got.Ahead, want.Ahead}, {"rest", got.Rest, want.Rest},
	} {
		if math.Abs(row.got-row.want) > 0.01 {
			t.Fatalf("%s %v, want %v (%d points)", row.name, row.got, row.want, got.Points)
		}
	}
}

// Values times a factor, and mirrored with their direction, lead to the same verdicts.
func TestPropUnitsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factor := rapid.SampledFrom([]float64{1e-9, 0.5, 1e12, -1, -1e6}).Draw(t, "factor")
		values := rapid.SliceOfN(rapid.Float64Range(-8, 8), 3, 80).Draw(t, "values")
		var a, b growth.Series
		a.Toward(growth.SmallerIsBetter)
		b.Toward(growth.SmallerIsBetter)
		if factor < 0 {
			b = growth.Series{}
			b.Toward(growth.LargerIsBetter)
		}
		prospect := growth.Prospect{Alpha: 0.05}
		for i, v := range values {
			at := time.Duration(i) * 10 * second
			x, y := growth.Judge(prospect, &a, a.Add(at, v, growth.Used(1))), growth.Judge(prospect, &b, b.Add(at, v*factor, growth.Used(1)))
			e, _ := a.Estimate()
			close := math.Abs(e.Ahead-0.025) < 1e-6 || math.Abs(e.Ahead-0.1) < 1e-6 || math.Abs(e.Rest-0.05) < 1e-6 || math.Abs(e.Improvement) < 1e-9
			if x != y && !close {
				t.Fatalf("reading %d: %v, in another unit %v", i, x, y)
			}
		}
	})
}
