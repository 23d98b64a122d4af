// This file tests what is counted of runs: waits, pauses and steps that are done again.

package controller

import (
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// A job waits 90 s, runs to step 100, dies with step 40 saved, and runs again after 5 s: 60 steps are done again. What is told late of the
// run before counts for nothing.
func TestWorkLost(t *testing.T) {
	s := newStarts(nil)
	now := time.Unix(1_000_000, 0)
	after := func(d time.Duration, j checkpoint.Job) {
		now = now.Add(d)
		j.Name = "a"
		s.take(checkpoint.Record{Jobs: []checkpoint.Job{j}}, now)
	}
	reach := func(attempt, step int64) {
		s.reach(&driver.State{Jobs: []checkpoint.Job{{Name: "a", Phase: checkpoint.Running, Attempt: attempt}}, Progress: map[string]runner.Progress{"a": {Step: step}}})
	}
	saved := []checkpoint.Confirmed{{Number: 1, Step: 40}}
	after(0, checkpoint.Job{Phase: checkpoint.Idle})
	after(30*time.Second, checkpoint.Job{Phase: checkpoint.Idle})
	if since := s.since("a"); !since.Equal(time.Unix(1_000_000, 0)) {
		t.Errorf("it waits since %v", since)
	}
	after(60*time.Second, checkpoint.Job{Phase: checkpoint.Creating, Attempt: 1})
	after(time.Second, checkpoint.Job{Phase: checkpoint.Running, Attempt: 1})
	reach(1, 100)
	reach(1, 90)
	reach(2, 900)
	after(time.Minute, checkpoint.Job{Phase: checkpoint.Stopping, Attempt: 1, Checkpoints: saved})
	after(2*time.Second, checkpoint.Job{Phase: checkpoint.Creating, Attempt: 2, Stopped: 1, Checkpoints: saved, Reason: apportion.Reason{Constraint: "exited"}})
	reach(1, 120)
	after(3*time.Second, checkpoint.Job{Phase: checkpoint.Running, Attempt: 2, Stopped: 1, Checkpoints: saved})
	// The checkpoint from which it goes on now does not tell its step.
	reach(2, 70)
	after(time.Second, checkpoint.Job{Phase: checkpoint.Creating, Attempt: 3, Stopped: 2, Checkpoints: []checkpoint.Confirmed{{Number: 2, Step: -1}}})
	if s.lost["exited"] != 60 || s.lost[moved] != 0 || s.all != 3 || s.again["exited"] != 1 || s.again[moved] != 1 {
		t.Errorf("lost %v, %d starts, again %v", s.lost, s.all, s.again)
	}
	if w := s.waited[""]; w == nil || w.sum != 90 || w.counts[3] != 1 || s.paused.sum != 5 {
		t.Errorf("waited %+v, paused %+v", w, s.paused)
	}
}

// A value that is the end of a bucket is in it, and one above all is in the last.
func TestHistogram(t *testing.T) {
	h := histogram{ends: []float64{0, 1, 2}}
	for _, value := range []float64{0, 0.5, 1, 2, 3} {
		h.observe(value)
	}
	e := exposition{}
	e.histogram("x", &h, "queue", "q")
	want := "x_bucket{queue=\"q\",le=\"0\"} 1\nx_bucket{queue=\"q\",le=\"1\"} 3\nx_bucket{queue=\"q\",le=\"2\"} 4\nx_bucket{queue=\"q\",le=\"+Inf\"} 5\nx_sum{queue=\"q\"} 6.5\nx_count{queue=\"q\"} 5\n"
	must.Equal(t, e["x"].String(), want)
}
