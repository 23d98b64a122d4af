// This file checks that no confirmed checkpoint is given up on one server's word.

package driver_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

// blind is a store as one server, or the master, sees it: what it cannot read has an error.
type blind struct {
	store.Store
	fails func(number int64) error
}

func (b *blind) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	if err := b.fails(number); err != nil {
		return nil, err
	}
	return b.Store.Open(ctx, job, number)
}

// sight says which checkpoints a reader cannot open: those from a number on, with an error.
type sight struct {
	from atomic.Int64
	err  error
}

func (s *sight) fails(number int64) error {
	if from := s.from.Load(); from != 0 && number >= from {
		return s.err
	}
	return nil
}

// saves has a job saved, and returns it with the new checkpoint.
func (w *world) saves(job string, steps int64, on string) driver.JobState {
	w.t.Helper()
	w.servers[on].Work(steps)
	running := w.await(job, in(checkpoint.Running))
	before := running.Job.Newest()
	w.must(checkpoint.Checkpoint{Job: job})
	return w.await(job, func(j *driver.JobState) bool { return j.Job.Phase == checkpoint.Running && j.Job.Newest() != before })
}

// seen is a world whose servers and master see the store through sights.
func seen(w *world, err error) (servers, master *sight) {
	servers, master = &sight{err: err}, &sight{err: err}
	for _, s := range w.servers {
		s.Server.Store = &blind{w.store, servers.fails}
	}
	w.config.Store = &blind{w.store, master.fails}
	return servers, master
}

// The store of a server is not mounted: the job is not resumed there, and nothing that was confirmed is given up. When it
// is mounted again the job goes on where it was.
func TestUnmountedOnOneServer(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		servers, _ := seen(w, store.ErrNotFound)
		w.open()
		w.runs("lr", "s1")
		w.saves("lr", 10, "s1")
		confirmed := w.saves("lr", 65, "s1").Job.Checkpoints
		servers.from.Store(1)
		w.servers["s1"].Kill("lr")
		j := w.await("lr", in(checkpoint.Idle)) // tried as often as it may be
		must.Same(t, j.Job.Checkpoints, confirmed, "is confirmed")
		servers.from.Store(0)
		w.must(adjust("lr", "s1"))
		w.await("lr", on("s1"))
		if j := w.saves("lr", 1, "s1"); j.Job.Newest().Step != 76 {
			t.Errorf("it went on from step %d, want 75", j.Job.Newest().Step-1)
		}
		w.close()
	})
}

// A checkpoint that the disk does not give back is tried again, and then the one before is used; it stays until a newer one
// is confirmed.
func TestUnreadableForAll(t *testing.T) {
	for _, err := range []error{syscall.EIO, store.ErrCorrupt} {
		bubble(t, func(t *testing.T, w *world) {
			servers, master := seen(w, err)
			w.open()
			w.runs("lr", "s1")
			w.saves("lr", 10, "s1")
			saved := w.saves("lr", 65, "s1")
			newest := saved.Job.Newest()
			servers.from.Store(newest.Number)
			master.from.Store(newest.Number)
			w.servers["s1"].Kill("lr")
			j := w.await("lr", func(j *driver.JobState) bool { return on("s1")(j) && j.Job.Newest() != newest })
			marked := newest
			marked.Unread = true
			if last := j.Job.Checkpoints[len(j.Job.Checkpoints)-1]; last != marked || j.Job.Newest().Step != 10 {
				t.Fatalf("%v: it goes on from %+v and has %+v", err, j.Job.Newest(), j.Job.Checkpoints)
			}
			wantReason(t, j, string(checkpoint.Resume))
			servers.from.Store(0)
			master.from.Store(0)
			j = w.saves("lr", 5, "s1")
			if slices.ContainsFunc(j.Job.Checkpoints, func(c checkpoint.Confirmed) bool { return c.Number == newest.Number }) || j.Job.Newest().Step != 15 {
				t.Errorf("%v: with a newer one it has %+v", err, j.Job.Checkpoints)
			}
			w.close()
		})
	}
}

// A server whose disk is full cannot fetch a checkpoint. That says nothing of the checkpoint.
func TestCannotFetch(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		servers, _ := seen(w, errors.New("no space left on device"))
		w.open()
		w.runs("lr", "s1")
		w.saves("lr", 10, "s1")
		confirmed := w.saves("lr", 10, "s1").Job.Checkpoints
		servers.from.Store(1)
		w.servers["s1"].Kill("lr")
		if j := w.await("lr", in(checkpoint.Idle)); !slices.Equal(j.Job.Checkpoints, confirmed) {
			t.Errorf("%v is confirmed, and was %v", j.Job.Checkpoints, confirmed)
		}
		w.close()
	})
}

// Where servers verify, each of a job's reads its share, and the master reads nothing; what a server cannot read does not
// count, and the job runs on.
func TestVerifyOnServers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, master := seen(w, errors.New("the master reads"))
		master.from.Store(1)
		w.options.VerifyOnServers = true
		var mu sync.Mutex
		shares := map[string]agent.Order{}
		for _, s := range w.servers {
			s.Meet = func(_ context.Context, o agent.Order) error {
				if o.Effect.Action == checkpoint.Verify {
					mu.Lock()
					defer mu.Unlock()
					shares[s.ID] = o
				}
				return nil
			}
		}
		w.open()
		w.runs("lr", "s1", "s2")
		saved := w.saves("lr", 10, "s1")
		mu.Lock()
		first, second := shares["s1"].Share, shares["s2"].Share
		mu.Unlock()
		if first != (store.Share{Index: 0, Of: 2}) || second != (store.Share{Index: 1, Of: 2}) {
			t.Errorf("the shares are %+v and %+v", first, second)
		}
		// One server does not find what was saved.
		w.servers["s2"].Server.Store = &blind{w.store, (&sight{err: store.ErrNotFound}).blinded()}
		w.servers["s1"].Work(5)
		w.must(checkpoint.Checkpoint{Job: "lr"})
		j := w.await("lr", func(j *driver.JobState) bool { return j.Job.Reason.Constraint == string(checkpoint.Verify) })
		if j.Job.Phase != checkpoint.Running || j.Job.Newest() != saved.Job.Newest() {
			t.Errorf("%s with %+v, want %+v", j.Job.Phase, j.Job.Newest(), saved.Job.Newest())
		}
		w.close()
	})
}

// blinded is the sight of who sees no checkpoint.
func (s *sight) blinded() func(int64) error {
	s.from.Store(1)
	return s.fails
}
