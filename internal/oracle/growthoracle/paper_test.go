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

// A value that falls by 1 with each unit of work, from 99 after the first: of eight averages the last five remain, whose mean
// is 94. The improvement is 5, the slope -1, and the horizon 0.75 ln 2 times the work of 8. Nothing is doubtful
// about a straight line.
func TestProspect(t *testing.T) {
	line := func(n int) (work, value []float64) {
		for i := range n {
			work, value = append(work, float64(i+1)), append(value, float64(99-i))
		}
		return work, value
	}
	work, value := line(8)
	gain, doubt, ok := Prospect(work, value)
	if want := 6 * math.Ln2 / 5; math.Abs(gain-want) > 1e-12 || doubt > 1e-12 || !ok {
		t.Errorf("gain %g, doubt %g, %t, want %g", gain, doubt, ok, want)
	}
	// Of 32 values the averages are pairs, and the newer half of their work is 17.5 to 31.5: their mean value is 75.5.
	if gain, _, _ := Prospect(line(32)); math.Abs(gain-24*math.Ln2/23.5) > 1e-12 {
		t.Errorf("32 values: gain %g, want %g", gain, 24*math.Ln2/23.5)
	}
	// Four averages are kept although three of them have less than half of the work: 5, 6, 7 and 100.
	leap := []float64{1, 2, 3, 4, 5, 6, 7, 100}
	if gain, _, _ := Prospect(leap, []float64{99, 98, 97, 96, 95, 94, 93, 0}); math.Abs(gain-75*math.Ln2/28.5) > 1e-12 {
		t.Errorf("leap: gain %g, want %g", gain, 75*math.Ln2/28.5)
	}
	// Of 32 values and more, two are one average: an odd number has not completed the last one.
	for n, want := range map[int]bool{7: false, 8: true, 31: true, 32: true, 33: false, 34: true, 64: true, 65: false, 66: false, 68: true} {
		if _, _, ok := Prospect(line(n)); ok != want {
			t.Errorf("%d values: %t, want %t", n, ok, want)
		}
	}
	// One unit up in the third of five and one down in the fourth: residuals, and so doubt.
	value[5]++
	value[6]--
	if _, doubt, _ := Prospect(work, value); !(doubt > 0) {
		t.Errorf("no doubt about a bent line")
	}
	if gain, doubt, ok := Prospect(work, []float64{3, 3, 3, 3, 3, 3, 3, 3}); gain != 0 || doubt != 0 || !ok {
		t.Errorf("constant: gain %g, doubt %g, %t", gain, doubt, ok)
	}
	if _, _, ok := Prospect([]float64{1, 1, 1, 1, 1, 1, 1, 1}, value); ok {
		t.Error("no work has been done, and there is a prospect")
	}
}
