// This file tests what a curve makes of other numbers of containers, and the errors that it names.

package speedup

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// A job of which nothing is known is linear up to its request.
func TestCold(t *testing.T) {
	c := must.Have(Cold(4))(t)
	got, err := c.Speeds([]int64{0, 1, 2, 3, 4, 5, 1000}, 4)
	if want := []float64{0, 1, 2, 3, 4, 4, 4}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, want %v (%v)", got, want, err)
	}
	for _, request := range []int64{0, -1, mostContainers + 1} {
		must.Fail(Cold(request))(t, apportion.ErrRange, "a request of", request)
	}
}

func TestSpeedFaults(t *testing.T) {
	c, _ := Cold(4)
	for _, test := range []struct {
		name string
		err  func() error
	}{
		{"negative count", func() error { _, err := c.Speeds([]int64{1, -1}, 4); return err }},
		{"count beyond all", func() error { _, err := c.Speeds([]int64{mostContainers + 1}, 4); return err }},
		{"nothing a server", func() error { _, err := c.Speeds(nil, 0); return err }},
	} {
		must.Err(t, test.err(), apportion.ErrRange, test.name)
	}
	for _, n := range [][2]int64{{0, 1}, {1, 0}, {2, 3}} {
		if got := c.StepTime(n[0], n[1], 1); !math.IsInf(got, 1) {
			t.Errorf("%v: a step of %g s", n, got)
		}
	}
}

// Containers that only slow a job down may stay idle: with a step of 1/n + n/10 three are best.
func TestSpeedsRise(t *testing.T) {
	c := &Curve{Model: Optimus, Params: []float64{1, 0, 0, 0.1, 0}, Samples: 1, Most: 8}
	got := must.Have(c.Speeds([]int64{4, 1, 3, 2, 8}, 8))(t)
	third := 1.1 / (1./3 + 0.3)
	want := []float64{third, 1, third, 1.1 / 0.7, third}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("%v, want %v", got, want)
			break
		}
	}
}

// Speeds are packed: the fifth container of servers of four needs a second server, which costs.
func TestSpeedsPack(t *testing.T) {
	c := &Curve{Model: Optimus, Params: []float64{1, 0, 0, 0, 0.5}, Samples: 1, Most: 8}
	for perServer, want := range map[int64]float64{8: 1.5 / 0.7, 4: 1.5 / 0.75, 1: 1} {
		got, err := c.Speeds([]int64{5}, perServer)
		if err != nil || math.Abs(got[0]-want) > 1e-12 {
			t.Errorf("%d a server: %v, want %g (%v)", perServer, got, want, err)
		}
	}
}

// The error that a curve names is that of predictions of what it had not seen: made anew by hand here.
func TestLeaveOut(t *testing.T) {
	observations := []Observation{{1, 1, 8, 1}, {2, 1, 8, 0.6}, {4, 1, 8, 0.45}}
	c := must.Have(Fit(observations, &Options{Model: Linear}))(t)
	squares := 0.0
	for out := range observations {
		others := slices.Delete(slices.Clone(observations), out, out+1)
		without := must.Have(Fit(others, &Options{Model: Linear}))(t)
		e := math.Log(without.StepTime(observations[out].Containers, 1, 8) / observations[out].Seconds)
		squares += e * e
	}
	if want := math.Sqrt(squares / 3); math.Abs(c.Error-want) > 1e-12 || c.LeftOut != 3 {
		t.Errorf("error %g of %d, want %g of 3", c.Error, c.LeftOut, want)
	}
}

// Auto takes what the times were made of where it matters: the two phases with overlap, or Amdahl's law where that explains all.
func TestAuto(t *testing.T) {
	p := [polluxParams]float64{0.05, 0.002, 0.2, 0.02, 0.6, 0.05, 4}
	for _, test := range []struct {
		name string
		time func(c configuration) float64
		want Model
	}{
		{"two phases", func(c configuration) float64 { return twoPhase(&p, c) }, Pollux},
		{"a serial part", func(c configuration) float64 { return sum([]float64{0.01, 0.1}, c) }, Amdahl},
		{"costs of servers", func(c configuration) float64 { return sum([]float64{0.01, 0.1, 0.02, 0.03, 0.2}, c) }, Optimus},
	} {
		c := must.Have(Fit(grid(test.time), nil))(t)
		must.Equal(t, c.Model, test.want, test.name)
	}
}

