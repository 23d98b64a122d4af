// This file tests which ceilings are kept, and who is told apart by them.

package problem

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// Only rows that can be exceeded are kept; applications of one demand are one type if they are below the same rows.
func TestCeilings(t *testing.T) {
	inst := instancetest.Crowd(4, 6, 2, 1, 0)
	for i := range inst.Apps {
		inst.Apps[i].Max = 3
	}
	inst.Groups = []solver.Group{
		{Apps: []int{0, 1, 2}, Ceiling: apportion.Resources{2}},
		{Apps: []int{1, 2}, Ceiling: apportion.Resources{6}},       // their maxima
		{Apps: []int{0, 1, 2, 3}, Ceiling: apportion.Resources{8}}, // all there is
		{Apps: []int{2, 5}, Ceiling: apportion.Resources{5}},
		{Apps: []int{0, 3}, Ceiling: apportion.Resources{solver.NoLimit}},
	}
	p := New(inst)
	if diff := cmp.Diff([]Ceiling{{0, 0, 2}, {3, 0, 5}}, p.Ceilings); diff != "" || p.Plain {
		t.Errorf("plain %v, ceilings (-want +got):\n%s", p.Plain, diff)
	}
	var types, most []int64
	for i := range p.Apps {
		types, most = append(types, int64(p.Apps[i].Type)), append(most, p.Apps[i].Max)
	}
	// The first ceiling leaves each of the first three two containers.
	if diff := cmp.Diff([][]int64{{0, 0, 1, 2, 2, 3}, {2, 2, 2, 3, 3, 3}}, [][]int64{types, most}); diff != "" {
		t.Errorf("types and maxima (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		t    int32
		left []int64
		want int64
	}{{0, []int64{1, 9}, 1}, {1, []int64{4, 3}, 3}, {1, []int64{-1, 3}, 0}, {2, []int64{0, 0}, math.MaxInt64}} {
		if got := p.Below(c.t, c.left); got != c.want {
			t.Errorf("type %d below %v: %d, want %d", c.t, c.left, got, c.want)
		}
	}
}
