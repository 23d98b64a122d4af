// This file checks that ending processes needs no disk, no store and no lock: whatever hangs or is full.

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// briefly gives an order that is waited for no longer than a moment.
func (b *bench) briefly(action checkpoint.Action) checkpoint.Reply {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 400*time.Millisecond)
	defer cancel()
	r, err := b.agent.Do(ctx, agent.Order{Effect: checkpoint.Effect{Epoch: 1, Action: action, Job: "lr", Attempt: 1}, Heard: b.heard})
	if err != nil {
		b.t.Error(err)
	}
	return r
}

// started returns a bench whose job runs, and which comes upon trouble at the disk from then on.
func started(t *testing.T, trouble func(op vfstest.Op) error) (b *bench, on *atomic.Bool) {
	b, on = newBench(t), &atomic.Bool{}
	b.config.Disk = vfstest.Hooked(b.config.Disk, func(op vfstest.Op, _ string) error {
		if on.Load() {
			return trouble(op)
		}
		return nil
	})
	b.restart()
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	return b, on
}

// A Stop ends the processes where the book cannot be written, and is done when it is.
func TestStopOnFullDisk(t *testing.T) {
	b, full := started(t, func(vfstest.Op) error { return errors.New("no space left") })
	full.Store(true)
	r := b.do(checkpoint.Effect{Action: checkpoint.Stop, Attempt: 1})
	if alive := b.subject().Alive("suite"); len(alive) > 0 || r.Outcome != checkpoint.Failed || !strings.Contains(r.Detail, "no space left") {
		t.Errorf("%v live, %+v", alive, r)
	}
	full.Store(false)
	b.must(checkpoint.Stop, 1, 0)
	if p := b.page(); p.Stopped != 1 {
		t.Errorf("the book says %+v", p)
	}
}

// A Resume that was done, and is not on record, is done only when it is: an agent that dies before that would start it again.
func TestResumedIsNotOnRecord(t *testing.T) {
	b, full := newBench(t), &atomic.Bool{}
	b.config.Disk = vfstest.Hooked(b.config.Disk, func(vfstest.Op, string) error {
		if full.Load() {
			return errors.New("no space left")
		}
		return nil
	})
	b.restart()
	b.must(checkpoint.Create, 1, 0)
	// The disk is full as soon as the processes run.
	b.fake.wait = func(context.Context) error { full.Store(true); return nil }
	for range 2 {
		r := b.do(checkpoint.Effect{Action: checkpoint.Resume, Attempt: 1})
		if r.Outcome != checkpoint.Failed || !strings.Contains(r.Detail, "no space left") {
			t.Errorf("it is not on record: %+v", r)
		}
	}
	full.Store(false)
	b.must(checkpoint.Resume, 1, 0)
	if p := b.page(); p.Resumed != 1 || b.fake.said() != "resume 1 anew" {
		t.Errorf("the book says %+v, and the runner was told to %s", p, b.fake.said())
	}
}

// A Stop ends the processes where the disk does not come back, and its caller is let go.
func TestStopOnFrozenDisk(t *testing.T) {
	thaw := make(chan struct{})
	b, frozen := started(t, func(op vfstest.Op) error { <-thaw; return nil })
	defer close(thaw)
	frozen.Store(true)
	r := b.briefly(checkpoint.Stop)
	if alive := b.subject().Alive("suite"); len(alive) > 0 || r.Outcome != checkpoint.Failed {
		t.Errorf("%v live, %+v", alive, r)
	}
}

// The lease ends the processes where the disk does not come back.
func TestLapseOnFrozenDisk(t *testing.T) {
	thaw := make(chan struct{})
	b, frozen := started(t, func(op vfstest.Op) error { <-thaw; return nil })
	defer close(thaw)
	frozen.Store(true)
	b.elapse(2)
	b.eventually("the processes are ended", func() bool { return len(b.subject().Alive("suite")) == 0 })
}