// What a curve is asked for and promises: the samples of the largest measurement, and the larger of the request and twice that.
func TestFitOptions(t *testing.T) {
	observations := []Observation{{2, 1, 32, 1}, {4, 2, 64, 1}}
	for _, test := range []struct {
		options *Options
		samples float64
		most    int64
	}{
		{nil, 64, 8}, {&Options{Request: 6}, 64, 8}, {&Options{Request: 12}, 64, 12}, {&Options{Samples: 100}, 100, 8},
	} {
		c, err := Fit(observations, test.options)
		if err != nil || c.Samples != test.samples || c.Most != test.most || c.Measured != 4 || c.Configurations != 2 {
			t.Errorf("%+v: %+v, want samples %g and most %d (%v)", test.options, c, test.samples, test.most, err)
		}
	}
	if c, err := Fit([]Observation{{mostContainers, 1, 1, 1}}, nil); err != nil || c.Most != mostContainers {
		t.Errorf("beyond all: %+v (%v)", c, err)
	}
}

// TestDeterministic shuffles the observations; the curve stays the same to the last bit.
func TestDeterministic(t *testing.T) {
	p := [polluxParams]float64{0.05, 0.002, 0.2, 0.02, 0.6, 0.05, 4}
	observations := grid(func(c configuration) float64 { return twoPhase(&p, c) * (1 + 0.03*math.Sin(float64(c.containers))) })
	for _, model := range []Model{Amdahl, Optimus, Pollux, Table} {
		want := must.Have(Fit(observations, &Options{Model: model}))(t)
		for seed := range uint64(5) {
			shuffled := slices.Clone(observations)
			rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if got, err := Fit(shuffled, &Options{Model: model}); err != nil || !cmp.Equal(got, want) {
				t.Errorf("%v: %s", model, cmp.Diff(want, got))
			}
		}
	}
}

// Whatever is measured, every model gives finite positive times and speeds that rise from 1 and stop at Most.
func TestCurvesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var observations []Observation
		for range rapid.IntRange(1, 10).Draw(t, "n") {
			n := rapid.Int64Range(1, 40).Draw(t, "containers")
			observations = append(observations, Observation{n, rapid.Int64Range(1, n).Draw(t, "servers"),
				rapid.SampledFrom([]float64{1, 64, 1e4}).Draw(t, "samples"), math.Exp(rapid.Float64Range(-20, 20).Draw(t, "log seconds"))})
		}
		model := rapid.SampledFrom([]Model{Linear, Amdahl, Optimus, Pollux, Table}).Draw(t, "model")
		c := must.Have(Fit(observations, &Options{Model: model}))(t)
		counts := []int64{1, 2, 3, 5, 8, 13, c.Most, 2 * c.Most}
		speeds := must.Have(c.Speeds(counts, rapid.Int64Range(1, 8).Draw(t, "per server")))(t)
		if speeds[0] != 1 || speeds[len(speeds)-1] != speeds[len(speeds)-2] || math.IsNaN(c.Error) || math.IsInf(c.Error, 0) {
			t.Errorf("%v: speeds %v, error %g (%+v)", model, speeds, c.Error, c)
		}
		slices.Sort(speeds)
		for _, s := range speeds {
			if !(s >= 1 && s <= 1e30) {
				t.Errorf("%v: speeds %v (%+v)", model, speeds, c)
			}
		}
	})
}

// Three measurements on which containers wait for one another would bend any curve with five parameters: Auto does not offer one.
func TestAutoNeedsMoreThanParameters(t *testing.T) {
	p := [polluxParams]float64{0.05, 0.002, 0.2, 0.02, 0.6, 0.05, 4}
	var observations []Observation
	for n := int64(1); n <= 10; n++ {
		c := configuration{n, (n + 3) / 4, 512}
		observations = append(observations, Observation{n, c.servers, 512, twoPhase(&p, c)})
	}
	for known, want := range map[int]Model{3: Amdahl, 5: Amdahl, 10: Pollux} {
		c := must.Have(Fit(observations[:known], nil))(t)
		must.Equal(t, c.Model, want, known, "measurements")
	}
}
