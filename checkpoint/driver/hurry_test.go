// This file checks jobs that hang, jobs that die at once, and adjustments and drains with a deadline.

package driver_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/internal/must"
)

// A job that tells no new step for too long is resumed from its newest checkpoint; one that gets on slowly is not.
func TestStalledJob(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.options.StallAfter = time.Minute
		w.open()
		slow, stuck := w.runs("slow", "s1"), w.runs("stuck", "s2")
		w.getsOn("stuck", "s2")
		began := time.Now()
		w.must(checkpoint.Checkpoint{Job: "stuck"})
		w.await("stuck", func(j *driver.JobState) bool { return j.Job.Newest().Number != 0 })
		go func() {
			for range 8 {
				time.Sleep(40 * time.Second)
				w.servers["s1"].Work(1)
			}
		}()
		j := w.await("stuck", func(j *driver.JobState) bool { return j.Job.Attempt > stuck.Job.Attempt && on("s2")(j) })
		wantReason(t, j, checkpoint.Hung)
		if took := time.Since(began); took < time.Minute || took > 70*time.Second {
			t.Errorf("it was noticed after %v", took)
		}
		time.Sleep(5 * time.Minute)
		if j := w.await("slow", on("s1")); j.Job.Attempt != slow.Job.Attempt {
			t.Errorf("a slow job was ended: %+v", j.Job)
		}
		w.close()
	})
}

// getsOn has a job do its first step, some time after it was begun.
func (w *world) getsOn(job, server string) {
	time.Sleep(time.Second)
	w.servers[server].Work(1)
	w.await(job, func(j *driver.JobState) bool { return j.Progress.Step == 1 })
	time.Sleep(time.Second) // the loop has seen it, too
}

// Without any option a job that hangs is ended, one that tells no steps is not, and one that tells them rarely has the time that it takes.
func TestStallsByDefault(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		first := map[string]int64{}
		for job, server := range map[string]string{"stuck": "s1", "mute": "s2", "rare": "s3"} {
			first[job] = w.runs(job, server).Job.Attempt
		}
		time.Sleep(time.Second)
		w.servers["s1"].Work(1)
		for range 4 {
			time.Sleep(29 * time.Minute)
			w.servers["s3"].Work(1)
		}
		s := w.d.State()
		for job, ended := range map[string]bool{"stuck": true, "mute": false, "rare": false} {
			if j, _ := s.Job(job); (j.Job.Attempt != first[job]) != ended || ended && j.Job.Reason.Constraint != checkpoint.Hung {
				t.Errorf("%s: begun as attempt %d, now %+v", job, first[job], j.Job)
			}
		}
	})
}

// A job that answers no save is preempted without any deadline.
func TestHungSaveByDefault(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		release := make(chan struct{})
		defer close(release)
		w.servers["s1"].Meet = func(_ context.Context, o agent.Order) error {
			if o.Effect.Action == checkpoint.Save {
				<-release // whatever the context says
			}
			return nil
		}
		w.open()
		w.runs("deaf", "s1", "s1", "s1", "s1")
		began := time.Now()
		w.must(adjust("deaf", "s2"))
		j := w.await("deaf", on("s2"))
		if took := time.Since(began); took < checkpoint.DefaultSaveLimit || took > checkpoint.DefaultSaveLimit+5*time.Second {
			t.Errorf("it gave its server back after %v", took)
		}
		wantReason(t, j, checkpoint.Late)
		w.close()
	})
}

// A save that takes long is no sign of a job that hangs.
func TestSlowSaveIsNotStalled(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.options.StallAfter, w.machine.Timeouts.Save = time.Minute, time.Hour
		w.servers["s1"].Meet = func(_ context.Context, o agent.Order) error {
			if o.Effect.Action == checkpoint.Save {
				time.Sleep(5 * time.Minute)
			}
			return nil
		}
		w.open()
		first := w.runs("slow", "s1")
		w.getsOn("slow", "s1")
		w.must(checkpoint.Checkpoint{Job: "slow"})
		j := w.await("slow", func(j *driver.JobState) bool { return j.Job.Newest().Number != 0 })
		must.Equal(t, j.Job.Attempt, first.Job.Attempt, j.Job)
		w.close()
	})
}

// A job that hangs while it is saved again and again is ended all the same: no save of it succeeds.
func TestHungAmongSaves(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.options.StallAfter, w.options.SaveEvery, w.machine.Timeouts.Save = time.Minute, 10*time.Second, 25*time.Second
		w.machine.Retries = 1000
		w.servers["s1"].Meet = func(ctx context.Context, o agent.Order) error {
			if o.Effect.Action == checkpoint.Save {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		w.open()
		first := w.runs("stuck", "s1")
		w.getsOn("stuck", "s1")
		began := time.Now()
		j := w.await("stuck", func(j *driver.JobState) bool { return j.Job.Attempt > first.Job.Attempt && on("s1")(j) })
		wantReason(t, j, checkpoint.Hung)
		if took := time.Since(began); took < 58*time.Second || took > 70*time.Second {
			t.Errorf("it was noticed after %v", took)
		}
		w.close()
	})
}

// A job that answers no save is preempted when its deadline is over.
func TestDeadlineOfHungSave(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		release := make(chan struct{})
		defer close(release)
		w.servers["s1"].Meet = func(_ context.Context, o agent.Order) error {
			if o.Effect.Action == checkpoint.Save {
				<-release // whatever the context says
			}
			return nil
		}
		w.open()
		w.runs("deaf", "s1", "s2")
		began := time.Now()
		w.must(checkpoint.Drain{ID: "s1", Deadline: began.Add(30 * time.Second)})
		j := w.await("deaf", on("s2"))
		wantReason(t, j, checkpoint.Late)
		if took := time.Since(began); took < 30*time.Second || took > 32*time.Second {
			t.Errorf("it left the server after %v", took)
		}
		if s := w.d.State(); !slices.Equal(s.Draining, []string{"s1"}) {
			t.Errorf("%v are drained", s.Draining)
		}
		w.close()
	})
}

// A job that dies at once, whoever asks for it again and again, is tried less and less often.
func TestDeathsAtOnce(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.must(submit("dud"))
		end := time.Now().Add(2 * time.Minute)
		attempts := map[int64]bool{}
		for time.Now().Before(end) {
			s := w.d.State()
			j, _ := s.Job("dud")
			if j.Job.Phase == checkpoint.Running {
				attempts[j.Job.Attempt] = true
				w.servers["s1"].Kill("dud")
			} else if j.Job.Phase == checkpoint.Idle && j.Job.Order == 0 {
				w.must(adjust("dud", "s1"))
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := len(attempts); n < 4 || n > 9 {
			t.Errorf("%d attempts in two minutes", n)
		}
	})
}
