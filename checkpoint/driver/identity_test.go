// This file checks that a driver believes no store but the one on record, and that what an attempt writes late is refused.

package driver_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// mounted is a place where one of two stores is.
type mounted struct {
	right, other store.Store
	away         atomic.Bool
	// leave is after how many more answers which it is the right one goes away; 0: it stays.
	leave atomic.Int64
}

func (m *mounted) now() store.Store {
	if m.away.Load() {
		return m.other
	}
	return m.right
}

func (m *mounted) Begin(ctx context.Context, job string, number int64) (store.Writer, error) {
	return m.now().Begin(ctx, job, number)
}

func (m *mounted) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	return m.now().Open(ctx, job, number)
}

func (m *mounted) List(ctx context.Context, job string) ([]store.Manifest, error) {
	return m.now().List(ctx, job)
}

func (m *mounted) Delete(ctx context.Context, job string, number int64) error {
	return m.now().Delete(ctx, job, number)
}

func (m *mounted) Fence(ctx context.Context, job string, number int64) error {
	return m.now().Fence(ctx, job, number)
}

func (m *mounted) Identity(ctx context.Context) (store.Identity, error) {
	id, err := m.now().Identity(ctx)
	if m.leave.Load() > 0 && m.leave.Add(-1) == 0 {
		m.away.Store(true)
	}
	return id, err
}

// commits puts a checkpoint without parts into the store in the place of the right one.
func (m *mounted) commits(t *testing.T, job string, number int64) {
	t.Helper()
	writer, err := m.other.Begin(t.Context(), job, number)
	if err == nil {
		_, err = writer.Commit()
	}
	must.Do(t, err)
}

// mount has servers and master see the store in a place where another one can be.
func mount(w *world) (servers, master *mounted) {
	servers, master = &mounted{right: w.store, other: &storetest.MemStore{}}, &mounted{right: w.store, other: &storetest.MemStore{}}
	for _, s := range w.servers {
		s.Server.Store = servers
	}
	w.config.Store = master
	return servers, master
}

// wantEmpty checks that nothing was written into the store in the place of the right one.
func wantEmpty(t *testing.T, m *mounted, job string) {
	t.Helper()
	if list, err := m.other.List(t.Context(), job); err != nil || len(list) > 0 {
		t.Errorf("in the other store are %v, %v", list, err)
	}
}

// Another store is in the place of the right one, for all: nothing that was confirmed is given up, nothing is written, and
// when the right one is back the job goes on where it was.
func TestAnotherStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		servers, master := mount(w)
		w.open()
		w.runs("lr", "s1")
		w.saves("lr", 10, "s1")
		confirmed := w.saves("lr", 65, "s1").Job.Checkpoints
		servers.away.Store(true)
		master.away.Store(true)
		w.servers["s1"].Work(5)
		w.must(checkpoint.Checkpoint{Job: "lr"})
		j := w.await("lr", func(j *driver.JobState) bool { return j.Job.Reason.Constraint == string(checkpoint.Save) })
		if j.Job.Phase != checkpoint.Running || !slices.Equal(j.Job.Checkpoints, confirmed) {
			t.Errorf("after the save: %s with %v, want %v", j.Job.Phase, j.Job.Checkpoints, confirmed)
		}
		w.servers["s1"].Kill("lr")
		j = w.await("lr", in(checkpoint.Idle)) // tried as often as it may be
		must.Same(t, j.Job.Checkpoints, confirmed, "is confirmed")
		wantEmpty(t, servers, "lr")
		wantEmpty(t, master, "lr")
		servers.away.Store(false)
		master.away.Store(false)
		w.must(adjust("lr", "s1"))
		w.await("lr", on("s1"))
		if j := w.saves("lr", 1, "s1"); j.Job.Newest().Step != 76 {
			t.Errorf("it went on from step %d, want 75", j.Job.Newest().Step-1)
		}
		w.close()
	})
}

