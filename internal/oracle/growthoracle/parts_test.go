// This file tests the parts of the twins of growth on numbers worked out by hand.

package growthoracle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The mean, sums of products of distances, and a line: 1, 3, 8 over 0, 1, 2 has the slope 3.5 and leaves 1.5.
func TestRegress(t *testing.T) {
	x, v := []float64{0, 1, 2}, []float64{1, 3, 8}
	if got := mean(v); got != 4 {
		t.Errorf("mean %g", got)
	}
	if mean(nil) != 0 {
		t.Error("the mean of nothing")
	}
	if got := product(x, v); got != 7 { // (-1)(-3) + 0 + 1 x 4
		t.Errorf("product %g", got)
	}
	slope, rest := regress(x, v)
	if math.Abs(slope-3.5) > 1e-12 || math.Abs(rest-1.5) > 1e-12 { // 9 + 1 + 16 - 3.5 x 7
		t.Errorf("slope %g, rest %g", slope, rest)
	}
	if slope, rest = regress(x, []float64{5, 3, 1}); slope != -2 || rest > 1e-12 {
		t.Errorf("on a line: slope %g, rest %g", slope, rest)
	}
}

// The tail of a run begins at a part of it, but has three points at least.
func TestTail(t *testing.T) {
	x := []float64{0.1, 0.3, 0.5, 0.7, 0.9}
	for from, want := range map[float64]int{0: 5, 0.1: 5, 0.2: 4, 0.5: 3, 0.6: 3, 2: 3} {
		if xs, vs := tail(x, x, from); len(xs) != want || len(vs) != want || xs[want-1] != 0.9 {
			t.Errorf("from %g: %v", from, xs)
		}
	}
}

// Neighbours that stray alike widen: (1 + r)/(1 - r), with r in [0, 0.9].
func TestWidening(t *testing.T) {
	for _, test := range []struct {
		strays []float64
		want   float64
	}{
		{[]float64{1, -1, 1, -1}, 1},             // a negative correlation counts as none
		{[]float64{0, 0, 0}, 1},                  // no strays at all
		{[]float64{1, 1, 0, 0}, 3},               // r = 1/2
		{[]float64{2, 1}, (1 + 0.4) / (1 - 0.4)}, // r = 2/5
	} {
		if got := widening(test.strays); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", test.strays, got, test.want)
		}
	}
	long := make([]float64, 100)
	for i := range long {
		long[i] = 1
	}
	if got := widening(long); math.Abs(got-19) > 1e-9 { // r = 0.99 counts as 0.9
		t.Errorf("100 alike: %g, want 19", got)
	}
}

// Every shape falls from 1, as do the estimates: sixteen of them, of which the last nine weigh half.
func TestCurves(t *testing.T) {
	all, weights := curves()
	if len(all) != 16 || len(weights) != 16 || weights[6] != 1 || weights[7] != 0.5 {
		t.Fatalf("%d shapes, weights %v", len(all), weights)
	}
	for i, curve := range all {
		if curve(0) != 1 || !(curve(0.5) < 1) || !(curve(1) < curve(0.5)) || !(curve(1) > 0) {
			t.Errorf("shape %d: %g, %g, %g", i, curve(0), curve(0.5), curve(1))
		}
	}
	if got := all[1](0.7); math.Abs(got-1/math.E) > 1e-12 {
		t.Errorf("the second shape at its scale: %g", got)
	}
	if got := all[11](0.03); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("a power of 1 at its scale: %g", got)
	}
}

