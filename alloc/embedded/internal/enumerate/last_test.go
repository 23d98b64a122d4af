// This file tests what the last row leaves out.

package enumerate

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// One job alone may be spread over equal servers in hundreds of thousands of ways, of which hardly any is new.
func TestLastRowIsShort(t *testing.T) {
	inst := &solver.Instance{Capacity: slices.Repeat([]apportion.Resources{{8}}, 16), LossBudget: 10}
	inst.Apps = []solver.App{{Demand: apportion.Resources{1}, Max: 40}}
	e, done := plain(context.Background(), instancetest.Finish(inst), 60_000)
	want := make(solver.Counts, 1)
	for j := 11; j < 16; j++ {
		want[0] = append(want[0], apportion.Placement{Server: j, Count: 8})
	}
	if diff := cmp.Diff(want, e.Counts()); diff != "" || !done {
		t.Errorf("done %v after %d nodes (-want +got):\n%s", done, e.Nodes, diff)
	}
}

// With a limit for each server a row does not count by its number alone: one that breaks the limit does not stand for others.
func TestLastRowWithinLimits(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{4}, {3}, {1}}, LossBudget: 10}
	inst.Apps = []solver.App{{Demand: apportion.Resources{1}, Max: 5, PerServer: 2}}
	e, done := plain(context.Background(), instancetest.Finish(inst), 1<<20)
	want := solver.Counts{{{Server: 0, Count: 2}, {Server: 1, Count: 2}, {Server: 2, Count: 1}}}
	if diff := cmp.Diff(want, e.Counts()); diff != "" || !done {
		t.Errorf("done %v (-want +got):\n%s", done, diff)
	}
}
