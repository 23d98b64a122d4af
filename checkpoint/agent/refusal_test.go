// This file checks what an agent does not do: for masters that were replaced, for attempts that have ended, and
// before its book says so.

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// A refused order renews no lease, however new its stamp is.
func TestRefusedRenewsNothing(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.elapse(0.6)
	b.greet() // hands nothing back
	if r := b.do(checkpoint.Effect{Action: checkpoint.Create, Attempt: 0}); r.Outcome != checkpoint.Fenced {
		t.Fatalf("%+v", r)
	}
	b.elapse(0.6)
	b.awaitStop()
}

// A lease that only seemed to be over ends nothing.
func TestHeardJustInTime(t *testing.T) {
	b := newBench(t)
	var late atomic.Bool
	clock := b.config.Clock
	b.config.Clock = func() agent.Stamp {
		now := clock()
		if late.CompareAndSwap(true, false) {
			now.At += 10 * b.config.Lease
		}
		return now
	}
	b.restart()
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	late.Store(true) // at the next look only
	b.eventually("somebody has looked at the clock", func() bool { return !late.Load() })
	time.Sleep(b.config.Lease / 2)
	if said := b.fake.said(); strings.Contains(said, "stop") {
		t.Error(said)
	}
}

// failing is a runner whose saves fail.
type failing struct {
	*fake
	err error
}

func (f failing) Save(ctx context.Context, run runner.Run) (runner.Saved, error) {
	if f.wait != nil {
		_ = f.wait(ctx)
	}
	return runner.Saved{}, f.err
}

// starting is a runner whose starts fail.
type starting struct{ failing }

func (f starting) Resume(ctx context.Context, run runner.Run) error {
	_, err := f.Save(ctx, run)
	return err
}

// The errors of a runner are failures of the effect. It refuses an attempt only where no lease is the reason.
func TestOutcomeOfErrors(t *testing.T) {
	for _, c := range []struct {
		err    error
		lapses bool
		want   checkpoint.Outcome
	}{
		{errors.New("no answer"), false, checkpoint.Failed},
		{fmt.Errorf("the files: %w", store.ErrNotFound), false, checkpoint.Failed},
		{fmt.Errorf("attempt 9: %w", checkpoint.ErrFenced), false, checkpoint.Fenced},
		{fmt.Errorf("stopped: %w", checkpoint.ErrFenced), true, checkpoint.Failed},
	} {
		b := newBench(t)
		var r runner.Runner = failing{b.fake, c.err}
		action, number := checkpoint.Save, int64(3)
		// A save that was dropped is left alone, whatever it returns; a start is waited for.
		if c.lapses {
			r, action, number = starting{failing{b.fake, c.err}}, checkpoint.Resume, 0
		}
		b.config.Runner = func(string, json.RawMessage) (runner.Runner, error) { return r, nil }
		b.restart()
		b.must(checkpoint.Create, 1, 0)
		if c.lapses {
			b.fake.wait = func(ctx context.Context) error { b.elapse(2); <-ctx.Done(); return nil }
		} else {
			b.must(checkpoint.Resume, 1, 0)
		}
		if r := b.do(checkpoint.Effect{Action: action, Attempt: 1, Checkpoint: number}); r.Outcome != c.want || !strings.Contains(r.Detail, c.err.Error()) {
			t.Errorf("%v: %+v, want %s", c.err, r, c.want)
		}
	}
}

// closed is a store that opens nothing.
type closed struct {
	store.Store
	err error
}

func (c closed) Open(context.Context, string, int64) (store.Reader, error) { return nil, c.err }

// The errors of a store tell a checkpoint that is damaged from one that cannot be fetched now.
func TestOutcomeOfStores(t *testing.T) {
	for _, c := range []struct {
		err  error
		want checkpoint.Outcome
	}{
		{store.ErrCorrupt, checkpoint.Damaged}, {store.ErrNotFound, checkpoint.Damaged},
		{syscall.EIO, checkpoint.Unreadable}, {context.DeadlineExceeded, checkpoint.Failed},
	} {
		b := newBench(t)
		b.config.Store = closed{b.config.Store, fmt.Errorf("open: %w", c.err)}
		b.restart()
		b.must(checkpoint.Create, 1, 0)
		r := b.do(checkpoint.Effect{Action: checkpoint.Resume, Attempt: 1, Checkpoint: 7})
		if r.Outcome != c.want || !strings.Contains(r.Detail, c.err.Error()) {
			t.Errorf("%v: %+v, want %s", c.err, r, c.want)
		}
	}
}

