package embedded

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/rapidtest"
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

// Where a search calls itself settled, no polish finds a solution that is preferred.
func TestPropSettled(t *testing.T) {
	settled, open, adjusted := 0, 0, 0
	rapidtest.Until(t, "a case is missing", func() bool { return settled > 0 && open > 0 && adjusted > 0 }, func(t *rapid.T) {
		inst, fixed := instancetest.Tiny(draws(t)), rapid.Bool().Draw(t, "one number")
		if fixed {
			for i := range inst.Apps {
				app := &inst.Apps[i]
				if n := solver.Containers(app.Previous); n > 0 {
					app.Max = n
				}
				app.Min = app.Max
			}
		}
		p := problem.New(inst)
		if p.Impossible() {
			return
		}
		r := newRun(p, &Options{Effort: Quick}, tuning.Standard())
		// From where a hot search has come to, so that some are adjusted.
		r.a.Construct(t.Context())
		hot := r.tune.Hot * r.a.Unit()
		r.a.Run(t.Context(), rapid.Int64Range(0, 30).Draw(t, "moves"), hot, math.Inf(1))
		r.a.Best = problem.Incumbent{}
		r.a.Run(t.Context(), 20, hot, math.Inf(1))
		before := r.a.Best
		if !before.Found {
			return
		}
		was := r.settled()
		switch {
		case was:
			settled++
		case fixed && before.Freed > 0:
			adjusted++
		default:
			open++
		}
		r.a.Polish(t.Context(), 2000)
		if after := r.a.Best; was && (after.Objective != before.Objective || after.Loss != before.Loss || after.Freed != before.Freed) {
			t.Fatalf("from %g, %g, %d to %g, %g, %d", before.Objective, before.Loss, before.Freed, after.Objective, after.Loss, after.Freed)
		}
	})
}
