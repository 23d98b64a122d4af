// This file checks what an agent promises: once, in order, and nothing for those who were replaced.

package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
)

// fake is a framework that notes what it is told and lets a test hold it up.
type fake struct {
	mu      sync.Mutex
	calls   []string
	alive   map[int64]bool
	resumes chan struct{} // if not nil, a Resume waits until it is closed or its context ends
	began   chan struct{} // if not nil, closed when that Resume waits
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

func (f *fake) said() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.calls, "; ")
}

func (f *fake) Resume(ctx context.Context, run runner.Run) error {
	if f.resumes != nil {
		close(f.began)
		select {
		case <-f.resumes:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	text := "anew"
	if run.Restore != "" {
		data, err := os.ReadFile(filepath.Join(run.Restore, "state"))
		if err != nil {
			return err
		}
		text = string(data)
	}
	f.note("resume %d %s", run.Attempt, text)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.alive[run.Attempt] = true
	return nil
}

func (f *fake) Save(_ context.Context, run runner.Run) (runner.Saved, error) {
	f.note("save %d", run.Attempt)
	return runner.Saved{Dir: run.Dir, Files: []string{"state"}, Step: 7}, os.WriteFile(filepath.Join(run.Dir, "state"), []byte("learnt"), 0o600)
}

func (f *fake) Stop(_ context.Context, run runner.Run) error {
	f.note("stop %d", run.Attempt)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.alive, run.Attempt)
	return nil
}

func (f *fake) Progress(_ context.Context, run runner.Run) (runner.Progress, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return runner.Progress{Step: 7, Running: f.alive[run.Attempt]}, nil
}

// bench is an agent with its surroundings.
type bench struct {
	t      *testing.T
	config Config
	fake   *fake
	agent  *Agent
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, fake: &fake{alive: map[int64]bool{}}}
	b.config = Config{Name: "here", Dir: t.TempDir(), Shared: t.TempDir(), Store: &storetest.MemStore{}, Lease: time.Hour,
		Framework: func(Work) (runner.Runner, error) { return b.fake, nil }}
	b.restart()
	return b
}

// restart is what a kill and a new start of the agent do.
func (b *bench) restart() {
	b.t.Helper()
	a, err := New(b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	b.agent = a
}

func (b *bench) do(e checkpoint.Effect) (Result, error) {
	e.Job = "lr"
	e.Containers = []string{"here", "here", "there"}
	return b.agent.do(b.t.Context(), Order{Effect: e, Work: Work{Job: "lr", Start: []string{"run"}}})
}

// must does an effect that has to work.
func (b *bench) must(kind checkpoint.Action, attempt, number int64) Result {
	b.t.Helper()
	r, err := b.do(checkpoint.Effect{Epoch: 1, Action: kind, Attempt: attempt, Checkpoint: number})
	if err != nil || r.Outcome != checkpoint.Done {
		b.t.Fatalf("%s %d: %+v, %v", kind, attempt, r, err)
	}
	return r
}

func TestSaveStopResume(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.must(checkpoint.Confirm, 1, 0)
	if r := b.must(checkpoint.Save, 1, 9); r.Step != 7 {
		t.Errorf("saved step %d", r.Step)
	}
	b.must(checkpoint.Stop, 1, 0)
	b.must(checkpoint.Release, 1, 0)
	b.must(checkpoint.Create, 2, 0)
	b.must(checkpoint.Resume, 2, 9)
	if got, want := b.fake.said(), "resume 1 anew; save 1; stop 1; resume 2 learnt"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := b.agent.page("lr").Containers; n != 2 {
		t.Errorf("%d containers here, want 2", n)
	}
	r, err := b.do(checkpoint.Effect{Epoch: 1, Action: checkpoint.Resume, Attempt: 2, Checkpoint: 10})
	if err != nil || r.Outcome != checkpoint.Damaged {
		t.Errorf("checkpoint that is not there: %+v, %v", r, err)
	}
	r, err = b.do(checkpoint.Effect{Epoch: 1, Action: "dance", Attempt: 2})
	if err != nil || r.Outcome != checkpoint.Failed {
		t.Errorf("unknown effect: %+v, %v", r, err)
	}
}

func TestFences(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 3, 0)
	b.must(checkpoint.Resume, 3, 0)
	fenced := func(name string, e checkpoint.Effect) {
		t.Helper()
		before := b.fake.said()
		if r, err := b.do(e); !errors.Is(err, checkpoint.ErrFenced) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if after := b.fake.said(); after != before {
			t.Errorf("%s: did %s", name, strings.TrimPrefix(after, before))
		}
	}
	for range 2 { // the second time after the agent was killed
		fenced("older attempt", checkpoint.Effect{Epoch: 1, Action: checkpoint.Create, Attempt: 2})
		b.restart()
	}
	b.must(checkpoint.Stop, 2, 0)
	if s := b.fake.said(); strings.Contains(s, "stop") {
		t.Errorf("stopping attempt 2 did %s", s)
	}
	b.must(checkpoint.Stop, 3, 0)
	b.restart()
	fenced("stopped attempt", checkpoint.Effect{Epoch: 1, Action: checkpoint.Resume, Attempt: 3})
	if _, err := b.do(checkpoint.Effect{Epoch: 4, Action: checkpoint.Create, Attempt: 4}); err != nil {
		t.Fatal(err)
	}
	b.restart()
	fenced("older master", checkpoint.Effect{Epoch: 3, Action: checkpoint.Resume, Attempt: 4})
	if _, err := b.agent.status(t.Context(), Question{Epoch: 3}); !errors.Is(err, checkpoint.ErrFenced) {
		t.Errorf("question of an older master: %v", err)
	}
	if _, err := b.do(checkpoint.Effect{Epoch: 4, Action: checkpoint.Resume, Attempt: 9}); err == nil || errors.Is(err, checkpoint.ErrFenced) {
		t.Errorf("attempt that was not created here: %v", err)
	}
	bad := Order{Effect: checkpoint.Effect{Epoch: 4, Action: checkpoint.Create, Job: "../x", Attempt: 1}}
	if _, err := b.agent.do(t.Context(), bad); !errors.Is(err, store.ErrName) {
		t.Errorf("job ../x: %v", err)
	}
}

