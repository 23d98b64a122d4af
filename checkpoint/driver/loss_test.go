// This file checks the way back after records were lost: by itself nothing goes on, and when the loss is accepted nothing runs twice.

package driver_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/internal/must"
)

// lost plays a cluster whose journal has lost that lr was saved until nothing was left of what is on record, and moved from s1 to s2, and
// that mf was submitted. It returns the name of the journal
// and the newest attempt of lr.
func (w *world) lost() (name string, attempt int64) {
	w.t.Helper()
	w.open()
	w.runs("lr", "s1")
	w.servers["s1"].Work(7)
	w.must(checkpoint.Checkpoint{Job: "lr"})
	w.await("lr", func(j *driver.JobState) bool { return j.Job.Newest().Step == 7 && on("s1")(j) })
	before := w.mem.Crash(nil)
	for step := int64(8); step < 12; step++ {
		w.servers["s1"].Work(1)
		w.must(checkpoint.Checkpoint{Job: "lr"})
		w.await("lr", func(j *driver.JobState) bool { return j.Job.Newest().Step == step && on("s1")(j) })
	}
	w.must(adjust("lr", "s2"))
	attempt = w.await("lr", on("s2")).Job.Attempt
	w.runs("mf", "s3")
	w.close()
	m, j, err := journal.Open(before.Crash(nil), w.machine)
	if err != nil {
		w.t.Fatal(err)
	}
	defer j.Close()
	w.mem = before
	return m.Journal(), attempt
}

func (w *world) joinAll() (err error) {
	for _, id := range []string{"s1", "s2", "s3"} {
		err = errors.Join(err, w.join(id))
	}
	return err
}

func TestAcceptLoss(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		name, attempt := w.lost()
		// 1. Nothing goes on by itself, however often it is tried.
		for range 3 {
			must.Do(t, w.start())
			_ = w.joinAll() // one of them ends the driver
			must.Err(t, over(t, w.ended), checkpoint.ErrBehind, "the driver ended with")
		}
		// 2. A slip of the pen accepts nothing.
		w.options.AcceptLoss = "another"
		must.Do(t, w.start())
		must.Err(t, over(t, w.ended), apportion.ErrConflict, "another name: the driver ended with")
		// 3. The loss is accepted: after the grace all servers are let in, and lr goes on from what the store has.
		w.options.AcceptLoss = name
		began := time.Now()
		w.open()
		if took := time.Since(began); took < w.config.Grace {
			t.Errorf("servers were let in after %v, with a grace of %v", took, w.config.Grace)
		}
		j := w.await("lr", func(j *driver.JobState) bool { return on("s1")(j) && j.Job.Attempt > attempt })
		if w.await("lr", func(j *driver.JobState) bool { return j.Progress.Running }).Progress.Step != 11 {
			t.Errorf("after the loss: %+v, and attempt %d was given out before", j.Job, attempt)
		}
		for job, servers := range map[string][]string{"lr": {"s2", "s3"}, "mf": {"s1", "s2", "s3"}} {
			for _, id := range servers {
				if alive := w.servers[id].Alive(job); len(alive) > 0 {
					t.Errorf("attempts %v of %s run on %s", alive, job, id)
				}
			}
		}
		w.must(adjust("lr", "s2"))
		w.await("lr", on("s2"))
		w.close()
		// 4. It was accepted once and for all, with the option or without.
		for _, option := range []string{name, ""} {
			w.options.AcceptLoss = option
			began := time.Now()
			w.open()
			w.await("lr", on("s2"))
			if took := time.Since(began); took > lease/2 {
				t.Errorf("with the option %q the next driver took %v", option, took)
			}
			w.close()
		}
		// 5. What is said in the old name is not done any more.
		old := checkpoint.Effect{ID: 1 << 60, Epoch: 1 << 40, Journal: name, Action: checkpoint.Stop, Job: "lr", Attempt: 1 << 60}
		reply, err := w.servers["s2"].Do(context.Background(), agent.Order{Effect: old})
		if err != nil || reply.Outcome != checkpoint.Failed || len(w.servers["s2"].Alive("lr")) != 1 {
			t.Errorf("in the old name: %+v, %v", reply, err)
		}
	})
}

// A crash while the servers are left alone accepts nothing: the next driver leaves them alone as long.
func TestCrashWhileLossIsAccepted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.options.AcceptLoss, _ = w.lost()
		must.Do(t, w.start())
		time.Sleep(w.config.Grace * 9 / 10)
		w.close()
		began := time.Now()
		w.open()
		if took := time.Since(began); took < w.config.Grace {
			t.Errorf("servers were let in after %v, with a grace of %v", took, w.config.Grace)
		}
		if s := w.d.State(); !slices.Equal(s.Silent, []string{}) || len(s.Servers) != 3 {
			t.Errorf("%+v", s.Servers)
		}
		w.close()
	})
}
