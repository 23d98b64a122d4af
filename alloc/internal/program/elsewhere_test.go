// This file tests containers whose class has no room for them: sums of a class may fit where whole containers do not.

package program

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Three containers of 2 fit the sum of two servers of 3, and only one of them each server: the third goes to another
// class that has room, and is dropped where none has.
func TestUnpoolElsewhere(t *testing.T) {
	for name, test := range map[string]struct {
		capacity []apportion.Resources
		want     []apportion.Placement
	}{
		"another class behind":    {[]apportion.Resources{{3}, {3}, {4}}, []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 1}, {Server: 2, Count: 1}}},
		"another class between":   {[]apportion.Resources{{3}, {1}, {3}, {2}}, []apportion.Placement{{Server: 0, Count: 1}, {Server: 2, Count: 1}, {Server: 3, Count: 1}}},
		"no other class has room": {[]apportion.Resources{{3}, {3}, {1}}, []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 1}}},
	} {
		total := apportion.Resources{0}
		for _, c := range test.capacity {
			total[0] += c[0]
		}
		inst := &solver.Instance{Capacity: test.capacity, Total: total, LossBudget: 1,
			Apps: []solver.App{{Demand: apportion.Resources{2}, Max: 3, Value: 2, Delta: 2, Share: 1}}}
		got := classesOf(inst).unpool(solver.Counts{{{Server: 0, Count: 3}}}) // three in the first class
		if diff := cmp.Diff(solver.Counts{test.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
