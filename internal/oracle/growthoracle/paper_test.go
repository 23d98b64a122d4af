// This file tests the twins on the worked numbers of [Zheng].

package growthoracle

import (
	"maps"
	"math"
	"slices"
	"testing"
)

// gauge is a job whose evaluation function falls as fast as a test says. It begins at 1, so that normalized
// and raw progress are the same.
type gauge struct{ at, value float64 }

// next returns the reading at a time after a growth efficiency of g with the whole of one resource in use,
// (4.1) and (4.2).
func (c *gauge) next(now, g float64) Reading {
	if c.at != now {
		c.value -= g * (now - c.at)
		c.at = now
	}
	return Reading{At: now, Value: c.value, Usage: []float64{1}}
}

// Reference: [Zheng] Algorithms 1 and 2 with alpha 0.05, beta 2 and an interval of 20 s: VAE converges alone,
// MNIST arrives at 41 s, both converge by 101 s and back off until MNIST exits.
func TestPaperFlowCon(t *testing.T) {
	f := NewFlowCon(0.05, 2, 20, 1)
	vae, mnist := &gauge{0, 1}, &gauge{41, 1}
	for _, step := range []struct {
		now, vae float64
		mnist    float64 // negative: it is not there
		limits   map[string]float64
		itval    float64
		list     string // of VAE
	}{
		{0, 0, -1, map[string]float64{"VAE": 1}, 20, "NL"},
		{20, .04, -1, map[string]float64{"VAE": 1}, 20, "WL"},
		{40, .03, -1, map[string]float64{"VAE": 1}, 40, "CL"},
		// A container without a measurement counts as infinitely efficient; VAE has the lower bound 1/(2*2).
		{41, .03, 0, map[string]float64{"VAE": .25, "MNIST": 1}, 20, "CL"},
		{61, .02, .30, map[string]float64{"VAE": .25, "MNIST": .9375}, 20, "CL"},
		// MNIST is watched now and keeps its limit.
		{81, .02, .04, map[string]float64{"VAE": 1. / 3, "MNIST": .9375}, 20, "CL"},
		{101, .02, .03, map[string]float64{"VAE": 1, "MNIST": 1}, 40, "CL"},
		// Between two runs nothing is decided.
		{121, .02, .03, map[string]float64{"VAE": 1, "MNIST": 1}, 40, "CL"},
		{141, .02, .03, map[string]float64{"VAE": 1, "MNIST": 1}, 80, "CL"},
		// An exit runs Algorithm 1 at once and forgets the back-off.
		{150, .02, -1, map[string]float64{"VAE": 1}, 20, "CL"},
		{170, .06, -1, map[string]float64{"VAE": 1}, 20, "NL"},
	} {
		readings := map[string]Reading{"VAE": vae.next(step.now, step.vae)}
		if step.mnist >= 0 {
			readings["MNIST"] = mnist.next(step.now, step.mnist)
		}
		f.Step(step.now, readings)
		got := map[string]float64{}
		for id, limits := range f.Limits {
			got[id] = limits[0]
		}
		if !maps.EqualFunc(got, step.limits, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) || f.Itval != step.itval {
			t.Errorf("%g s: limits %v, interval %g, want %v, %g", step.now, got, f.Itval, step.limits, step.itval)
		}
		if in := map[string]bool{"NL": f.NL["VAE"], "WL": f.WL["VAE"], "CL": f.CL["VAE"]}; !in[step.list] || len(f.NL)+len(f.WL)+len(f.CL) != len(got) {
			t.Errorf("%g s: VAE in %v, want %s alone", step.now, in, step.list)
		}
	}
}

// Reference: [Zheng] (4.2): the usage is the average over the interval, whatever was offered in between. 10 s at 0.2
// and 30 s at 0.6 are 0.5, so a loss that falls by 0.4 in 40 s has an efficiency of 0.02.
func TestPaperAverageUsage(t *testing.T) {
	f := NewFlowCon(0.05, 2, 40, 1)
	for _, r := range []Reading{{0, 1, []float64{1}}, {10, .9, []float64{.2}}, {40, .6, []float64{.6}}} {
		f.Step(r.At, map[string]Reading{"a": r})
	}
	if got := f.growth["a"][0]; math.Abs(got-.02) > 1e-12 {
		t.Errorf("growth efficiency %g, want 0.02", got)
	}
}

// A job that used nothing and gained nothing has not been measured; one that used nothing and gained counts with
// the least usage.
func TestFlowConWithoutUsage(t *testing.T) {
	for value, want := range map[float64][]float64{1: nil, .9: {.01 / 1e-6}} {
		f := NewFlowCon(0.05, 2, 10, 1)
		f.Step(0, map[string]Reading{"a": {0, 1, []float64{1}}})
		f.Step(10, map[string]Reading{"a": {10, value, []float64{0}}})
		if got := f.growth["a"]; !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a/b-1) < 1e-9 }) {
			t.Errorf("value %g: growth efficiency %v, want %v", value, got, want)
		}
	}
}

// Without BoundAll, the listing's own reading, a growing container has its ratio even below the lower bound.
func TestFlowConLiteralBound(t *testing.T) {
	for all, want := range map[bool]float64{true: .25, false: .1} {
		f := NewFlowCon(0.005, 2, 10, 1)
		f.BoundAll = all
		a, b := &gauge{0, 1}, &gauge{0, 1}
		for _, now := range []float64{0, 10} {
			f.Step(now, map[string]Reading{"a": a.next(now, .01), "b": b.next(now, .09)})
		}
		if got := f.Limits["a"][0]; math.Abs(got-want) > 1e-9 {
			t.Errorf("bound for all %t: limit %g, want %g", all, got, want)
		}
	}
}

