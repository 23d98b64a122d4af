// This file checks what becomes of a server that gives no answer for a while.

package driver_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

func (w *world) quiet(servers ...string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if s, err := w.d.Await(ctx, func(s *driver.State) bool { return slices.Equal(s.Silent, servers) }); err != nil {
		w.t.Fatalf("%v are silent, want %v", s.Silent, servers)
	}
}

// A server that gives no answer for less than the grace is silent and not lost: what runs there runs on, what is asked
// for there waits, and all goes on when it answers.
func TestSilentIsNotLost(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.options.Silence = lease / 4 // so that the agent's lease is not over
		w.open()
		before := w.runs("lr", "s1", "s2")
		began := time.Now()
		w.servers["s1"].set(nil, errors.New("connection refused"))
		w.quiet("s1")
		if took := time.Since(began); took < lease/4 || took > lease/2 {
			t.Errorf("silent after %v", took)
		}
		w.must(submit("late"), adjust("late", "s1"), adjust("lr", "s2"))
		time.Sleep(lease / 10)
		s := w.d.State()
		if j, _ := s.Job("late"); j.Job.Attempt != 0 {
			t.Errorf("something was begun on a silent server: %+v", j.Job)
		}
		if j, _ := s.Job("lr"); !on("s1", "s2")(&driver.JobState{Job: withoutOrder(j).Job}) {
			t.Errorf("the job does not run on: %+v", j.Job)
		}
		w.servers["s1"].set(nil, nil)
		w.quiet()
		w.await("late", on("s1"))
		if j := w.await("lr", on("s2")); j.Job.Reason.Constraint != "" || j.Job.Newest().Number == 0 || j.Job.Attempt == before.Job.Attempt {
			t.Errorf("%+v", j.Job)
		}
		w.close()
	})
}

func withoutOrder(j driver.JobState) driver.JobState {
	j.Job.Order, j.Job.Wanted = 0, nil
	return j
}

// That a server is silent is known to the next driver, and ends when its agent has joined that one.
func TestSilenceIsOnRecord(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.servers["s1"].set(nil, errors.New("connection refused"))
		w.quiet("s1")
		w.close()
		w.servers["s1"].set(nil, nil)
		must.Do(t, w.start())
		must.Do(t, errors.Join(w.join("s2"), w.join("s3")))
		time.Sleep(time.Second)
		if s := w.d.State(); !slices.Equal(s.Silent, []string{"s1"}) {
			t.Errorf("%v are silent, want s1, which has not joined", s.Silent)
		}
		must.Do(t, w.join("s1"))
		w.quiet()
	})
}

// A server that registers again and again, and that nobody can reach, holds its jobs for the grace and no longer: to register
// is no answer. The job is free for other servers then, and nothing new is begun there meanwhile.
func TestRegistersUnreachable(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		before := w.runs("lr", "s1")
		w.servers["s1"].set(nil, errors.New("no route to host"))
		began := time.Now()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		registered := make(chan int, 1)
		go func() {
			n := 0
			for ctx.Err() == nil {
				if err := w.join("s1"); err == nil {
					t.Error("a server joins that does not answer")
				}
				n++
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
			registered <- n
		}()
		w.quiet("s1")
		w.must(submit("late"), adjust("late", "s1"))
		w.await("lr", in(checkpoint.Idle))
		if took := time.Since(began); took < w.config.Grace || took > w.config.Grace+w.config.Grace/4 {
			t.Errorf("it is free after %v, the grace is %v", took, w.config.Grace)
		}
		w.must(adjust("lr", "s2"))
		if j := w.await("lr", on("s2")); j.Job.Attempt == before.Job.Attempt {
			t.Errorf("%+v", j.Job)
		}
		s := w.d.State()
		if j, _ := s.Job("late"); j.Job.Attempt != 0 {
			t.Errorf("something was begun on a server that nobody reaches: %+v", j.Job)
		}
		stop()
		if n := take(t, "how often it has registered", registered); n < 10 {
			t.Errorf("it has registered %d times", n)
		}
	})
}

// What an agent does not know of a job now is no news of it: neither its end nor a step.
func TestUnknownIsNoNews(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		before := w.runs("lr", "s1")
		w.servers["s1"].Work(7)
		w.await("lr", func(j *driver.JobState) bool { return j.Progress.Step == 7 })
		s := w.servers["s1"]
		s.mu.Lock()
		s.lie = func(status agent.Status) agent.Status {
			for i := range status.Jobs {
				status.Jobs[i].Progress, status.Jobs[i].Unknown = runner.Progress{}, "a record that cannot be read"
			}
			return status
		}
		s.mu.Unlock()
		time.Sleep(2 * lease)
		state := w.d.State()
		if j, _ := state.Job("lr"); j.Job.Attempt != before.Job.Attempt || j.Progress.Step != 7 || !j.Progress.Running {
			t.Errorf("%+v", j)
		}
	})
}
