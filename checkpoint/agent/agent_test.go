// This file checks the ready-made agent: the promises of the suite over a runner in memory, and what only an
// agent with folders, a store and several effects at once can get wrong.

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// fake is a runner that notes what it is told. It outlives its agent, as processes do.
type fake struct {
	mu     sync.Mutex
	calls  []string
	alive  map[int64]bool
	starts map[int64]int
	failed error                       // what a Stop fails with
	died   string                      // why a process has failed that does not live; empty: it has not
	wait   func(context.Context) error // what a Resume or a Save comes upon; nil: nothing
	linger func(context.Context) error // the same for a Stop
}

func newFake() *fake { return &fake{alive: map[int64]bool{}, starts: map[int64]int{}} }

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
	if f.wait != nil {
		if err := f.wait(ctx); err != nil {
			return err
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
	f.starts[run.Attempt]++
	return nil
}

func (f *fake) Save(ctx context.Context, run runner.Run) (runner.Saved, error) {
	if f.wait != nil {
		if err := f.wait(ctx); err != nil {
			return runner.Saved{}, err
		}
	}
	f.note("save %d", run.Attempt)
	return runner.Saved{Dir: run.Dir, Files: []string{"state"}, Step: 7}, os.WriteFile(filepath.Join(run.Dir, "state"), []byte("learnt"), 0o600)
}

func (f *fake) Stop(ctx context.Context, run runner.Run) error {
	f.note("stop %d", run.Attempt)
	if f.linger != nil {
		if err := f.linger(ctx); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		clear(f.alive)
	}
	return f.failed
}

func (f *fake) Progress(_ context.Context, run runner.Run) (runner.Progress, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return runner.Progress{Step: 7, Running: f.alive[run.Attempt], Failed: f.died}, nil
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// bench is an agent with its surroundings.
type bench struct {
	t      testing.TB
	config agent.Config
	fake   *fake
	agent  *agent.Agent
	now    atomic.Int64 // the clock
	heard  agent.Stamp
	end    func() // ends the agent's loop
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, fake: newFake(), end: func() {}}
	b.config = agent.Config{Server: "here", Disk: vfstest.NewMem(), Shared: t.TempDir(), Restored: t.TempDir(),
		Store: &storetest.MemStore{}, Lease: 100 * time.Millisecond,
		Runner: func(string, json.RawMessage) (runner.Runner, error) { return b.fake, nil },
		Clock:  func() agent.Stamp { return agent.Stamp{Boot: "b", At: time.Duration(b.now.Load())} }}
	b.now.Store(int64(time.Hour))
	b.restart()
	t.Cleanup(func() { b.end() })
	return b
}

// restart is what a kill and a new start of the agent do.
func (b *bench) restart() {
	b.t.Helper()
	b.end()
	a := must.Have(agent.New(b.config))(b.t)
	b.agent = a
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); a.Run(ctx) }()
	b.end = sync.OnceFunc(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			b.t.Error("Run does not end")
			return
		}
		if err := a.Close(); err != nil {
			b.t.Error(err)
		}
	})
	b.greet()
}

// take returns what comes from a channel. A test whose agent hangs says what it has waited for, and does not hang with it.
func take[T any](t testing.TB, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(time.Minute):
		t.Fatalf("never: %s", what)
	}
	return v
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("never: %s", what)
		}
	}
}

// greet has the agent's lease renewed by all orders from now on.
func (b *bench) greet() {
	b.t.Helper()
	s := must.Have(b.agent.Status(b.t.Context(), agent.Question{Epoch: 1 << 40}))(b.t)
	b.heard = s.Clock
}