// A save that hangs in a disk, and listens to nobody, holds up neither a Stop nor the lease.
func TestStopPassesHungSave(t *testing.T) {
	for _, lapses := range []bool{false, true} {
		b := newBench(t)
		b.must(checkpoint.Create, 1, 0)
		b.must(checkpoint.Resume, 1, 0)
		thaw, hangs := make(chan struct{}), make(chan struct{})
		b.fake.wait = func(context.Context) error { close(hangs); <-thaw; return errors.New("thawed") }
		saved := make(chan checkpoint.Reply, 1)
		go func() { saved <- b.do(checkpoint.Effect{Action: checkpoint.Save, Attempt: 1, Checkpoint: 3}) }()
		take(t, "the runner is asked", hangs)
		if lapses {
			b.elapse(2)
			b.awaitStop()
		} else {
			b.must(checkpoint.Stop, 1, 0)
		}
		if r := take(t, "the reply to the save", saved); r.Outcome != checkpoint.Failed {
			t.Errorf("the save is %+v", r)
		}
		must.Equal(t, b.fake.said(), "resume 1 anew; stop 1", "the runner was told to")
		close(thaw)
	}
}

// A start that hangs with processes that live already holds up no end of them; and the Stop is not done before the
// start is over, which may start more.
func TestStopPassesHungStart(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	thaw, hangs := make(chan struct{}), make(chan struct{})
	b.fake.wait = func(context.Context) error { close(hangs); <-thaw; return nil }
	resumed := make(chan checkpoint.Reply, 1)
	go func() { resumed <- b.do(checkpoint.Effect{Action: checkpoint.Resume, Attempt: 1}) }()
	take(t, "the runner is asked", hangs)
	b.fake.set(func() { b.fake.alive[1] = true })
	if r := b.briefly(checkpoint.Stop); r.Outcome != checkpoint.Failed || b.fake.said() != "stop 1" {
		t.Errorf("%+v, and the runner was told to %q", r, b.fake.said())
	}
	if alive := b.subject().Alive("suite"); len(alive) > 0 {
		t.Errorf("attempts %v live", alive)
	}
	close(thaw)
	take(t, "the reply to the resume", resumed)
	b.must(checkpoint.Stop, 1, 0)
	if alive := b.subject().Alive("suite"); len(alive) > 0 {
		t.Errorf("attempts %v live after the start", alive)
	}
}

// A job that does not end holds up neither the others whose lease is over nor those of the next time.
func TestLapseOneHangs(t *testing.T) {
	b := newBench(t)
	others := map[string]*fake{"stuck": newFake(), "first": newFake(), "second": newFake()}
	thaw := make(chan struct{})
	defer close(thaw)
	others["stuck"].linger = func(context.Context) error { <-thaw; return nil }
	b.config.Runner = func(job string, _ json.RawMessage) (runner.Runner, error) { return others[job], nil }
	b.restart()
	begin := func(job string) {
		for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume} {
			e := checkpoint.Effect{Epoch: 1, Action: action, Job: job, Attempt: 1, Containers: []string{"here"}}
			if r, err := b.agent.Do(t.Context(), agent.Order{Effect: e, Spec: json.RawMessage(`{}`), Heard: b.heard}); err != nil || r.Outcome != checkpoint.Done {
				t.Fatalf("%s of %s: %+v, %v", action, job, r, err)
			}
		}
	}
	ends := func(job string) {
		b.eventually(job+" ends", func() bool { return strings.Contains(others[job].said(), "stop 1") })
	}
	begin("stuck")
	begin("first")
	b.elapse(2)
	ends("first")
	ends("stuck")
	b.greet()
	begin("second")
	b.elapse(2)
	ends("second")
	time.Sleep(300 * time.Millisecond) // many looks, and longer than an end waits for its turn
	must.Equal(t, strings.Count(others["stuck"].said(), "stop"), 1, "calls hang")
}

// The end of Run waits for no disk that hangs.
func TestRunEndsOnFrozenDisk(t *testing.T) {
	thaw := make(chan struct{})
	b, frozen := started(t, func(op vfstest.Op) error { <-thaw; return nil })
	defer close(thaw)
	frozen.Store(true)
	b.elapse(2)
	b.awaitStop()
	ended := make(chan struct{})
	go sync.OnceFunc(func() { b.end(); close(ended) })()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the agent does not end")
	}
	if !slices.Contains(strings.Split(b.fake.said(), "; "), "stop 1") {
		t.Error("not stopped")
	}
}