// A server, or the master, alone sees another store, in which the checkpoint is missing or is one of the same number: what
// is confirmed stays.
func TestAnotherStoreForOne(t *testing.T) {
	for _, who := range []string{"servers", "master"} {
		bubble(t, func(t *testing.T, w *world) {
			servers, master := mount(w)
			w.open()
			w.runs("lr", "s1")
			confirmed := w.saves("lr", 10, "s1").Job.Checkpoints
			one := map[string]*mounted{"servers": servers, "master": master}[who]
			one.away.Store(true)
			w.servers["s1"].Kill("lr")
			if j := w.await("lr", in(checkpoint.Idle)); !slices.Equal(j.Job.Checkpoints, confirmed) {
				t.Errorf("%s: %v is confirmed, and was %v", who, j.Job.Checkpoints, confirmed)
			}
			wantEmpty(t, one, "lr")
			w.close()
		})
	}
}

// A server cannot find the checkpoint, and the master, who is asked, sees another store: nobody has looked at the checkpoint,
// so it stays what it was.
func TestAnotherStoreAtTheSecondReader(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		servers, _ := seen(w, store.ErrNotFound)
		master := &mounted{right: w.store, other: &storetest.MemStore{}}
		w.config.Store = master
		w.open()
		w.runs("lr", "s1")
		w.saves("lr", 10, "s1")
		confirmed := w.saves("lr", 65, "s1").Job.Checkpoints
		servers.from.Store(1)
		time.Sleep(time.Second) // what is left to prune is pruned
		// The next attempt finds the right store while it is created, and another one behind that.
		master.leave.Store(1)
		w.servers["s1"].Kill("lr")
		w.await("lr", func(j *driver.JobState) bool { return strings.Contains(j.Job.Reason.Text, "the master") })
		if j := w.await("lr", in(checkpoint.Idle)); !slices.Equal(j.Job.Checkpoints, confirmed) || j.Job.Attempt == 0 {
			t.Errorf("%v is confirmed, and was %v", j.Job.Checkpoints, confirmed)
		}
		w.close()
	})
}

// The store goes away behind the look at a new checkpoint: what lies in the other one is not pruned.
func TestPruneInAnotherStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, master := mount(w)
		w.open()
		w.runs("lr", "s1")
		master.commits(t, "lr", 1)
		master.leave.Store(1)
		w.saves("lr", 10, "s1")
		time.Sleep(time.Minute)
		if list, err := master.other.List(t.Context(), "lr"); err != nil || len(list) != 1 || !master.away.Load() {
			t.Errorf("the other store has %v, %v", list, err)
		}
		w.close()
	})
}

// A checkpoint directory in another store is not fenced, and no attempt begins; it does when the right one is back.
func TestFenceInAnotherStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, master := mount(w)
		w.open()
		w.must(submit("lr"))
		time.Sleep(time.Second)
		master.away.Store(true)
		w.must(adjust("lr", "s1"))
		w.await("lr", func(j *driver.JobState) bool { return j.Job.Reason.Constraint == string(checkpoint.Create) })
		if n := w.servers["s1"].Starts("lr", 1); n > 0 {
			t.Errorf("%d attempts were started", n)
		}
		must.Have(master.other.Begin(t.Context(), "lr", 1))(t, "the other store is fenced")
		master.away.Store(false)
		w.must(adjust("lr", "s1"))
		w.await("lr", on("s1"))
		w.close()
	})
}

// absent is a store that does not answer at first.
type absent struct {
	store.Store
	failures atomic.Int64
}

func (a *absent) Identity(ctx context.Context) (store.Identity, error) {
	if a.failures.Add(-1) >= 0 {
		return "", errors.New("no answer")
	}
	return a.Store.Identity(ctx)
}

// A store that does not answer at first is asked again; what was asked for meanwhile waits for it.
func TestStoreAnswersLate(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		slow := &absent{Store: w.store}
		slow.failures.Store(5)
		w.config.Store = slow
		w.open()
		w.runs("lr", "s1")
		if n := slow.failures.Load(); n > -1 {
			t.Errorf("the job runs, and the store has not answered yet: %d", n)
		}
		w.saves("lr", 10, "s1")
		w.close()
	})
}

