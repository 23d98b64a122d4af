// This file checks what a driver does with a journal that has lost records, and with what runs by no record.

package driver_test

import (
	"context"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// A journal that was put back to an older state is noticed by the first server that has heard of what is missing: the
// driver ends with an error that says so, and the job runs on alone.
func TestJournalPutBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.open()
		w.runs("lr", "s1")
		old := w.mem.Crash(nil)
		w.must(adjust("lr", "s1", "s2"))
		before := w.await("lr", on("s1", "s2"))
		w.close()
		w.mem = old
		must.Do(t, w.start())
		_ = w.join("s1")
		must.Err(t, over(t, w.ended), checkpoint.ErrBehind, "the driver ended with")
		if alive := w.servers["s2"].Alive("lr"); len(alive) != 1 || alive[0] != before.Job.Attempt {
			t.Errorf("attempts %v run, want %d", alive, before.Job.Attempt)
		}
	})
}

// A journal that is empty is another one: no server joins it, and nothing is begun.
func TestJournalGone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.open()
		w.runs("lr", "s1")
		w.close()
		w.mem = vfstest.NewMem()
		for range 3 { // until its epoch is as high as that of the one before
			must.Do(t, w.start())
			must.Err(t, w.join("s1"), must.ErrAny, "a server of another journal has joined")
			w.end()
			_ = over(t, w.ended) // a lower epoch ends it
		}
	})
}

// What an agent reports that no record knows is stopped; what is on its way is not.
func TestOrphansAreStopped(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1")
		// Somebody has started a job that no record knows, by the word of this master.
		s := w.servers["s2"]
		e := checkpoint.Effect{ID: 1, Epoch: 1, Job: "ghost", Attempt: 2, Containers: []string{"s2"}, Servers: []string{"s2"}}
		status := must.Have(s.Status(context.Background(), agent.Question{Epoch: 1}))(t)
		for _, e.Action = range []checkpoint.Action{checkpoint.Create, checkpoint.Resume} {
			if r, err := s.Do(context.Background(), agent.Order{Effect: e, Heard: status.Clock}); err != nil || r.Outcome != checkpoint.Done {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		must.Equal(t, len(s.Alive("ghost")), 1, "it does not run")
		time.Sleep(5 * time.Second)
		if alive := s.Alive("ghost"); len(alive) != 0 {
			t.Errorf("attempts %v of a job that nobody knows run on", alive)
		}
		if j := w.await("lr", on("s1")); len(w.servers["s1"].Alive("lr")) != 1 {
			t.Errorf("the job was disturbed: %+v", j.Job)
		}
	})
}

// An attempt of a job that is suspended is told of by a server: it is none of the job's, and is stopped like any stray.
func TestStrayOfSuspendedJob(t *testing.T) {
	running(t, func(t *testing.T, w *world) {
		w.runs("lr", "s1")
		w.must(adjust("lr"))
		before := w.await("lr", in(checkpoint.Idle))
		s := w.servers["s2"]
		e := checkpoint.Effect{ID: 1, Epoch: 1, Job: "lr", Attempt: before.Job.Attempt + 1, Containers: []string{"s2"}, Servers: []string{"s2"}}
		status := must.Have(s.Status(context.Background(), agent.Question{Epoch: 1}))(t)
		for _, e.Action = range []checkpoint.Action{checkpoint.Create, checkpoint.Resume} {
			if r, err := s.Do(context.Background(), agent.Order{Effect: e, Heard: status.Clock}); err != nil || r.Outcome != checkpoint.Done {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		time.Sleep(5 * time.Second)
		if alive := s.Alive("lr"); len(alive) != 0 {
			t.Errorf("attempts %v of a suspended job run on", alive)
		}
	})
}
