// This file tests the twin on the worked numbers of [Ghodsi11] and of Dorm's testbed, which were computed
// by hand or by another program.

package drforacle

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// unbounded is a Max that no cluster of these tests reaches.
const unbounded = 1 << 40

// claim returns one of weight 1 without bounds.
func claim(id string, demand ...int64) Claim {
	return Claim{ID: id, Demand: demand, Weight: 1, Max: unbounded}
}

// floats rounds rational counts for comparison with the printed digits.
func floats(counts []*big.Rat) []float64 {
	var out []float64
	for _, n := range counts {
		f, _ := n.Float64()
		out = append(out, f)
	}
	return out
}

// near compares counts with numbers of six digits.
func near(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
}

// Reference: [Ghodsi11] §4.1: 9 CPUs and 18 GB, A asks for <1, 4> and B for <3, 1>. Both get a dominant share
// of 2/3; with weights 1 and 2 they get 0.4 and 0.8. The zero demand is the extension by Parkes: B goes
// on when A's second kind is used up.
func TestPaperFill(t *testing.T) {
	example, zero := []int64{9, 18}, []int64{10, 4}
	double := claim("B", 3, 1)
	double.Weight = 2
	capped, floored := claim("A", 1, 1), claim("B", 1, 0)
	capped.Max, floored.Min = 2, 8
	greedy := claim("B", 1, 0)
	greedy.Min = 11
	for _, test := range []struct {
		name     string
		capacity []int64
		claims   []Claim
		want     []float64
		floors   bool
	}{
		{"example", example, []Claim{claim("A", 1, 4), claim("B", 3, 1)}, []float64{3, 2}, true},
		{"weights 1 and 2", example, []Claim{claim("A", 1, 4), double}, []float64{1.8, 2.4}, true},
		{"zero demand", zero, []Claim{claim("A", 1, 1), claim("B", 1, 0)}, []float64{20. / 7, 50. / 7}, true},
		{"maximum", zero, []Claim{capped, claim("B", 1, 0)}, []float64{2, 8}, true},
		{"minimum", zero, []Claim{claim("A", 1, 1), floored}, []float64{2, 8}, true},
		// Eleven do not fit ten: the minima are dropped, and the filling is that without them.
		{"minimum too large", zero, []Claim{claim("A", 1, 1), greedy}, []float64{20. / 7, 50. / 7}, false},
		// Who asks for what nobody has gets nothing, and holds up nobody.
		{"no such kind", []int64{10, 0}, []Claim{claim("A", 1, 1), claim("B", 1, 0)}, []float64{0, 10}, true},
	} {
		got, floors := Fill(test.capacity, test.claims)
		if !near(floats(got), test.want) || floors != test.floors {
			t.Errorf("%s: %v, floors %t, want %v, %t", test.name, floats(got), floors, test.want, test.floors)
		}
	}
}

// testbed are one application of each type of [Dorm] Table II.
var testbed = []Claim{
	{"LR", []int64{2, 0, 8}, 1, 1, 32}, {"MF", []int64{2, 0, 6}, 2, 1, 32}, {"CaffeNet", []int64{4, 0, 6}, 4, 1, 8},
	{"VGG-16", []int64{4, 1, 32}, 1, 1, 5}, {"GoogLeNet", []int64{6, 1, 16}, 1, 1, 5},
	{"AlexNet", []int64{6, 1, 16}, 2, 1, 5}, {"ResNet-50", []int64{4, 1, 32}, 4, 1, 5},
}

// Reference: [Dorm] Table II and §V-A: the theoretical shares on 240 CPUs, 5 GPUs and 2,560 GB.
func TestPaperTestbed(t *testing.T) {
	capacity := []int64{240, 5, 2560}
	bounded, _ := Fill(capacity, testbed)
	if want := []float64{32, 32, 8, 1, 1, 1, 2}; !near(floats(bounded), want) {
		t.Errorf("with bounds %v, want %v", floats(bounded), want)
	}
	free := slices.Clone(testbed)
	for i := range free {
		free[i].Min, free[i].Max = 0, unbounded
	}
	got, _ := Fill(capacity, free)
	want := []float64{15.446, 30.893, 30.893, .625, .625, 1.25, 2.5}
	for i, f := range floats(got) {
		if math.Abs(f-want[i]) > 1e-3 {
			t.Errorf("without bounds %s gets %g, want %g", free[i].ID, f, want[i])
		}
	}
}

// Reference: [Ghodsi11] Algorithm 1: whole containers of the same example, one by one. A third claim whose
// first container never fits ends the listing, and is passed over where filling goes on.
func TestPaperWhole(t *testing.T) {
	large := claim("C", 10, 1)
	small := claim("D", 1, 0)
	small.Max = 2
	for _, test := range []struct {
		name        string
		claims      []Claim
		stopAtFirst bool
		want        []int64
	}{
		{"example", []Claim{claim("A", 1, 4), claim("B", 3, 1)}, true, []int64{3, 2}},
		{"example, passed over", []Claim{claim("A", 1, 4), claim("B", 3, 1)}, false, []int64{3, 2}},
		// A and B come first in the order of IDs, so that each has one when C is refused.
		{"stop", []Claim{claim("A", 1, 4), claim("B", 3, 1), large}, true, []int64{1, 1, 0}},
		{"pass over", []Claim{claim("A", 1, 4), claim("B", 3, 1), large}, false, []int64{3, 2, 0}},
		// D has its two before A and B are full, and takes two CPUs of B's second container.
		{"maximum", []Claim{claim("A", 1, 4), claim("B", 3, 1), small}, false, []int64{4, 1, 2}},
	} {
		got, _ := Whole([]int64{9, 18}, test.claims, test.stopAtFirst)
		must.Same(t, got, test.want, test.name)
	}
}