// A master that is started on another store ends, and the one that follows on the right store finds all.
func TestMasterOnAnotherStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, master := mount(w)
		w.open()
		w.runs("lr", "s1")
		confirmed := w.saves("lr", 10, "s1").Job.Checkpoints
		w.close()
		master.away.Store(true)
		must.Do(t, w.start())
		must.Err(t, over(t, w.ended), store.ErrIdentity, "the master ended with")
		master.away.Store(false)
		w.open()
		if j := w.await("lr", on("s1")); !slices.Equal(j.Job.Checkpoints, confirmed) {
			t.Errorf("%v is confirmed, and was %v", j.Job.Checkpoints, confirmed)
		}
		w.close()
	})
}

// Checkpoints are deleted in the store on record only.
func TestRetainInAnotherStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, master := mount(w)
		w.options.Retain = time.Minute
		w.open()
		w.runs("lr", "s1")
		saved := w.saves("lr", 10, "s1")
		number := saved.Job.Newest().Number
		master.commits(t, "lr", number)
		master.away.Store(true)
		w.must(checkpoint.Cancel{Job: "lr"})
		time.Sleep(5 * time.Minute)
		list, err := master.other.List(t.Context(), "lr")
		if there := w.knows("lr"); !there || err != nil || len(list) != 1 {
			t.Errorf("the job is remembered: %v; the other store has %v, %v", there, list, err)
		}
		master.away.Store(false)
		time.Sleep(5 * time.Minute)
		if w.knows("lr") {
			t.Error("the job is not forgotten")
		}
		w.close()
	})
}

// late is a store whose commits wait until they are let go.
type late struct {
	store.Store
	wait  chan struct{}
	ended chan error
}

type lateWriter struct {
	store.Writer
	of *late
}

func (l *late) Begin(_ context.Context, job string, number int64) (store.Writer, error) {
	w, err := l.Store.Begin(context.Background(), job, number)
	return &lateWriter{w, l}, err
}

func (w *lateWriter) Part(name string) (io.WriteCloser, error) { return w.Writer.Part(name) }

func (w *lateWriter) Commit() (store.Manifest, error) {
	<-w.of.wait
	m, err := w.Writer.Commit()
	w.of.ended <- err
	return m, err
}

// A save hangs in its store until another attempt runs: it is refused there, and adds nothing to the job's checkpoints.
func TestLateCommit(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		slow := &late{Store: w.store, wait: make(chan struct{}), ended: make(chan error, 10)}
		w.open()
		w.runs("lr", "s1")
		saved := w.saves("lr", 10, "s1")
		number, before := saved.Job.Newest().Number, saved.Job.Attempt
		// The process that hangs is of a server that is fenced off meanwhile, and wakes up behind its back.
		abandoned := &agenttest.Server{ID: "s1", Store: slow}
		for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume} {
			if reply, err := abandoned.Do(t.Context(), agent.Order{Effect: checkpoint.Effect{Action: action, Job: "lr", Attempt: 1, Epoch: 1}}); err != nil || reply.Outcome != checkpoint.Done {
				t.Fatal(reply, err)
			}
		}
		go func() {
			_, _ = abandoned.Do(context.Background(), agent.Order{Effect: checkpoint.Effect{Action: checkpoint.Save, Job: "lr", Attempt: 1, Epoch: 1, Checkpoint: number + 1}})
		}()
		w.servers["s1"].Kill("lr")
		w.await("lr", func(j *driver.JobState) bool { return on("s1")(j) && j.Job.Attempt > before })
		close(slow.wait)
		if err := take(t, "the end of the commit", slow.ended); !errors.Is(err, store.ErrFenced) {
			t.Errorf("the commit of an attempt that is over: %v, want store.ErrFenced", err)
		}
		w.close()
	})
}
