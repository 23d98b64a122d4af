// This file tests sums of terms: that a fit finds the parameters that made the times, and which it takes where several would do.

package speedup

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// made returns an observation whose time a sum of terms has made.
func made(params []float64, n, servers int64, samples float64) Observation {
	return Observation{n, servers, samples, sum(params, configuration{n, servers, samples})}
}

// grid returns observations of a job on up to 16 containers of servers of 4.
func grid(time func(c configuration) float64) []Observation {
	var all []Observation
	for _, samples := range []float64{64, 200, 1024} {
		for _, n := range []int64{1, 2, 3, 4, 6, 8, 16} {
			for servers := (n + 3) / 4; servers <= min(n, 4); servers++ {
				all = append(all, Observation{n, servers, samples, time(configuration{n, servers, samples})})
			}
		}
	}
	return all
}

// Reference: [Peng18] (3), all five terms; [Amdahl67], two.
func TestSumsAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := rapid.SampledFrom([]Model{Linear, Amdahl, Optimus}).Draw(t, "model")
		params := make([]float64, model.size())
		for k := range params {
			params[k] = rapid.SampledFrom([]float64{0, 0.001, 0.02, 0.3}).Draw(t, "theta")
		}
		params[0] += 0.001
		c := must.Have(Fit(grid(func(c configuration) float64 { return sum(params, c) }), &Options{Model: model}))(t)
		for k := range params {
			if math.Abs(c.Params[k]-params[k]) > 1e-7 {
				t.Errorf("theta_%d %g, want %g (%v)", k, c.Params[k], params[k], c.Params)
			}
		}
		if c.Error > 1e-6 || c.LeftOut != mostLeftOut {
			t.Errorf("error %g of %d left out", c.Error, c.LeftOut)
		}
	})
}

// No weights that are not negative are better than those found, however they are changed a little.
func TestSumIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []row
		for range rapid.IntRange(1, 8).Draw(t, "n") {
			n := rapid.Int64Range(1, 8).Draw(t, "containers")
			seconds := rapid.Float64Range(0.1, 2).Draw(t, "seconds")
			rows = append(rows, row{configuration{n, rapid.Int64Range(1, n).Draw(t, "servers"), 16}, seconds,
				seconds * rapid.Float64Range(0.5, 2).Draw(t, "scale"), rapid.Float64Range(0.1, 1).Draw(t, "weight")})
		}
		loss := func(params []float64) (total float64) {
			for i := range rows {
				r := (rows[i].seconds - sum(params, rows[i].configuration)) / rows[i].scale
				total += rows[i].weight * r * r
			}
			return total
		}
		params := leastSquares(mostTerms, rows)
		least := loss(params)
		for k := range params {
			for _, step := range []float64{-0.05, -1e-3, 1e-3, 0.05} {
				near := append([]float64(nil), params...)
				near[k] = max(0, near[k]+step)
				if loss(near) < least*(1-1e-6)-1e-9 {
					t.Errorf("%v has %g, but %v has %g", params, least, near, loss(near))
				}
			}
		}
	})
}

// One wrong time among good ones leaves the fit where it was, and its curve names the error.
func TestOutlier(t *testing.T) {
	params := []float64{0.002, 0.05}
	observations := grid(func(c configuration) float64 { return sum(params, c) })
	observations[5].Seconds *= 20
	observations[17].Seconds /= 10
	c := must.Have(Fit(observations, &Options{Model: Amdahl}))(t)
	for k, want := range params {
		if math.Abs(c.Params[k]/want-1) > 0.01 {
			t.Errorf("theta_%d %g, want %g", k, c.Params[k], want)
		}
	}
	if c.Error == 0 {
		t.Error("the wrong times leave no trace in the error")
	}
}

// A single measurement is explained by the fewest terms: the time of a sample.
func TestOneMeasurement(t *testing.T) {
	for _, model := range []Model{Linear, Amdahl, Optimus, Auto} {
		c := must.Have(Fit([]Observation{made([]float64{0.01, 0.1}, 2, 1, 64)}, &Options{Model: model}))(t)
		if got, want := c.StepTime(4, 1, 64), 0.42/2; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %g s on 4, want %g", model, got, want)
		}
		if c.LeftOut != 0 || c.Most != 4 || c.Measured != 2 || c.Configurations != 1 {
			t.Errorf("%v: %+v", model, c)
		}
	}
}
