// This file checks that a driver begins nothing before it has heard what runs: its journal may have lost its end.

package driver_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/internal/must"
)

// cut plays a cluster in which lr runs on s2 and the journal has lost that, until the next driver has begun and s2 calls it, but
// says nothing until silent is closed. known says whether s2 itself is still on record.
func (w *world) cut(known bool, silent chan struct{}) {
	w.t.Helper()
	must.Do(w.t, w.start())
	join := func(ids ...string) {
		for _, id := range ids {
			must.Do(w.t, w.join(id))
		}
	}
	join("s1", "s3")
	if known {
		join("s2")
	}
	w.must(submit("lr"))
	before := w.mem.Crash(nil)
	if !known {
		join("s2")
	}
	w.must(adjust("lr", "s2"))
	w.await("lr", on("s2"))
	w.close()
	w.mem = before
	must.Do(w.t, w.start())
	w.servers["s2"].set(silent, nil)
	go func() { _ = w.join("s2") }() // the test, or the driver, ends by it
	synctest.Wait()
	w.must(adjust("lr", "s1"))
	join("s1", "s3")
}

// A journal that was cut off does not know of a run, and the server that has it says nothing: nothing is begun until it has spoken,
// which ends the driver, or its lease is over.
func TestCutJournalAndSilentServer(t *testing.T) {
	for name, known := range map[string]bool{"a server on record": true, "a server that is not on record, and calls": false} {
		t.Run(name+" speaks", func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				silent := make(chan struct{})
				w.cut(known, silent)
				time.Sleep(lease * 9 / 10)
				if alive := w.servers["s1"].Alive("lr"); len(alive) > 0 {
					t.Errorf("attempt %v was begun while s2 had said nothing, and %v runs there", alive, w.servers["s2"].Alive("lr"))
				}
				w.servers["s2"].set(nil, nil)
				close(silent)
				_ = w.join("s2") // the driver ends by it
				must.Err(t, over(t, w.ended), checkpoint.ErrBehind, "the driver ended with")
			})
		})
		t.Run(name+" stays silent", func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				silent := make(chan struct{})
				defer close(silent)
				began := time.Now()
				w.cut(known, silent)
				w.await("lr", on("s1"))
				if took := time.Since(began); took < w.config.Grace || took > w.config.Grace+2*time.Second {
					t.Errorf("begun after %v, with a grace of %v", took, w.config.Grace)
				}
				if alive := w.servers["s2"].Alive("lr"); len(alive) > 0 {
					t.Errorf("attempts %v run on s2", alive)
				}
				w.close()
			})
		})
	}
}

// Where all servers answer, and where none is on record, an attempt begins at once.
func TestNothingIsWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		began := time.Now()
		at := func(what string) {
			t.Helper()
			if took := time.Since(began); took >= driver.DefaultPoll {
				t.Errorf("%s: running after %v", what, took)
			}
		}
		w.open()
		w.runs("lr", "s1")
		at("a cluster that begins")
		w.close()
		began = time.Now()
		w.open()
		w.runs("mf", "s2")
		at("a restart")
		w.close()
	})
}

// While a driver waits no attempt counts as failed for it: the time-outs of the machine wait as well.
func TestWaitingIsNoFailure(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.machine.Timeouts = checkpoint.Timeouts{Create: time.Second, Resume: time.Second}
		w.open()
		w.must(submit("lr"))
		w.close()
		must.Do(t, w.start())
		must.Do(t, errors.Join(w.join("s1"), w.join("s2")))
		w.must(adjust("lr", "s1"))
		w.await("lr", in(checkpoint.Creating))
		time.Sleep(w.config.Grace / 2)
		s := w.d.State()
		if j, _ := s.Job("lr"); j.Job.Tries != 0 || j.Job.Reason.Constraint != "" {
			t.Errorf("waiting counts as a failure: %+v", j.Job)
		}
		w.await("lr", on("s1"))
		w.close()
	})
}
