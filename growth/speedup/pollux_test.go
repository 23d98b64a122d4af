// This file tests the two-phase model: its form, its derivatives, and that a fit finds what made the times.

package speedup

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// Reference: [Qiao21] (8)-(11): gamma of 1 adds the phases, a large one leaves the longer.
func TestTwoPhase(t *testing.T) {
	p := [polluxParams]float64{0.1, 0.01, 0.03, 0.002, 0.3, 0.05, 1}
	for _, test := range []struct {
		c          configuration
		grad, sync float64
	}{
		{configuration{1, 1, 40}, 0.5, 0},
		{configuration{2, 1, 40}, 0.3, 0.03},
		{configuration{4, 1, 40}, 0.2, 0.034},
		{configuration{2, 2, 40}, 0.3, 0.3},
		{configuration{8, 2, 40}, 0.15, 0.6},
	} {
		grad, sync := parts(&p, test.c)
		if math.Abs(grad-test.grad) > 1e-12 || math.Abs(sync-test.sync) > 1e-12 {
			t.Errorf("%v: phases %g and %g, want %g and %g", test.c, grad, sync, test.grad, test.sync)
		}
		if got := twoPhase(&p, test.c); math.Abs(got-grad-sync) > 1e-12 {
			t.Errorf("%v: %g with gamma 1, want the sum %g", test.c, got, grad+sync)
		}
		whole := p
		whole[overlap] = mostOverlap
		if got := twoPhase(&whole, test.c); got < max(grad, sync) || got > 1.08*max(grad, sync) {
			t.Errorf("%v: %g with gamma 10, want about the longer of %g and %g", test.c, got, grad, sync)
		}
	}
	must.Equal(t, twoPhase(&[polluxParams]float64{}, configuration{1, 1, 1}), 0, "without any cost")
}

func drawParams(t *rapid.T) (p [polluxParams]float64) {
	p[gradAlpha] = rapid.Float64Range(0.01, 0.1).Draw(t, "alpha grad")
	p[gradBeta] = rapid.Float64Range(0.0005, 0.005).Draw(t, "beta grad")
	p[localAlpha] = rapid.Float64Range(0.01, 0.1).Draw(t, "alpha local")
	p[localBeta] = rapid.Float64Range(0.001, 0.02).Draw(t, "beta local")
	p[remoteAlpha] = p[localAlpha] * rapid.Float64Range(1, 4).Draw(t, "remote")
	p[remoteBeta] = p[localBeta] * rapid.Float64Range(1, 2).Draw(t, "remote")
	p[overlap] = rapid.Float64Range(1.2, 5).Draw(t, "gamma")
	return p
}

// The derivatives are those of small differences.
func TestLogSlope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := polluxFit{params: drawParams(t)}
		n := rapid.Int64Range(1, 16).Draw(t, "containers")
		c := configuration{n, rapid.Int64Range(1, n).Draw(t, "servers"), rapid.Float64Range(1, 1000).Draw(t, "samples")}
		slope := f.logSlope(c)
		for k := range f.params {
			at := func(factor float64) float64 {
				p := f.params
				p[k] *= factor
				return math.Log(twoPhase(&p, c))
			}
			const h = 1e-5
			if got, want := slope[k]*f.params[k], (at(1+h)-at(1-h))/(2*h); math.Abs(got-want) > 1e-6 {
				t.Errorf("%v: derivative %d is %g, want %g", c, k, got, want)
			}
		}
	})
}

// A fit of times that the model has made predicts them to a thousandth, and others to a hundredth.
func TestPolluxIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawParams(t)
		time := func(c configuration) float64 { return twoPhase(&p, c) }
		c := Curve{Model: Pollux, Params: fitPollux(grid(time))}
		for _, o := range grid(time) {
			if got := c.StepTime(o.Containers, o.Servers, o.Samples); math.Abs(got/o.Seconds-1) > 0.01 {
				t.Errorf("%+v is predicted as %g (%v, made by %v)", o, got, c.Params, p)
			}
		}
		for _, o := range []configuration{{5, 2, 300}, {12, 3, 700}} {
			if got, want := c.StepTime(o.containers, o.servers, o.samples), time(o); math.Abs(got/want-1) > 0.03 {
				t.Errorf("%+v is predicted as %g, want %g", o, got, want)
			}
		}
	})
}

// What was never seen costs nothing, and several servers at least what one does.
func TestPolluxUnseen(t *testing.T) {
	p := [polluxParams]float64{0.05, 0.002, 0.04, 0.01, 0.2, 0.05, 2}
	fit := func(counts ...int64) *Curve {
		var observations []Observation
		for _, n := range counts {
			for _, samples := range []float64{100, 400} {
				c := configuration{n, 1, samples}
				observations = append(observations, Observation{n, 1, samples, twoPhase(&p, c)})
			}
		}
		return must.Have(Fit(observations, &Options{Model: Pollux}))(t)
	}
	alone := fit(1)
	if got, want := alone.StepTime(4, 4, 400), p[gradAlpha]+100*p[gradBeta]; math.Abs(got/want-1) > 1e-3 {
		t.Errorf("measured on one: %g on four servers, want the time to compute %g", got, want)
	}
	two := fit(1, 2, 4)
	if one, several := two.StepTime(4, 1, 400), two.StepTime(4, 4, 400); one != several {
		t.Errorf("measured on one server: %g there and %g on several", one, several)
	}
	// The search ends no worse than it began.
	f := polluxFit{observations: grid(func(c configuration) float64 { return twoPhase(&p, c) }), free: seen(grid(func(configuration) float64 { return 1 }))}
	f.begin(beginnings[0])
	before := f.loss(f.pack())
	f.search()
	if after := f.loss(f.pack()); after > before/100 {
		t.Errorf("loss %g, began with %g", after, before)
	}
}