// No process is started before the book says that it may be.
func TestNothingStartsBeforeTheBook(t *testing.T) {
	b := newBench(t)
	var full atomic.Bool
	b.config.Disk = vfstest.Hooked(b.config.Disk, func(op vfstest.Op, name string) error {
		if full.Load() && op == vfstest.Sync {
			return vfstest.ErrInjected
		}
		return nil
	})
	b.restart()
	b.must(checkpoint.Create, 1, 0)
	full.Store(true)
	if r := b.do(checkpoint.Effect{Action: checkpoint.Resume, Attempt: 1}); r.Outcome != checkpoint.Failed {
		t.Errorf("%+v", r)
	}
	if r := b.do(checkpoint.Effect{Action: checkpoint.Stop, Attempt: 1}); r.Outcome != checkpoint.Failed {
		t.Errorf("%+v", r)
	}
	if said := b.fake.said(); strings.Contains(said, "resume") {
		t.Errorf("the runner was told to %s", said)
	}
	full.Store(false)
	b.must(checkpoint.Stop, 1, 0)
}

// What is news to the book is not done, and counts as not done, before it is written down: here that there is a newer master.
func TestNothingIsDoneBeforeTheBook(t *testing.T) {
	b := newBench(t)
	var full atomic.Bool
	b.config.Disk = vfstest.Hooked(b.config.Disk, func(op vfstest.Op, name string) error {
		if full.Load() && op == vfstest.Sync {
			return vfstest.ErrInjected
		}
		return nil
	})
	b.restart()
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	before := b.fake.said()
	full.Store(true)
	for _, e := range []checkpoint.Effect{
		{Action: checkpoint.Save, Attempt: 1, Checkpoint: 2, Epoch: 7}, {Action: checkpoint.Confirm, Attempt: 1, Epoch: 7},
		{Action: checkpoint.Create, Attempt: 3, Epoch: 7},
	} {
		if r := b.do(e); r.Outcome != checkpoint.Failed {
			t.Errorf("%s: %+v", e.Action, r)
		}
	}
	must.Equal(t, b.fake.said(), before, "the runner was told to", "before")
}

// An attempt that was created and not resumed has nothing to save and is not running.
func TestSaveNeedsResume(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.must(checkpoint.Create, 2, 0)
	for _, action := range []checkpoint.Action{checkpoint.Save, checkpoint.Confirm} {
		if r := b.do(checkpoint.Effect{Action: action, Attempt: 2, Checkpoint: 3}); r.Outcome != checkpoint.Failed || !strings.Contains(r.Detail, "was not resumed here") {
			t.Errorf("%s: %+v", action, r)
		}
	}
}

// A Confirm waits for the processes, for as long as its context lets it.
func TestConfirmWaits(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.fake.set(func() { clear(b.fake.alive) })
	confirm := func(limit time.Duration) checkpoint.Reply {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		e := checkpoint.Effect{Epoch: 1, Action: checkpoint.Confirm, Job: "lr", Attempt: 1}
		return must.Have(b.agent.Do(ctx, agent.Order{Effect: e, Heard: b.heard}))(t)
	}
	if r := confirm(50 * time.Millisecond); r.Outcome != checkpoint.Failed || !strings.Contains(r.Detail, "deadline") {
		t.Errorf("%+v", r)
	}
	time.AfterFunc(30*time.Millisecond, func() { b.fake.set(func() { b.fake.alive[1] = true }) })
	if r := confirm(time.Minute); r.Outcome != checkpoint.Done {
		t.Errorf("%+v", r)
	}
}

// A spec that is not JSON is refused by name, and stays out of the book: the server's other jobs are written there as before.
func TestSpecIsNoJSON(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	for _, spec := range []string{"\"", "{}{}", "%!d", " "} {
		e := checkpoint.Effect{ID: 100, Epoch: 1, Action: checkpoint.Resume, Job: "lr", Attempt: 1, Containers: []string{"here"}, Servers: []string{"here"}}
		reply, err := b.agent.Do(t.Context(), agent.Order{Effect: e, Spec: json.RawMessage(spec), Heard: b.heard})
		if err != nil || reply.Outcome != checkpoint.Failed || !strings.Contains(reply.Detail, "not JSON") {
			t.Errorf("%q: %+v, %v", spec, reply, err)
		}
	}
	if p := b.page(); p.Run != nil || p.Spec != nil {
		t.Errorf("%+v", p)
	}
	b.must(checkpoint.Resume, 1, 0)
}