// awaitHeard waits until the stamp that orders hand back is on the disk, where it is written beside the orders.
func (b *bench) awaitHeard() {
	b.t.Helper()
	want, err := json.Marshal(b.heard)
	for range 1000 {
		if err == nil && vfstest.Content(b.config.Disk, agent.HeardFile) == string(want) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	b.t.Fatalf("%s is not on the disk, %v", want, err)
}

func (b *bench) subject() *agenttest.Subject {
	return &agenttest.Subject{
		Agent: b.agent, Server: "here", Store: b.config.Store, Elapse: b.elapse,
		Alive: func(job string) []int64 {
			if job != "suite" {
				return nil
			}
			b.fake.mu.Lock()
			defer b.fake.mu.Unlock()
			var list []int64
			for attempt := range b.fake.alive {
				list = append(list, attempt)
			}
			slices.Sort(list)
			return list
		},
		Starts: func(_ string, attempt int64) int {
			b.fake.mu.Lock()
			defer b.fake.mu.Unlock()
			return b.fake.starts[attempt]
		},
		Containers: func(job string) int {
			book := must.Have(agent.OpenBook(b.config.Disk, "here"))(b.t)
			return book.Page(job).Containers
		},
		Kill: func(string) { b.fake.set(func() { clear(b.fake.alive) }) },
	}
}

func (b *bench) elapse(part float64) { b.now.Add(int64(part * float64(b.config.Lease))) }

func TestSuite(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) *agenttest.Subject {
		b := newBench(t)
		s := b.subject()
		s.Restart = func() error { b.restart(); s.Agent = b.agent; return nil }
		s.Forget = func() error {
			b.config.Disk = vfstest.NewMem()
			b.fake.set(func() { clear(b.fake.alive) })
			return s.Restart()
		}
		return s
	})
}

func (b *bench) do(e checkpoint.Effect) checkpoint.Reply {
	b.t.Helper()
	e.Job, e.Epoch = "lr", max(e.Epoch, 1)
	e.Containers = []string{"here", "here", "there"}
	replied := make(chan checkpoint.Reply, 1)
	order := agent.Order{Effect: e, Spec: json.RawMessage(`{}`), Heard: b.heard}
	go func() {
		r, err := b.agent.Do(b.t.Context(), order)
		if err != nil {
			b.t.Error(err)
		}
		replied <- r
	}()
	select {
	case r := <-replied:
		return r
	case <-time.After(20 * time.Second):
		b.t.Errorf("%s of attempt %d hangs", e.Action, e.Attempt)
		return checkpoint.Reply{}
	}
}

// must does an effect that has to work.
func (b *bench) must(action checkpoint.Action, attempt, number int64) checkpoint.Reply {
	b.t.Helper()
	r := b.do(checkpoint.Effect{Action: action, Attempt: attempt, Checkpoint: number})
	must.Equal(b.t, r.Outcome, checkpoint.Done, action, attempt, r)
	return r
}

// saved reads the agent's book as the next agent would.
func (b *bench) page() agent.Page {
	b.t.Helper()
	book := must.Have(agent.OpenBook(b.config.Disk, "here"))(b.t)
	return book.Page("lr")
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
	if p := b.page(); p.Containers != 2 || p.Created != 2 || p.Resumed != 2 || p.Stopped != 1 || string(p.Spec) != "{}" || p.Run.Attempt != 2 {
		t.Errorf("the book says %+v", p)
	}
	for action, text := range map[checkpoint.Action]string{"dance": `effect "dance"`, checkpoint.Prune: `effect "prune"`} {
		if r := b.do(checkpoint.Effect{Action: action, Attempt: 2}); r.Outcome != checkpoint.Failed || !strings.Contains(r.Detail, text) {
			t.Errorf("%s: %+v", action, r)
		}
	}
	bad := agent.Order{Effect: checkpoint.Effect{Epoch: 4, Action: checkpoint.Create, Job: "x\x00", Attempt: 1}}
	if r, err := b.agent.Do(t.Context(), bad); err != nil || r.Outcome != checkpoint.Failed {
		t.Errorf("a job with a NUL: %+v, %v", r, err)
	}
	// A job may be called as a path is; its folder lies in Shared all the same.
	for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume} {
		odd := agent.Order{Effect: checkpoint.Effect{Epoch: 4, Action: action, Job: "../x", Attempt: 1, Containers: []string{"here"}}, Spec: json.RawMessage(`{}`)}
		if r, err := b.agent.Do(t.Context(), odd); err != nil || r.Outcome != checkpoint.Done {
			t.Errorf("%s of job ../x: %+v, %v", action, r, err)
		}
	}
	must.Have(os.Stat(filepath.Join(b.config.Shared, "..%2Fx", "1")))(t, "the folder of job ../x")
}

