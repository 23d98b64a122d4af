// This file tests lists of patterns by hand: what is too much to list, and residuals that nothing fits.

package pattern

import (
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// pairsAndThrees is a problem of containers of two and of three units, up to four of each, on one server of seven.
func pairsAndThrees() *problem.Problem {
	return problem.New(instancetest.Finish(&solver.Instance{
		Capacity: []apportion.Resources{{7}}, LossBudget: 9,
		Apps: []solver.App{{Demand: apportion.Resources{2}, Max: 1}, {Demand: apportion.Resources{3}, Max: 4}},
	}))
}

// listed returns the patterns of a class, in the order of the list.
func listed(ps *Lists, class int32) [][]int32 {
	var all [][]int32
	for q := range ps.Classes[class].Size {
		all = append(all, slices.Clone(ps.Pattern(class, q)))
	}
	return all
}

// Seven units hold three pairs, two pairs and a three, or two threes; one that may have a single pair has fewer ways. What holds
// the same is one class, and a negative residual is none.
func TestListsByHand(t *testing.T) {
	for name, c := range map[string]struct {
		capped bool
		left   int64
		want   [][]int32
	}{
		"all":             {false, 7, [][]int32{{3, 0}, {2, 1}, {0, 2}}},
		"one pair":        {true, 7, [][]int32{{1, 1}, {0, 2}}},
		"exactly a three": {false, 3, [][]int32{{1, 0}, {0, 1}}},
		"too little":      {false, 1, [][]int32{{0, 0}}},
		"nothing":         {false, 0, [][]int32{{0, 0}}},
	} {
		ps := NewLists(pairsAndThrees(), MostPatterns)
		if c.capped {
			ps = ps.Capped()
		}
		got := listed(ps, ps.classOf([]int64{c.left}))
		slices.SortFunc(got, func(a, b []int32) int { return slices.Compare(b, a) })
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%s: patterns %v of %d units, want %v", name, got, c.left, c.want)
		}
		if ps.Total != len(c.want) {
			t.Errorf("%s: %d patterns in all, want %d", name, ps.Total, len(c.want))
		}
		if ps.classOf([]int64{-1}) != NoClass {
			t.Errorf("%s: a negative residual has a class", name)
		}
	}
	ps := NewLists(pairsAndThrees(), MostPatterns)
	if ps.classOf([]int64{0}) != ps.classOf([]int64{1}) || ps.classOf([]int64{6}) == ps.classOf([]int64{7}) {
		t.Error("residuals that hold the same are two classes, or unlike ones are one")
	}
	if len(ps.Classes) != 3 {
		t.Errorf("%d classes of 0, 1, 6 and 7 units, want 3", len(ps.Classes))
	}
}

// The best pattern is that of most worth, and what is worth nothing counts for nothing.
func TestBestByHand(t *testing.T) {
	ps := NewLists(pairsAndThrees(), MostPatterns)
	class := ps.classOf([]int64{7})
	for _, c := range []struct {
		worth []float64
		want  []int32
		value float64
	}{{[]float64{2, 3}, []int32{2, 1}, 7}, {[]float64{3, 1}, []int32{3, 0}, 9}, {[]float64{0, 1}, []int32{0, 2}, 2}, {[]float64{1, 5}, []int32{0, 2}, 10}} {
		at, value := ps.Best(class, c.worth)
		if got := ps.Pattern(class, at); !slices.Equal(got, c.want) || value != c.value {
			t.Errorf("at %v the best is %v, worth %g, want %v, worth %g", c.worth, got, value, c.want, c.value)
		}
	}
}