// Reference: [Zheng] Algorithm 5: the two worked examples. Ten containers on four workers, of which one is idle,
// marked at 10, 20, ... 100 in the order of letters: j and g move to it. Two workers: the container that converged
// last moves. Since 9 and 100 are the latest marks, d_c = now - t_c is smallest there.
func TestPaperRebalance(t *testing.T) {
	var ten []Container
	for i, id := range "abcdefghij" {
		worker := []int{1, 1, 1, 2, 2, 2, 2, 3, 3, 3}[i]
		ten = append(ten, Container{ID: string(id), Worker: worker, Since: int64(10 * (i + 1))})
	}
	for _, test := range []struct {
		name       string
		workers    int
		containers []Container
		want       map[string]int
	}{
		{"idle worker", 4, ten, map[string]int{"j": 0, "g": 0}},
		{"two workers", 2, []Container{{"c3", 1, 5, false}, {"c4", 1, 9, false}}, map[string]int{"c4": 0}},
		// bf = 3, and the first worker has one: a worker that is not idle is filled to bf - 1 only.
		{"nobody idle", 2, []Container{{"a", 0, 1, false}, {"b", 1, 2, false}, {"c", 1, 3, false}, {"d", 1, 4, false}, {"e", 1, 5, false}, {"f", 1, 6, false}},
			map[string]int{"f": 0}},
		{"moved before", 2, []Container{{"c3", 1, 5, false}, {"c4", 1, 9, true}}, map[string]int{"c3": 0}},
		{"same mark", 2, []Container{{"b", 1, 5, false}, {"a", 1, 5, false}}, map[string]int{"a": 0}},
		{"fewer than workers", 3, []Container{{"a", 0, 1, false}, {"b", 0, 2, false}}, map[string]int{}},
		{"only one to take", 2, []Container{{"a", 0, 1, false}}, map[string]int{}},
	} {
		moved := map[string]int{}
		for i, c := range Rebalance(test.workers, test.containers) {
			if c.Worker != test.containers[i].Worker {
				moved[c.ID] = c.Worker
			}
		}
		if !maps.Equal(moved, test.want) {
			t.Errorf("%s: moves %v, want %v", test.name, moved, test.want)
		}
	}
}

// Of 31 values all remain, of 32 the means of pairs, and a 33rd fills none.
func TestThinned(t *testing.T) {
	var values []float64
	for n := 1; n <= 65; n++ {
		values = append(values, float64(n))
		averages, size := Thinned(values)
		if want := map[bool]int{true: 1, false: 2}[n < 32]; n < 64 && (size != want || len(averages) != n/want) || n >= 64 && (size != 4 || len(averages) != 16) {
			t.Errorf("%d values: %d averages of %d", n, len(averages), size)
		}
		if want := float64(size+1) / 2; averages[0] != want {
			t.Errorf("%d values: the first average is %g, want %g", n, averages[0], want)
		}
	}
}

// Reference: an exponential that is one of the shapes is its own estimate: E = e^(-w/0.25) over one unit of work stands
// at e^-4, and the next unit brings e^-4 - e^-8.
func TestLookAtAnExponential(t *testing.T) {
	h := History{Now: 1, Start: 1, Size: 1, Sign: 1}
	for i := range 31 {
		x := float64(i) / 30
		h.Work, h.Value = append(h.Work, x), append(h.Value, math.Exp(-4*x))
	}
	o := Look(h)
	if math.Abs(o.Level-math.Exp(-4)) > 0.01 || math.Abs(o.Improvement-(1-math.Exp(-4))) > 0.01 || !o.Known {
		t.Errorf("level %g, improvement %g, known %t", o.Level, o.Improvement, o.Known)
	}
	// The line through the later part has the slope of its middle, which is more than that of the end.
	if o.Ahead < math.Exp(-4) || o.Ahead > 0.12 || math.Abs(o.Slope-o.Ahead) > 0.02 || !(o.Doubt > 0 && o.Doubt < o.Slope) {
		t.Errorf("ahead %g, slope %g, doubt %g", o.Ahead, o.Slope, o.Doubt)
	}
	// At 7/8 of the run the curve falls by 4 e^-3.5 for each unit of work.
	if want := 4 * math.Exp(-3.5) * 0.875 * math.Ln2; math.Abs(o.Rest-want) > 0.02 {
		t.Errorf("rest %g, want about %g", o.Rest, want)
	}
	// What is better the other way is worse, and mirrored values are as good.
	h.Sign = -1
	if worse := Look(h); worse.Improvement != -o.Improvement || worse.Ahead != 0 {
		t.Errorf("the wrong way: %+v", worse)
	}
	h.Start = -1
	for i := range h.Value {
		h.Value[i] = -h.Value[i]
	}
	if mirrored := Look(h); math.Abs(mirrored.Ahead-o.Ahead) > 1e-12 {
		t.Errorf("mirrored %g, want %g", mirrored.Ahead, o.Ahead)
	}
	// Nobody says which way: the side to which the values have gone.
	h.Sign = 0
	if free := Look(h); math.Abs(free.Ahead-o.Ahead) > 1e-12 {
		t.Errorf("either way %g, want %g", free.Ahead, o.Ahead)
	}
}