// A stop does not wait for a resume that takes long, and no process is started after it.
func TestStopEndsResume(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	began := make(chan struct{})
	b.fake.wait = func(ctx context.Context) error { close(began); <-ctx.Done(); return ctx.Err() }
	ended := make(chan checkpoint.Reply, 1)
	go func() { ended <- b.do(checkpoint.Effect{Action: checkpoint.Resume, Attempt: 1}) }()
	take(t, "the runner is asked", began)
	b.must(checkpoint.Stop, 1, 0)
	if r := take(t, "the reply", ended); r.Outcome != checkpoint.Failed {
		t.Errorf("the resume is %+v", r)
	}
	must.Equal(t, b.fake.said(), "stop 1")
}

// A runner that is starting processes, and does not listen, is stopped after it has started them: what was begun
// before the stop is not forgotten.
func TestStopFollowsStart(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	began, release := make(chan struct{}), make(chan struct{})
	b.fake.wait = func(context.Context) error { close(began); <-release; return nil }
	resumed := make(chan checkpoint.Reply, 1)
	go func() { resumed <- b.do(checkpoint.Effect{Action: checkpoint.Resume, Attempt: 1}) }()
	take(t, "the runner is asked", began)
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	b.must(checkpoint.Stop, 1, 0)
	take(t, "the reply to the resume", resumed)
	// Where the machine is busy the processes are ended out of turn as well, before.
	if got := b.fake.said(); !strings.HasSuffix(got, "resume 1 anew; stop 1") {
		t.Errorf("the runner was told to %s", got)
	}
}

// hung is a store in which nothing comes to an end.
type hung struct {
	store.Store
	met chan struct{}
}

func (h hung) Begin(context.Context, string, int64) (store.Writer, error) {
	close(h.met)
	select {}
}

// A store that hangs holds up neither the stop nor the end of the lease.
func TestStopPassesHungStore(t *testing.T) {
	for _, lapses := range []bool{false, true} {
		b := newBench(t)
		h := hung{b.config.Store, make(chan struct{})}
		b.config.Store = h
		b.restart()
		b.must(checkpoint.Create, 1, 0)
		b.must(checkpoint.Resume, 1, 0)
		ended := make(chan checkpoint.Reply, 1)
		go func() { ended <- b.do(checkpoint.Effect{Action: checkpoint.Save, Attempt: 1, Checkpoint: 3}) }()
		take(t, "the store is asked", h.met)
		if lapses {
			b.elapse(2)
		} else {
			b.must(checkpoint.Stop, 1, 0)
		}
		if r := take(t, "the reply", ended); r.Outcome != checkpoint.Failed {
			t.Errorf("the save is %+v", r)
		}
		b.awaitStop()
	}
}

func (b *bench) awaitStop() {
	b.t.Helper()
	for limit := time.Now().Add(10 * time.Second); !strings.Contains(b.fake.said(), "stop 1"); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			b.t.Fatalf("not stopped: %s", b.fake.said())
		}
	}
}

// A lease that is over ends the processes also where the disk takes nothing more: they end first.
func TestLapseNeedsNoDisk(t *testing.T) {
	b := newBench(t)
	full := atomic.Bool{}
	b.config.Disk = vfstest.Hooked(b.config.Disk, func(vfstest.Op, string) error {
		if full.Load() {
			return errors.New("no space left")
		}
		return nil
	})
	told := b.listen()
	b.restart()
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	full.Store(true)
	b.elapse(2)
	b.awaitStop()
	b.await(told, "no space left")
	full.Store(false)
	b.eventually("the book says that the attempt has lapsed", func() bool { return b.page().Lapsed == 1 })
}

