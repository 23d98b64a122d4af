// This file tests each part of the search on slots that can be counted by hand: hulls, the relaxation, rounding, misses, and
// what a job is told that does not pay.

package schedule

import (
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// convexSlots are the tables of two slots: the first does one unit for 1, two for 4 and three for 5; the second costs 2 each.
// The hull of the first leaves its middle out.
var convexSlots = [][]float64{{0, 1, 4, 5}, {0, 2, 4}}

// searchOf returns a search that has bounded all completions of a job of so much work on tables.
func searchOf(tables [][]float64, work int64, values ...float64) (*Search, *Problem) {
	b := &Search{Limit: DefaultMaxCells}
	p := &Problem{Work: work, Shortest: 1, Values: values, Servers: ratio{1, 1}}
	b.collect(p, &listed{tables: tables})
	return b, p
}

// What one more, or one less, costs in a slot, and that there is no room below nothing and beyond the table.
func TestChange(t *testing.T) {
	b, p := searchOf(convexSlots, 3, 100, 100)
	x := &rounding{workers: []int64{1, 2}}
	for _, test := range []struct {
		slot, n int
		want    float64
	}{{0, 1, 3}, {0, 2, 4}, {0, 3, inf}, {0, -1, -1}, {0, -2, inf}, {1, 1, inf}, {1, -2, -4}, {1, 0, 0}} {
		must.Equal(t, x.change(b.prefix(p, 1), test.slot, test.n), test.want, test.n, "more in slot", test.slot)
	}
}

// A tie that is too wide may be taken as a whole where the excess comes out of another slot cheaply: three units in a slot where
// two cost almost as much, and one less elsewhere.
func TestOverfill(t *testing.T) {
	b, p := searchOf([][]float64{{0, 3, 6, 6.5}, {0, 2, 5}}, 4, 100, 100)
	prefix := b.prefix(p, 1)
	x := &rounding{workers: []int64{0, 2}, open: []tie{{0, 3}}}
	if !x.finish(prefix, 2) || !slices.Equal(x.workers, []int64{3, 1}) { // 6.5 + 2 instead of 6 + 5
		t.Errorf("%v", x.workers)
	}
	x = &rounding{workers: []int64{0, 2}}
	if !x.finish(prefix, 2) || !slices.Equal(x.workers, []int64{2, 2}) {
		t.Errorf("without a tie: %v", x.workers)
	}
	x = &rounding{workers: []int64{3, 2}}
	if x.finish(prefix, 1) {
		t.Errorf("beyond all room: %v", x.workers)
	}
}

// The closest miss: the completion of which what it is worth comes nearest to what it costs, by what is proven, and no nearer
// than the budget; a job that no table does is told of its earliest completion.
func TestMiss(t *testing.T) {
	for _, test := range []struct {
		name   string
		bounds []bound
		values []float64
		floor  float64
		want   Answer
	}{
		{"the last is closest", []bound{{inf, 0, inf}, {9, 0, 9.5}, {7, 0, 7.5}}, []float64{10, 8, 7}, 0, Answer{Status: TooDear, Last: 2, Value: 7, Cost: 7.5}},
		{"by what is proven", []bound{{9, 0, 10}, {5, 0, 9}}, []float64{10, 8}, 0, Answer{Status: TooDear, Last: 0, Value: 10, Cost: 10}},
		{"no dearer than the budget", []bound{{50, 0, 50}}, []float64{10}, 0, Answer{Status: TooDear, Last: 0, Value: 10, Cost: 10}},
		{"the first that was not bounded", []bound{{50, 0, 50}}, []float64{10, 4}, 3.5, Answer{Status: TooDear, Last: 1, Value: 4, Cost: 3.5}},
		{"no room at all", []bound{{inf, 0, inf}, {inf, 0, inf}}, []float64{10, 9}, 0, Answer{Status: Unreached, Last: 0, Value: 10, Cost: 10}},
		{"room in the second only", []bound{{inf, 0, inf}, {9, 0, 9}}, []float64{10, 8}, 0, Answer{Status: TooDear, Last: 1, Value: 8, Cost: 9}},
		{"of equals the first", []bound{{11, 0, 11}, {10, 0, 10}}, []float64{10, 9}, 0, Answer{Status: TooDear, Last: 0, Value: 10, Cost: 10}},
	} {
		b := &Search{bounds: test.bounds}
		got := b.miss(&Problem{Work: 1, Shortest: 1, Values: test.values, Floor: test.floor})
		if got.Status != test.want.Status || got.Last != test.want.Last || got.Value != test.want.Value || got.Cost != test.want.Cost {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// Both methods of an answer on one job: worth more than it costs, as much as it costs, less, and without room.
func TestFindByHand(t *testing.T) {
	for _, test := range []struct {
		name   string
		work   int64
		values []float64
		status Status
		last   int
		cost   float64
	}{
		{"one unit, at once", 1, []float64{10, 10}, Best, 0, 1},
		{"two units: later is cheaper, and not worth less", 2, []float64{10, 10}, Best, 1, 3},
		{"two units: later is worth less by more", 2, []float64{10, 8.5}, Best, 0, 4},
		{"later is worth less by as much: at once", 2, []float64{10, 9}, Best, 0, 4},
		{"worth just what it costs", 2, []float64{4, 3}, TooDear, 0, 0},
		{"worth less", 5, []float64{8, 8}, TooDear, 1, 0},
		{"no room", 6, []float64{100, 100}, Unreached, 0, 0},
	} {
		for _, plain := range []bool{false, true} {
			b := &Search{Plain: plain, Limit: DefaultMaxCells}
			shortest := 1
			if test.work > 3 {
				shortest = 2
			}
			got, err := b.Find(&Problem{Work: test.work, Shortest: shortest, Values: test.values, Servers: ratio{1, 1}}, &listed{tables: convexSlots})
			if err != nil || got.Status != test.status {
				t.Errorf("%s, plain %t: %+v, %v", test.name, plain, got, err)
				continue
			}
			if got.Status != Best {
				continue
			}
			cost := 0.0
			for s, y := range got.Units {
				cost += convexSlots[s][y]
			}
			if got.Last != test.last || math.Abs(cost-test.cost) > 1e-12 || got.Value != test.values[test.last] {
				t.Errorf("%s, plain %t: %+v for %g, want completion in slot %d for %g", test.name, plain, got, cost, test.last, test.cost)
			}
		}
	}
}

// Storage that is large enough is used again, with what is in it; else there is new one.
func TestGrown(t *testing.T) {
	s := make([]int, 2, 8)
	s[0], s[1] = 3, 4
	if got := grown(s, 5); len(got) != 5 || got[1] != 4 || &got[0] != &s[0] {
		t.Errorf("%v", got)
	}
	if got := grown(s, 1); len(got) != 1 || &got[0] != &s[0] {
		t.Errorf("%v", got)
	}
	if got := grown(s, 9); len(got) != 9 || got[0] != 0 {
		t.Errorf("%v", got)
	}
	if got := filled([]float64{1, 2, 3}, 2, inf); len(got) != 2 || got[0] != inf || got[1] != inf {
		t.Errorf("%v", got)
	}
}
