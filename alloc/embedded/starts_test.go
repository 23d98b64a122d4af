package embedded

import (
	"context"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// Where starts agree on the best utilization the others are saved.
func TestStartsAgree(t *testing.T) {
	r := newRun(problem.New(alloctest.Mixed(3, 6, 10, true)), &Options{Effort: 2000}, tuning.Standard())
	r.a.Construct(context.Background())
	r.root = newRoot(t.Context(), r.p, rootOptions{r.tune, 0, false, 1, nil})
	starts := r.newStarts()
	for starts.next(t.Context()) {
	}
	if r.a.Best.Objective >= r.goal() {
		t.Fatal("the bound is attained: nothing about starts is tested")
	}
	t.Logf("%d of %d starts of %d work", starts.n, starts.count, starts.work)
	if starts.n > starts.count/2 {
		t.Errorf("%d of %d starts made", starts.n, starts.count)
	}
	if r.a.Restart(context.Background()); r.a.Reached >= r.a.Best.Objective {
		t.Error("a start has reached what the one before did")
	}
}

// The warm-up ends with the first solution, and does nothing where that is worth all there is.
func TestWarmUpEnds(t *testing.T) {
	full := instancetest.Finish(&solver.Instance{
		Capacity: []apportion.Resources{{4}, {4}}, LossBudget: 9,
		Apps: []solver.App{{Demand: apportion.Resources{1}, Min: 1, Max: 8, Share: 1}},
	})
	for name, c := range map[string]struct {
		inst *solver.Instance
		some bool
	}{"full at once": {full, false}, "room for more": {alloctest.Mixed(1, 8, 10, false), true}} {
		r := newRun(problem.New(c.inst), &Options{Effort: Default}, tuning.Standard())
		r.a.Construct(t.Context())
		if !r.a.Best.Found {
			t.Fatalf("%s: no solution at first", name)
		}
		before := r.a.Work
		r.warmUp(t.Context(), r.p.Inst.Cap())
		work := r.a.Work - before
		least, most := int64(0), int64(0)
		if c.some {
			least = int64(r.tune.WarmUp * r.work())
			most = least + least/10 // one round of it, and what the last move took beyond
		}
		if work < least || work > most {
			t.Errorf("%s: %d of work, want %d to %d", name, work, least, most)
		}
		if r.a.Hope != r.tune.Hope {
			t.Errorf("%s: no hope after the warm-up", name)
		}
	}
}
