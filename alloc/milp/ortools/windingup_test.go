package ortools

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
)

// TestUntilLeft: an answer in time is passed on, a late one is left, counted and waited for; when too
// many have been left, the next call waits.
func TestUntilLeft(t *testing.T) {
	const soon, long = time.Millisecond, time.Minute
	must.Do(t, WaitWindingUp(context.Background()))
	failure := errors.New("failure")
	left := func() int { return -1 }
	got, err := untilLeft(context.Background(), soon, func() (int, error) { return 7, failure }, left)
	if got != 7 || !errors.Is(err, failure) {
		t.Errorf("without an end: %d, %v", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := untilLeft(ctx, long, func() (int, error) { return 7, nil }, left); got != 7 || err != nil {
		t.Errorf("within the wait: %d, %v", got, err)
	}

	release := make(chan struct{})
	stuck := func() (int, error) { <-release; return 7, nil }
	for range maxWindingUp {
		if got, err := untilLeft(ctx, soon, stuck, left); got != -1 || err != nil {
			t.Errorf("left: %d, %v", got, err)
		}
	}
	if WindingUp() != maxWindingUp {
		t.Errorf("%d are counted", WindingUp())
	}
	if err := WaitWindingUp(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting with an ended context: %v", err)
	}
	over := make(chan int)
	go func() {
		got, _ := untilLeft(ctx, soon, stuck, left)
		over <- got
	}()
	select {
	case got := <-over:
		t.Errorf("one too many was left: %d", got)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if got := <-over; got != 7 {
		t.Errorf("one that was not left: %d", got)
	}
	if err := WaitWindingUp(context.Background()); err != nil || WindingUp() != 0 {
		t.Errorf("%v, %d go on", err, WindingUp())
	}
}

// TestHighsFound: a caller that leaves gets copies of the best so far, and its log stays quiet then.
func TestHighsFound(t *testing.T) {
	b := milp.NewBuilder("")
	b.Maximize([]milp.Term{{Var: b.Integer(0, 9, ""), Coef: 1}}, 0)
	model := must.Have(b.Build())(t)
	var reports []milp.Progress
	f := newHighsFound(model, func(p milp.Progress) { reports = append(reports, p) })
	if first := f.leave(); first.values != nil || !math.IsInf(first.bound, -1) || !first.stopped() {
		t.Errorf("nothing found: %+v", first)
	}
	f = newHighsFound(model, f.log)
	point := []float64{4}
	f.setPoint(point)
	point[0] = 99
	f.setBound(-8)
	f.setBound(-9) // no better
	f.report(highsReport{nodes: 3, objective: -4, bound: -8})
	f.report(highsReport{nodes: -1, text: "line\n"})
	answer, err := f.leave().solution(ended(), model)
	if err != nil || answer.Status != milp.Cancelled || answer.Bound != 8 || len(answer.Values) != 1 || answer.Values[0] != 4 {
		t.Errorf("%+v, %v", answer, err)
	}
	f.report(highsReport{nodes: 4})
	if len(reports) != 2 || reports[0].Objective != 4 || reports[0].Bound != 8 || reports[0].Nodes != 3 || reports[1].Text != "line" {
		t.Errorf("reports %+v", reports)
	}
}

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
