package embedded

import (
	"context"
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
	settled := 0
	rapidtest.Until(t, "nothing is settled", func() bool { return settled > 0 }, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		if rapid.Bool().Draw(t, "one number") {
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
		r.a.Construct(t.Context())
		before := r.a.Best
		if !before.Found || len(inst.Apps) == 0 {
			return
		}
		was := r.settled()
		if was {
			settled++
		}
		r.a.Polish(t.Context(), 2000)
		if after := r.a.Best; was && (after.Objective != before.Objective || after.Loss != before.Loss || after.Freed != before.Freed) {
			t.Fatalf("from %g, %g, %d to %g, %g, %d", before.Objective, before.Loss, before.Freed, after.Objective, after.Loss, after.Freed)
		}
	})
}

// What may stay and does not is not settled, nor is what may have another number.
func TestSettledNeedsAll(t *testing.T) {
	for _, c := range []struct {
		most    int64
		freed   bool
		settled bool
	}{{1, false, true}, {1, true, false}, {2, false, false}} {
		inst := instancetest.Finish(&solver.Instance{Capacity: []apportion.Resources{{4}, {4}}, LossBudget: 1, AdjustBudget: 1, Apps: []solver.App{
			{Demand: []int64{2}, Min: 1, Max: c.most, Running: true, Cost: 1, Share: 0.2, Previous: []apportion.Placement{{Server: 0, Count: 1}}}}})
		r := newRun(problem.New(inst), &Options{Effort: Quick}, tuning.Standard())
		r.a.Construct(t.Context())
		r.a.Best.Free[0] = c.freed
		if got := r.settled(); got != c.settled {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
