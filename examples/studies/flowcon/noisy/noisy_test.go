// This file tests what happens to readings, and when a job has learned.

package noisy

import (
	"bytes"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// Every noise does what its name says, in the shares that it says, and takes as many draws.
func TestNoiseOf(t *testing.T) {
	const n = 20000
	after := map[uint64]bool{}
	for _, noise := range Noises() {
		random := rand.New(rand.NewPCG(1, 2))
		var squares, five, hundred, missing float64
		for range n {
			value, there := noise.Of(2, random)
			switch {
			case !there:
				missing++
			case value > 100:
				hundred++
			case value > 5:
				five++
			default:
				squares += (value/2 - 1) * (value/2 - 1)
			}
		}
		after[random.Uint64()] = true
		if noise.Tails != (hundred > 0.005*n && hundred < 0.015*n && five > 0.03*n && five < 0.07*n) && noise.Share < 0.3 {
			t.Errorf("%s: %v readings hundredfold, %v fivefold", noise.Name, hundred, five)
		}
		if math.Abs(missing/n-noise.Missing) > 0.02 {
			t.Errorf("%s: %v of %d missing", noise.Name, missing, n)
		}
		if got := math.Sqrt(squares / (n - missing)); math.Abs(got-noise.Share) > 0.1*noise.Share+0.001 {
			t.Errorf("%s: deviation %v", noise.Name, got)
		}
	}
	must.Equal(t, len(after), 1, "noises take different numbers of draws")
}

// asked is a policy that notes what it is shown, and wants to be asked rarely.
type asked struct {
	policies.Default
	values map[time.Duration]float64
}

func (a *asked) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	for i := range state.Jobs {
		a.values[state.Now] = state.Jobs[i].Value
	}
	return a.Default.Decide(ctx, state)
}

// scenario is one job of 100 s whose loss falls from 8 to 0 in a straight line.
func scenario(t *testing.T) *sim.Scenario {
	t.Helper()
	curve := must.Have(sim.NewCurve([]float64{0, 1}, []float64{8, 0}))(t)
	job := sim.SharedJob("job", 10*time.Second, 100*time.Second, sim.Whole)
	job.Curve = curve
	return &sim.Scenario{Kinds: apportion.Kinds{"cpu"}, Servers: []apportion.Server{{ID: "worker", Capacity: apportion.Resources{sim.Whole}}},
		Law: sim.Shared{}, Jobs: []sim.Job{job}}
}

// A policy is asked every few seconds, is shown noise, and a missing value as the one before; the same
// seed shows the same.
func TestPolicy(t *testing.T) {
	play := func(noise Noise) map[time.Duration]float64 {
		inner := &asked{values: map[time.Duration]float64{}}
		must.Have(sim.Run(context.Background(), scenario(t), &Policy{Policy: inner, Noise: noise, Seed: 7, Every: 5 * time.Second}))(t)
		return inner.values
	}
	clean, loud, again := play(Noise{}), play(Noise{Share: 0.3}), play(Noise{Share: 0.3})
	if len(clean) < 20 {
		t.Errorf("asked %d times in 100 s", len(clean))
	}
	off := 0
	for at, value := range clean {
		if want := 8 - 8*(at-10*time.Second).Seconds()/100; math.Abs(value-want) > 1e-9 {
			t.Errorf("%v: %v, want %v", at, value, want)
		}
		must.Equal(t, loud[at], again[at], at, "then")
		if loud[at] != value {
			off++
		}
	}
	if off < 15 {
		t.Errorf("%d values are noisy", off)
	}
	distinct := map[float64]bool{}
	for _, value := range play(Noise{Missing: 0.8}) {
		distinct[value] = true
	}
	if len(distinct) > 12 {
		t.Errorf("%d values came, of which most are missing", len(distinct))
	}
}

// Part looks at means of the newest 5 %, whichever way is better.
func TestPart(t *testing.T) {
	for _, test := range []struct {
		steps, values []float64
		want          float64
	}{
		{[]float64{0, 10, 20, 40}, []float64{100, 10, 5, 0}, 0.5},
		{[]float64{5, 10, 20, 25}, []float64{0, 96, 97, 100}, 0.25},
		{[]float64{0, 1, 2}, []float64{3, 2, 1}, 1},
	} {
		must.Equal(t, Part(test.steps, test.values), test.want, test.values)
	}
}

// A job that ran at half speed, waited, and then ran at full speed.
func TestLearned(t *testing.T) {
	s := func(n int) time.Duration { return time.Duration(n) * time.Second }
	job := &sim.Outcome{Arrival: s(10), Completion: s(100), Spans: []sim.Span{
		{From: s(10), Until: s(30), Rate: sim.Whole / 2}, {From: s(30), Until: s(50)}, {From: s(50), Until: s(100), Rate: sim.Whole}}}
	for part, want := range map[float64]time.Duration{1. / 12: s(10), 1. / 6: s(20), 0.5: s(60), 1: s(90)} {
		if got := Learned(job, s(60), part); (got - want).Abs() > time.Microsecond {
			t.Errorf("%v of the work after %v, want %v", part, got, want)
		}
	}
}

func TestMoments(t *testing.T) {
	m := &moments{}
	for _, x := range []float64{1, 3, 1, 3} {
		m.add(x)
	}
	must.Equal(t, m.String(), "+2.0 (0.5)")
}

// A contest of a policy with itself ends even.
func TestContest(t *testing.T) {
	model := Model{Name: "m", Curve: "mlperf_rnnt_a100"}
	c := &Contest{Settings: []string{"a", "b"}, Schedules: 2, Intervals: []time.Duration{time.Minute}, Models: []Model{model},
		Scenario: func(uint64) (*sim.Scenario, error) {
			s := scenario(t)
			s.Jobs[0].Model = model.Name
			return s, nil
		},
		Base: func(uint64) sim.Policy { return &policies.Default{} },
		With: func(int, time.Duration, uint64) (sim.Policy, error) { return &policies.Default{}, nil }}
	var text bytes.Buffer
	must.Do(t, c.Report(&text, io.Discard))
	must.Equal(t, strings.Count(text.String(), "+0.0 (0.0)"), 3*(len(Noises())-1), &text)
}
