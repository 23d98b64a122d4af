package embedded

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// A server shrank, and the one that stays on it in the first state takes the place of two others,
// more than the budget allows: the search alone frees the right one.
func TestSearchUnblocks(t *testing.T) {
	app := func(cpu int64) solver.App {
		return solver.App{
			Demand: []int64{cpu}, Min: 1, Max: 1, Running: true, Cost: 1, Share: 0.2,
			Previous: []apportion.Placement{{Server: 0, Count: 1}},
		}
	}
	inst := instancetest.Finish(&solver.Instance{
		Capacity: []apportion.Resources{{4}, {4}}, Apps: []solver.App{app(4), app(2), app(2)},
		LossBudget: 3, AdjustBudget: 1,
	})
	p := problem.New(inst)
	r := newRun(p, &Options{Effort: Quick, Seed: 0}, tuning.Standard())
	if r.a.S.Freed != 2 || r.a.Feasible() {
		t.Fatalf("%d freed at first, want 2, no solution", r.a.S.Freed)
	}
	r.search(context.Background())
	want := solver.Counts{{{Server: 1, Count: 1}}, {{Server: 0, Count: 1}}, {{Server: 0, Count: 1}}}
	if diff := cmp.Diff(want, r.solution().Counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
