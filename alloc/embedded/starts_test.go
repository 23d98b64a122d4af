package embedded

import (
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// Where starts agree on the best utilization the others are saved.
func TestStartsAgree(t *testing.T) {
	r := newRun(problem.New(alloctest.Mixed(3, 6, 10, true)), &Options{Effort: 2000}, tuning.Standard())
	r.a.Construct()
	r.root = newRoot(t.Context(), r.p, rootOptions{r.tune, 0, false, 1})
	starts := r.newStarts()
	for starts.next(t.Context()) {
	}
	if r.a.Best.Objective >= r.goal() {
		t.Fatal("the bound is attained: nothing about starts is tested")
	}
	t.Logf("%d of %d starts of %d moves", starts.n, starts.count, starts.moves)
	if starts.n > starts.count/2 {
		t.Errorf("%d of %d starts made", starts.n, starts.count)
	}
	if r.a.Restart(); r.a.Reached >= r.a.Best.Objective {
		t.Error("a start has reached what the one before did")
	}
}
