// This file checks what a driver throws away.

package driver_test

import (
	"context"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// remembered are the jobs that a server remembers and of which nothing lives there.
func (w *world) remembered(id string) []agent.Ended {
	w.t.Helper()
	s := must.Have(w.servers[id].here().Status(context.Background(), agent.Question{Epoch: 1 << 40}))(w.t)
	return s.Ended
}

func (w *world) knows(job string) bool {
	s := w.d.State()
	_, known := s.Job(job)
	return known
}

// A job that has ended is forgotten after a while, by driver, store and servers; one that runs, and one that was suspended,
// stay.
func TestRetain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.options.Retain = time.Minute
		w.open()
		w.runs("done", "s1")
		w.runs("runs", "s2")
		w.runs("idle", "s3")
		for job, server := range map[string]string{"done": "s1", "runs": "s2", "idle": "s3"} {
			w.saves(job, 10, server)
		}
		w.must(adjust("idle"), checkpoint.Cancel{Job: "done"})
		w.await("done", in(checkpoint.Ended))
		w.await("idle", in(checkpoint.Idle))
		time.Sleep(50 * time.Second)
		if s := w.d.State(); len(s.Jobs) != 3 || len(w.remembered("s1")) != 1 {
			t.Errorf("%d jobs before the time, and %v", len(s.Jobs), w.remembered("s1"))
		}
		time.Sleep(20 * time.Second)
		if known := w.knows("done"); known || len(w.remembered("s1")) != 0 {
			t.Errorf("known: %v, remembered: %v", known, w.remembered("s1"))
		}
		time.Sleep(5 * time.Minute)
		for job, want := range map[string]int{"done": 0, "runs": 1, "idle": 2} {
			list := must.Have(w.store.List(context.Background(), job))(t)
			must.Equal(t, len(list), want, job, "checkpoints")
		}
		if s := w.d.State(); len(s.Jobs) != 2 || len(w.remembered("s3")) != 1 {
			t.Errorf("%d jobs are left, and s3 remembers %v", len(s.Jobs), w.remembered("s3"))
		}
		// The name may be used again.
		w.runs("done", "s1")
		w.close()
	})
}

// What a store does not delete now is deleted later, and the job is remembered until then.
func TestRetainStoreFails(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		faulty := storetest.NewFaulty(w.store)
		w.config.Store, w.options.Retain = faulty, time.Minute
		w.open()
		w.runs("done", "s1")
		w.saves("done", 10, "s1")
		w.must(checkpoint.Cancel{Job: "done"})
		w.await("done", in(checkpoint.Ended))
		time.Sleep(time.Second) // the store is not asked for anything else any more
		faulty.FailAt(1, storetest.Before)
		time.Sleep(90 * time.Second)
		if known := w.knows("done"); !known {
			t.Error("it is forgotten, and its checkpoints are there")
		}
		time.Sleep(time.Minute)
		if known := w.knows("done"); known {
			t.Error("it was not tried again")
		}
		w.close()
	})
}

// Without Retain nothing is forgotten by itself; what the caller forgets its servers forget as well.
func TestForgottenByTheCaller(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("done", "s1")
		w.must(checkpoint.Cancel{Job: "done"})
		w.await("done", in(checkpoint.Ended))
		time.Sleep(time.Hour)
		must.Equal(t, len(w.remembered("s1")), 1, "s1 remembers", w.remembered("s1"))
		w.must(checkpoint.Forget{Job: "done"})
		time.Sleep(time.Second)
		if got := w.remembered("s1"); len(got) != 0 {
			t.Errorf("s1 remembers %v", got)
		}
	})
}
