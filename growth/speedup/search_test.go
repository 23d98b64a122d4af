// This file tests the search for the parameters of two phases: its coordinates, its loss, and its steps.

package speedup

import (
	"math"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"pgregory.net/rapid"
)

// free is all that can be searched.
var free = [polluxParams]bool{true, true, true, true, true, true, true}

// What is packed is unpacked as it was; parameters that are not free keep what they have, and those beyond all bounds end
// there.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := polluxFit{params: drawParams(t)}
		for k := range f.free {
			f.free[k] = rapid.Bool().Draw(t, "free")
		}
		before := f.params
		x := f.pack()
		for k := range f.params {
			if f.free[k] {
				f.params[k] = 1.5
			}
		}
		f.unpack(x)
		for k := range before {
			if math.Abs(f.params[k]/before[k]-1) > 1e-9 {
				t.Errorf("parameter %d was %g and is %g", k, before[k], f.params[k])
			}
		}
	})
	f := polluxFit{free: free}
	for far, want := range map[float64][2]float64{1e9: {math.Exp(200), mostOverlap}, -1e9: {math.Exp(-200), 1}} {
		f.unpack([]float64{far, far, far, far, far, far, far})
		if math.Abs(f.params[0]/want[0]-1) > 1e-9 || math.Abs(f.params[overlap]-want[1]) > 1e-9 {
			t.Errorf("at %g: %v", far, f.params)
		}
	}
}

// The loss of a logarithm that is off by e: half of its square up to a tenth, and from there on the line that goes on.
func TestPolluxLoss(t *testing.T) {
	for _, test := range []struct{ off, want float64 }{
		{0, 0}, {0.05, 0.00125}, {-0.05, 0.00125}, {0.1, 0.005}, {0.3, 0.025}, {-1.1, 0.105},
	} {
		f := polluxFit{free: free, params: [polluxParams]float64{2, 0.1, 1, 1, 1, 1, 2}}
		f.observations = []Observation{{1, 1, 10, 3 * math.Exp(test.off)}, {1, 1, 10, 3}} // predicted are 2 + 0.1 x 10
		if got := f.loss(f.pack()); math.Abs(got-test.want/2) > 1e-9 {
			t.Errorf("off by %g: %g, want the mean of %g and 0", test.off, got, test.want)
		}
	}
}

// Derivatives by what is searched are those of small differences, gamma included.
func TestChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := polluxFit{params: drawParams(t), free: free}
		n := rapid.Int64Range(2, 16).Draw(t, "containers")
		c := configuration{n, rapid.Int64Range(1, 2).Draw(t, "servers"), rapid.Float64Range(1, 1000).Draw(t, "samples")}
		x := f.pack()
		slope := f.chain(f.logSlope(c))
		for k := range x {
			at := func(by float64) float64 {
				g := f
				y := append([]float64(nil), x...)
				y[k] += by
				g.unpack(y)
				return math.Log(twoPhase(&g.params, c))
			}
			const h = 1e-5
			if want := (at(h) - at(-h)) / (2 * h); math.Abs(slope[k]-want) > 1e-6 {
				t.Errorf("%v: derivative %d is %g, want %g", c, k, slope[k], want)
			}
		}
	})
}

// Where a search begins: half of the constant and all of the slope that Amdahl's law has, a share of the mean time for
// synchronizing, twice that on several servers, and nothing for what was not seen.
func TestBegin(t *testing.T) {
	var all []Observation
	for _, c := range []configuration{{1, 1, 100}, {2, 1, 100}, {4, 1, 100}, {4, 2, 100}} {
		all = append(all, Observation{c.containers, c.servers, 100, sum([]float64{0.01, 0.4}, c)})
	}
	mean := (1.4 + 0.9 + 0.65 + 0.65) / 4
	f := polluxFit{observations: all, free: free}
	f.begin(beginning{0.3, 4})
	for k, want := range [polluxParams]float64{0.2, 0.01, 0.3 * mean, 0.075 * mean, 0.6 * mean, 0.075 * mean, 4} {
		if math.Abs(f.params[k]-want) > 1e-9 {
			t.Errorf("parameter %d begins at %g, want %g", k, f.params[k], want)
		}
	}
	f = polluxFit{observations: all[:1], free: seen(all[:1])}
	f.begin(beginning{0.3, 4})
	for k, p := range f.params[localAlpha:overlap] {
		must.Equal(t, p, 0, "parameter", k+localAlpha, "was not seen and begins at")
	}
	// Times without any part that containers share begin with a twentieth of the mean all the same: 0 has no logarithm.
	flat := []Observation{{1, 1, 100, 1}, {2, 1, 100, 1}, {4, 1, 100, 1}}
	f = polluxFit{observations: flat, free: seen(flat)}
	f.begin(beginnings[0])
	if math.Abs(f.params[gradBeta]-0.05/100) > 1e-9 || math.Abs(f.params[gradAlpha]-0.5) > 1e-9 {
		t.Errorf("flat times: %v", f.params)
	}
}

// A search never ends worse than it began, whatever the times, and its steps are short: a factor of twenty at most.
func TestPropSearchImproves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Observation
		for range rapid.IntRange(1, 6).Draw(t, "n") {
			n := rapid.Int64Range(1, 8).Draw(t, "containers")
			all = append(all, Observation{n, rapid.Int64Range(1, n).Draw(t, "servers"), 64, rapid.Float64Range(0.01, 100).Draw(t, "seconds")})
		}
		f := polluxFit{observations: all, free: seen(all)}
		f.begin(beginnings[rapid.IntRange(0, len(beginnings)-1).Draw(t, "beginning")])
		x := f.pack()
		before := f.loss(x)
		if next, ok := f.step(x, firstDamping); ok {
			for k := range next {
				if math.Abs(next[k]-x[k]) > 3+1e-9 {
					t.Errorf("a step of %g", next[k]-x[k])
				}
			}
		}
		f.unpack(x)
		if after := f.search(); after > before || math.Abs(f.loss(f.pack())-after) > 1e-6*(1+after) {
			t.Errorf("from %g to %g, and there it is %g", before, after, f.loss(f.pack()))
		}
	})
}