// listen has the agent that is started next tell what goes wrong.
func (b *bench) listen() chan error {
	told := make(chan error, 1)
	b.config.Report = func(err error) {
		select {
		case told <- err:
		default: // nobody has taken the one before
		}
	}
	return told
}

// await waits until an error with a text is told.
func (b *bench) await(told chan error, text string) {
	b.t.Helper()
	for limit := time.After(10 * time.Second); ; {
		select {
		case err := <-told:
			if strings.Contains(err.Error(), text) {
				return
			}
		case <-limit:
			b.t.Fatalf("nobody says %q", text)
		}
	}
}

func (b *bench) eventually(what string, is func() bool) {
	b.t.Helper()
	eventually(b.t, what, is)
}

// Processes that do not end when the lease is over are no success: the agent says so, and goes on until they do.
func TestLapseFails(t *testing.T) {
	b := newBench(t)
	told := b.listen()
	b.restart()
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.fake.set(func() { b.fake.failed = errors.New("immortal") })
	b.elapse(2)
	b.await(told, "immortal")
	b.fake.set(func() { b.fake.failed = nil })
	b.eventually("the processes are ended", func() bool { return len(b.subject().Alive("suite")) == 0 })
}

// An attempt whose lease was over is ended once, and once more by the next agent at most.
func TestLapseOnce(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.elapse(2)
	b.awaitStop()
	time.Sleep(b.config.Lease / 2) // ten more looks
	must.Equal(t, strings.Count(b.fake.said(), "stop"), 1, "stopped", "times")
}

// A Stop and the end of the lease wait for each other, whoever comes first: the job ends, both succeed, and the
// agent goes on.
func TestStopDuringLapse(t *testing.T) {
	for _, stopFirst := range []bool{false, true} {
		b := newBench(t)
		b.must(checkpoint.Create, 1, 0)
		b.must(checkpoint.Resume, 1, 0)
		began, release := make(chan struct{}), make(chan struct{})
		begin := sync.OnceFunc(func() { close(began) })
		b.fake.linger = func(ctx context.Context) error {
			begin()
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-release:
				return nil
			}
		}
		stopped := make(chan checkpoint.Reply, 1)
		stop := func() { stopped <- b.do(checkpoint.Effect{Action: checkpoint.Stop, Attempt: 1}) }
		if stopFirst {
			go stop()
			take(t, "the runner is asked", began)
			b.elapse(2)
		} else {
			b.elapse(2)
			take(t, "the runner is asked", began)
			go stop()
		}
		time.Sleep(b.config.Lease / 2) // ten more looks, and the Stop has entered
		close(release)
		if r := take(t, "the reply to the stop", stopped); r.Outcome != checkpoint.Done {
			t.Errorf("stop first %v: the stop is %+v", stopFirst, r)
		}
		if alive := b.subject().Alive("suite"); len(alive) > 0 {
			t.Errorf("stop first %v: attempts %v are alive", stopFirst, alive)
		}
		b.end() // reports what Run has returned
	}
}

// A Stop that fails leaves the end of the processes to the lease.
func TestLapseFollowsFailedStop(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.fake.set(func() { b.fake.failed = errors.New("immortal") })
	if r := b.do(checkpoint.Effect{Action: checkpoint.Stop, Attempt: 1}); r.Outcome != checkpoint.Failed {
		t.Fatalf("the stop is %+v", r)
	}
	b.fake.set(func() { b.fake.failed = nil })
	b.elapse(2)
	for limit := time.Now().Add(10 * time.Second); len(b.subject().Alive("suite")) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not ended: %s", b.fake.said())
		}
	}
}

