// This file tests the models on numbers of their papers' formulas, worked out by hand.

package speedup

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// Reference: [Amdahl67]: with a serial part of a tenth eight containers are 1/(0.1 + 0.9/8) times as fast as one, and no number
// of them is ten times as fast.
func TestPaperAmdahl(t *testing.T) {
	c := &Curve{Model: Amdahl, Params: []float64{0.9, 0.1}, Samples: 1, Most: mostContainers}
	counts := []int64{1, 2, 4, 8, 1000, mostContainers}
	speeds := must.Have(c.Speeds(counts, 8))(t)
	for i, n := range counts {
		want := 1 / (0.1 + 0.9/float64(n))
		if math.Abs(speeds[i]-want) > 1e-9 || speeds[i] >= 10 {
			t.Errorf("%d containers: %g, want %g", n, speeds[i], want)
		}
	}
}

// Reference: [Peng18] (3): T = theta_0 m + theta_1 + theta_2 w/p + theta_3 w + theta_4 p with m = M/w. Eight containers on two
// servers, M = 160: 20, 1, 4, 8 and 2 times the parameters.
func TestPaperOptimus(t *testing.T) {
	params := []float64{0.01, 0.2, 0.03, 0.004, 0.05}
	for k, want := range []float64{0.2, 0.2, 0.12, 0.032, 0.1} {
		alone := make([]float64, len(params))
		alone[k] = params[k]
		c := &Curve{Model: Optimus, Params: alone}
		if got := c.StepTime(8, 2, 160); math.Abs(got-want) > 1e-12 {
			t.Errorf("theta_%d: %g s, want %g", k, got, want)
		}
	}
	if got := (&Curve{Model: Optimus, Params: params}).StepTime(8, 2, 160); math.Abs(got-0.652) > 1e-12 {
		t.Errorf("all: %g s, want 0.652", got)
	}
}

// Reference: [Qiao21] (11): with phases of 3 and 4 and gamma 2 a step takes 5, the hypotenuse.
func TestPaperOverlap(t *testing.T) {
	for gamma, want := range map[float64]float64{1: 7, 2: 5} {
		c := &Curve{Model: Pollux, Params: []float64{1, 0.2, 4, 9, 4, 9, gamma}}
		for servers, seconds := range map[int64]float64{1: want, 2: want} {
			if got := c.StepTime(2, servers, 20); math.Abs(got-seconds) > 1e-12 {
				t.Errorf("gamma %g on %d servers: %g, want %g", gamma, servers, got, seconds)
			}
		}
		// One container does not synchronize: 1 + 0.2 x 20.
		must.Equal(t, c.StepTime(1, 1, 20), 5, "alone")
	}
}

// Reference: [Qiao21] §4.1: gamma lies in [1, 10], and a step takes between the longer phase and their sum, the less the larger
// gamma is.
func TestPropOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawParams(t)
		n := rapid.Int64Range(2, 16).Draw(t, "containers")
		c := configuration{n, rapid.Int64Range(1, n).Draw(t, "servers"), 64}
		grad, sync := parts(&p, c)
		last := grad + sync
		for gamma := 1.0; gamma <= mostOverlap; gamma += 0.5 {
			p[overlap] = gamma
			now := twoPhase(&p, c)
			if now > last*(1+1e-12) || now < max(grad, sync) {
				t.Fatalf("gamma %g: %g after %g, phases %g and %g", gamma, now, last, grad, sync)
			}
			last = now
		}
	})
}

// Reference: [Qiao21] §4.1: what was never seen costs nothing, and on several servers what it does on one.
func TestPaperPrior(t *testing.T) {
	f := polluxFit{params: [polluxParams]float64{1, 2, 3, 4, 5, 6, 7}}
	for _, test := range []struct {
		name string
		seen []Observation
		want [polluxParams]float64
	}{
		{"nothing but one container", []Observation{{1, 1, 8, 1}}, [polluxParams]float64{1, 2, 3, 4, 3, 4, 7}},
		{"one server", []Observation{{4, 1, 8, 1}}, [polluxParams]float64{1, 2, 3, 4, 3, 4, 7}},
		{"two containers on two servers, and one server", []Observation{{4, 1, 8, 1}, {2, 2, 8, 1}}, [polluxParams]float64{1, 2, 3, 4, 5, 4, 7}},
		{"several servers only", []Observation{{4, 2, 8, 1}}, [polluxParams]float64{1, 2, 3, 4, 5, 6, 7}},
		{"all", []Observation{{4, 1, 8, 1}, {4, 2, 8, 1}}, [polluxParams]float64{1, 2, 3, 4, 5, 6, 7}},
	} {
		g := f
		g.free = seen(test.seen)
		g.complete()
		must.Equal(t, g.params, test.want, test.name)
	}
}