// What does not depend on the unit of work or of values: twice as much work and three times the values give three times the
// improvement and half of the slope times three; a constant on all values changes nothing but the level.
func TestLookUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 21))
	for n := range 50 {
		h := History{Now: 1, Start: 1, Size: 1, Sign: 1}
		for i := range 20 {
			x := (float64(i) + 0.5) / 20
			h.Work, h.Value = append(h.Work, x), append(h.Value, 0.2+0.8*math.Exp(-x/0.3)+0.05*rng.Float64())
		}
		want := Look(h)
		other := History{Now: 2, Start: 3*1 + 10, Size: 1, Sign: 1}
		for i := range h.Work {
			other.Work, other.Value = append(other.Work, 2*h.Work[i]), append(other.Value, 3*h.Value[i]+10)
		}
		got := Look(other)
		for _, pair := range [][2]float64{
			{got.Level, 3*want.Level + 10}, {got.Improvement, 3 * want.Improvement}, {got.Slope, 1.5 * want.Slope}, {got.Doubt, 1.5 * want.Doubt},
			{got.Ahead, want.Ahead}, {got.Rest, want.Rest},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*(1+math.Abs(pair[1])) {
				t.Fatalf("%d: %+v in other units, %+v", n, got, want)
			}
		}
		if got.Known != want.Known || !want.Known || !(want.Ahead < 1) || want.Rest > 1 {
			t.Fatalf("%d: %+v", n, want)
		}
	}
}

// Noise around a level says nothing: there is nothing ahead worth knowing.
func TestLookAtNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 22))
	known := 0
	for range 200 {
		h := History{Now: 1, Start: 1, Size: 1}
		for i := range 24 {
			h.Work, h.Value = append(h.Work, float64(i)/24), append(h.Value, 1+rng.NormFloat64()*0.1)
		}
		if Look(h).Known {
			known++
		}
	}
	if known > 60 {
		t.Errorf("of 200 noises %d are known to go somewhere", known)
	}
}

// Containers are moved once at most, none is lost, and afterwards nobody can take: whoever lacks one finds no worker with two
// more that may still give.
func TestPropRebalance(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 23))
	moves := 0
	for n := range 500 {
		workers := 1 + rng.IntN(5)
		var before []Container
		for i := range rng.IntN(15) {
			before = append(before, Container{ID: string(rune('a' + i)), Worker: rng.IntN(workers), Since: rng.Int64N(5), Moved: rng.IntN(6) == 0})
		}
		kept := slices.Clone(before)
		after := Rebalance(workers, before)
		if !slices.Equal(before, kept) || len(after) != len(before) {
			t.Fatalf("%d: the list that was given became %v", n, before)
		}
		size := make([]int, workers)
		for i, c := range after {
			size[c.Worker]++
			if c.ID != before[i].ID || c.Since != before[i].Since || c.Worker != before[i].Worker && (before[i].Moved || !c.Moved) {
				t.Fatalf("%d: %+v became %+v", n, before[i], c)
			}
			if c.Worker != before[i].Worker {
				moves++
			}
		}
		goal := len(after)/workers - 1
		for w := range workers {
			for _, c := range after {
				if size[w] < goal && size[c.Worker] > size[w]+1 && !c.Moved && slices.Min(size) > 0 {
					t.Fatalf("%d: worker %d has %d of %d, and %s of %v could go there", n, w, size[w], goal, c.ID, size)
				}
			}
		}
	}
	if moves == 0 {
		t.Error("nothing was ever moved")
	}
}

// Of those who may move it is the last one marked, whatever its name; the name decides between equal marks alone.
func TestRebalanceOrder(t *testing.T) {
	for _, test := range []struct {
		containers []Container
		want       string
	}{
		{[]Container{{"b", 1, 9, false}, {"a", 1, 5, false}}, "b"},
		{[]Container{{"a", 1, 5, false}, {"b", 1, 9, false}}, "b"},
		{[]Container{{"b", 1, 5, false}, {"a", 1, 5, false}, {"c", 1, 4, false}}, "a"},
		{[]Container{{"z", 1, 7, true}, {"b", 1, 5, false}, {"a", 1, 6, false}}, "a"},
	} {
		moved := ""
		for i, c := range Rebalance(2, test.containers) {
			if c.Worker != test.containers[i].Worker {
				moved += c.ID
			}
		}
		if moved != test.want {
			t.Errorf("of %v %q has moved, want %s", test.containers, moved, test.want)
		}
	}
}