// A stop does not wait for a resume that takes long, and no process is started after it.
func TestStopEndsResume(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.fake.resumes, b.fake.began = make(chan struct{}), make(chan struct{})
	ended := make(chan Result, 1)
	go func() {
		r, _ := b.do(checkpoint.Effect{Epoch: 1, Action: checkpoint.Resume, Attempt: 1})
		ended <- r
	}()
	<-b.fake.began
	b.must(checkpoint.Stop, 1, 0)
	if r := <-ended; r.Outcome != checkpoint.Failed {
		t.Errorf("the resume is %+v", r)
	}
	if got := b.fake.said(); got != "stop 1" {
		t.Errorf("%s, want stop 1", got)
	}
}

func TestLease(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	if s, err := b.agent.status(t.Context(), Question{Epoch: 1}); err != nil || len(s.Jobs) != 1 || !s.Jobs[0].Progress.Running {
		t.Fatalf("%+v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	keep := func() chan error {
		ended := make(chan error, 1)
		go func() { ended <- b.agent.Keep(ctx) }()
		return ended
	}
	// A new agent knows when the master was heard last: the lease of an hour ran out long ago.
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(b.config.heardFile(), long, long); err != nil {
		t.Fatal(err)
	}
	b.restart()
	ended := keep()
	for !strings.HasSuffix(b.fake.said(), "stop 1") {
		time.Sleep(time.Millisecond)
	}
	if s, err := b.agent.status(t.Context(), Question{Epoch: 1}); err != nil || len(s.Jobs) != 0 {
		t.Errorf("after the lease: %+v, %v", s, err)
	}
	// The master may not know: it is told that the attempt failed, not that there is a newer master.
	if _, err := b.do(checkpoint.Effect{Epoch: 1, Action: checkpoint.Resume, Attempt: 1}); err == nil || errors.Is(err, checkpoint.ErrFenced) {
		t.Errorf("resume after the lease: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if strings.Count(b.fake.said(), "stop") != 1 {
		t.Errorf("stopped more than once: %s", b.fake.said())
	}
}

// The time of the last word from a master outlives the agent, however often it is heard.
func TestHeardIsKept(t *testing.T) {
	b := newBench(t)
	b.config.Lease = time.Millisecond
	b.restart()
	for range 3 {
		if _, err := b.agent.status(t.Context(), Question{}); err != nil {
			t.Fatal(err)
		}
		heard := b.agent.heard
		b.restart()
		if age := heard.Sub(b.agent.heard).Abs(); age > 10*time.Millisecond {
			t.Errorf("a new agent is %v off", age)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A master that asks often renews the lease of the next agent, too.
func TestOftenHeardIsKept(t *testing.T) {
	b := newBench(t)
	b.config.Lease = time.Second
	b.restart()
	for range 40 {
		if _, err := b.agent.status(t.Context(), Question{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	heard := b.agent.heard
	b.restart()
	if age := heard.Sub(b.agent.heard); age > b.config.Lease/20+10*time.Millisecond {
		t.Errorf("a new agent is %v off", age)
	}
}

func TestDamagedBook(t *testing.T) {
	b := newBench(t)
	if err := os.WriteFile(filepath.Join(b.config.Dir, bookFile), []byte(`{"epoch":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(b.config); err == nil || !strings.Contains(err.Error(), bookFile) {
		t.Errorf("%v", err)
	}
}

func TestContainersOn(t *testing.T) {
	if n := containersOn(slices.Repeat([]string{"a", "b"}, 3), "b"); n != 3 {
		t.Error(n)
	}
}