// The newest stamp outlives the agent, to a twentieth of the lease, and a stamp that cannot be read is none.
func TestHeardIsKept(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	for range 40 { // four leases, by ten questions each
		b.elapse(0.1)
		s := must.Have(b.agent.Status(t.Context(), agent.Question{Epoch: 1, Heard: b.heard}))(t)
		b.heard = s.Clock
		time.Sleep(time.Millisecond) // the note is written beside
	}
	b.restart()
	b.elapse(0.6)
	time.Sleep(b.config.Lease / 2)
	if s := b.fake.said(); strings.Contains(s, "stop") {
		t.Errorf("the lease of the next agent is over too early: %s", s)
	}
	b.elapse(0.4)
	b.awaitStop()
}

// A stamp that could not be written down is written down with the next word of the master.
func TestStampIsWrittenAgain(t *testing.T) {
	b := newBench(t)
	var full, failed atomic.Bool
	full.Store(true)
	b.config.Disk = vfstest.Hooked(b.config.Disk, func(op vfstest.Op, name string) error {
		if op == vfstest.Create && strings.HasPrefix(name, agent.HeardFile) && full.Load() {
			failed.Store(true)
			return vfstest.ErrInjected
		}
		return nil
	})
	b.restart()
	b.must(checkpoint.Create, 1, 0)
	b.eventually("the stamp cannot be written", failed.Load)
	full.Store(false)
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		b.must(checkpoint.Create, 1, 0) // hands the same stamp back
		if file, err := b.config.Disk.Open(agent.HeardFile); err == nil {
			_ = file.Close()
			return
		}
		if time.Now().After(limit) {
			t.Fatal("the stamp was never written down")
		}
	}
}

func TestUnreadableStamp(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	b.eventually("the stamp, which is written beside, is there", func() bool { return b.config.Disk.Remove(agent.HeardFile) == nil })
	b.end()
	write(t, b.config.Disk, agent.HeardFile, `{"boot":"b","a`)
	b.restart()
	b.awaitStop()
}

func write(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	file, err := fsys.Create(name)
	if err == nil {
		_, err = file.Write([]byte(text))
	}
	if err == nil {
		err = file.Close()
	}
	must.Do(t, err)
}

// closer is a runner that is closed when it is not needed any more.
type closer struct {
	*fake
	closed atomic.Int64
}

func (c *closer) Close() error { c.closed.Add(1); return nil }

// A job that comes back under its old name with another Spec gets another runner.
func TestSpecChanges(t *testing.T) {
	b := newBench(t)
	made := map[string]*closer{}
	b.config.Runner = func(_ string, spec json.RawMessage) (runner.Runner, error) {
		made[string(spec)] = &closer{fake: b.fake}
		return made[string(spec)], nil
	}
	b.restart()
	for attempt, spec := range []string{`"a"`, `"b"`} {
		for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume, checkpoint.Confirm, checkpoint.Stop} {
			e := checkpoint.Effect{Epoch: 1, Action: action, Job: "lr", Attempt: int64(attempt + 1), Containers: []string{"here"}}
			if r, err := b.agent.Do(t.Context(), agent.Order{Effect: e, Spec: json.RawMessage(spec), Heard: b.heard}); err != nil || r.Outcome != checkpoint.Done {
				t.Fatalf("%s: %+v, %v", action, r, err)
			}
		}
	}
	b.end()
	if len(made) != 2 || made[`"a"`].closed.Load() != 1 || made[`"b"`].closed.Load() != 1 {
		t.Errorf("%d runners, closed %d and %d times", len(made), made[`"a"`].closed.Load(), made[`"b"`].closed.Load())
	}
}

func TestUptime(t *testing.T) {
	before := agent.Uptime()
	time.Sleep(30 * time.Millisecond)
	after := agent.Uptime()
	if passed := after.At - before.At; before.Boot == "" || before.Boot != after.Boot || passed < 10*time.Millisecond || passed > time.Minute {
		t.Errorf("%+v, and then %+v", before, after)
	}
}

func TestConfig(t *testing.T) {
	_, err := agent.New(agent.Config{Lease: -1})
	var faults apportion.Faults
	if !errors.As(err, &faults) || len(faults) != 7 || !errors.Is(err, apportion.ErrNegative) {
		t.Errorf("%v", err)
	}
}
