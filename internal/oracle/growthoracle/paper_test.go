// This file tests the twins on the worked numbers of [Zheng].

package growthoracle

import (
	"maps"
	"math"
	"testing"
)

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
