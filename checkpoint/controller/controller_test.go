// This file tests a controller on a cluster in memory: jobs are shared, resized, finished and moved, whatever goes away.

package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// fake is a cluster manager in memory with a view that a test changes.
type fake struct {
	*managedtest.Cluster
	mu    sync.Mutex
	looks atomic.Int64
	view  controller.View
	blind bool
	ended map[string]checkpoint.Ending
	// why is what was said of the job that has ended last.
	why   string
	specs map[string]string
	// forgotten are the jobs of which it was to forget what it keeps.
	forgotten []string
}

func (f *fake) Start(ctx context.Context, task managed.Task) error {
	f.mu.Lock()
	if f.specs == nil {
		f.specs = map[string]string{}
	}
	f.specs[task.Job] = string(task.Spec)
	f.mu.Unlock()
	return f.Cluster.Start(ctx, task)
}

func (f *fake) Look(context.Context) (*controller.View, error) {
	f.looks.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blind {
		return nil, errors.New("nobody answers")
	}
	return &controller.View{Servers: slices.Clone(f.view.Servers), Jobs: slices.Clone(f.view.Jobs), Rejected: maps.Clone(f.view.Rejected), Withdrawn: f.view.Withdrawn, Waiting: slices.Clone(f.view.Waiting), Queues: slices.Clone(f.view.Queues)}, nil
}

func (f *fake) Ended(_ context.Context, job string, how checkpoint.Ending, why string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended[job] = how
	f.why = why
	f.view.Jobs = slices.DeleteFunc(f.view.Jobs, func(j controller.Job) bool { return j.Application.ID == job })
	delete(f.view.Rejected, job)
	return nil
}

func (f *fake) Forget(_ context.Context, job string) error {
	f.mu.Lock()
	f.forgotten = append(f.forgotten, job)
	f.mu.Unlock()
	f.Cluster.ForgetJob(job)
	return nil
}

func (f *fake) change(how func(*controller.View)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(&f.view)
}

// bench is a controller on a cluster of three servers with four GPUs each.
type bench struct {
	*testing.T
	fake   *fake
	disk   *vfstest.Mem
	config controller.Config
	// saveLimit is that of the machine.
	saveLimit time.Duration

	mu   sync.Mutex
	c    *controller.Controller
	stop func()
	// reports are what was told to go wrong.
	reports []string
}

const lease = 600 * time.Millisecond

func newBench(t *testing.T) *bench {
	b := &bench{T: t, disk: vfstest.NewMem(), fake: &fake{ended: map[string]checkpoint.Ending{}}}
	b.fake.Cluster = managedtest.New(func() *guard.Desk { return b.now().Desk() }, nil)
	for _, id := range []string{"n1", "n2", "n3"} {
		b.fake.view.Servers = append(b.fake.view.Servers, controller.Server{Server: apportion.Server{ID: id, Capacity: apportion.Resources{4}}})
	}
	report := func(err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reports = append(b.reports, err.Error())
	}
	b.config = controller.Config{Cluster: b.fake, Report: report, Store: &storetest.MemStore{}, Dir: t.TempDir(), Shared: managedtest.Shared(t), Secret: wire.NewSecret(),
		Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Options: alloc.Options{RestartCost: new(float64)}}, // all that is equal decides the loss
		Lease:   lease, Look: 5 * time.Millisecond, Missing: 50 * time.Millisecond, Settle: 5 * time.Millisecond, Options: &driver.Options{Poll: 10 * time.Millisecond}}
	b.begin()
	ctx, cancel := context.WithCancel(context.Background())
	var under sync.WaitGroup
	under.Go(func() {
		if err := b.fake.Cluster.Run(ctx, time.Millisecond); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { b.stop(); cancel(); under.Wait() })
	return b
}

func (b *bench) now() *controller.Controller {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.c
}

func (b *bench) begin() {
	b.Helper()
	machine, records, err := journal.Open(b.disk, checkpoint.Config{Kinds: b.config.Problem.Kinds, Backoff: 10 * time.Millisecond, SaveLimit: b.saveLimit})
	if err != nil {
		b.Fatal(err)
	}
	b.config.Machine, b.config.Journal = machine, records
	c := must.Have(controller.New(b.config))(b)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.c = c
	b.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
}

func (b *bench) submit(most int64, ids ...string) {
	b.fake.change(func(v *controller.View) {
		for _, id := range ids {
			v.Jobs = append(v.Jobs, controller.Job{Spec: json.RawMessage(strconv.Quote(id)),
				Application: alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: most}}})
		}
	})
}

// held is how many containers each job that runs has.
func (b *bench) held() map[string]int {
	held := map[string]int{}
	state := b.now().State()
	for i := range state.Jobs {
		if j := &state.Jobs[i]; j.Phase == checkpoint.Running && j.Order == 0 {
			held[j.Name] = len(j.Containers)
		}
	}
	return held
}

// job is how a job stands.
func (b *bench) job(id string) checkpoint.Job {
	state := b.now().State()
	j, _ := state.Job(id)
	return j.Job
}

// holds waits until the jobs that run have so many containers each.
func (b *bench) holds(want map[string]int) {
	b.Helper()
	b.eventually(fmt.Sprintf("the jobs hold %v", want), func() bool { return fmt.Sprint(b.held()) == fmt.Sprint(want) })
}

func (b *bench) eventually(what string, is func() bool) {
	b.Helper()
	for limit := time.Now().Add(20 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(limit) {
			text, _ := json.Marshal(b.now().Report())
			b.Fatalf("never: %s\n%s", what, text)
		}
	}
}

// watch fails the test whenever containers of two attempts of a job live at the same time.
func (b *bench) watch(ids ...string) {
	ctx, cancel := context.WithCancel(context.Background())
	var under sync.WaitGroup
	under.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			for _, id := range ids {
				attempts := map[int64]bool{}
				b.fake.Each(id, func(c *managedtest.Container) {
					if c.Alive() {
						attempts[c.Attempt] = true
					}
				})
				if len(attempts) > 1 {
					b.Errorf("attempts %v of job %s live", attempts, id)
					return
				}
			}
		}
	})
	b.Cleanup(func() { cancel(); under.Wait() })
}

// Jobs come and go, and those that are there share what there is.
func TestJobsAreShared(t *testing.T) {
	b := newBench(t)
	b.watch("a", "b", "c")
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.submit(12, "b", "c")
	b.holds(map[string]int{"a": 4, "b": 4, "c": 4})
	// One that has done its work is told to the manager, and forgotten when that has it no more.
	id := guard.ID{Job: "a", Attempt: b.job("a").Attempt, Server: "n1"}
	b.fake.Each("a", func(c *managedtest.Container) { c.End(guard.End{}) })
	b.holds(map[string]int{"b": 6, "c": 6})
	b.eventually("the job is forgotten", func() bool { s := b.now().State(); return len(s.Jobs) == 2 })
	b.eventually("the desk has forgotten it too", func() bool {
		grant, err := b.now().Desk().Answer(guard.Claim{ID: id, Life: "x"})
		return err != nil && grant.Fenced == ""
	})
	b.fake.mu.Lock()
	must.Equal(t, fmt.Sprint(b.fake.forgotten), "[a]", "the manager was to forget")
	b.fake.mu.Unlock()
	must.Equal(t, b.fake.ended["a"], checkpoint.Completed, "it has ended")
	if list, err := b.config.Store.List(t.Context(), "a"); err != nil || len(list) > 0 {
		t.Errorf("%d checkpoints are left, %v", len(list), err)
	}
	// One that is withdrawn is cancelled, and its name may be used again.
	b.fake.change(func(v *controller.View) { v.Jobs = v.Jobs[1:] })
	b.holds(map[string]int{"c": 12})
	b.submit(2, "b", "a")
	b.holds(map[string]int{"a": 2, "b": 2, "c": 8})
	b.fake.mu.Lock()
	if b.fake.specs["b"] != `"b"` || b.fake.specs["c"] != `"c"` {
		t.Errorf("what jobs run was not handed on: %v", b.fake.specs)
	}
	b.fake.mu.Unlock()
	// Nobody has lost what was saved: every resize has resumed from a checkpoint.
	if j := b.job("c"); j.Newest().Number == 0 {
		t.Errorf("%+v", j)
	}
}

// A server that the manager calls down while its containers live on: its jobs go on elsewhere when the leases are over, and
// never before.
func TestServerIsDown(t *testing.T) {
	b := newBench(t)
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.watch("a")
	b.fake.SetDown("n2", true)
	b.fake.change(func(v *controller.View) { v.Servers[1].Down = "its heartbeat is missing" })
	b.holds(map[string]int{"a": 8})
	b.fake.SetDown("n2", false)
	b.fake.change(func(v *controller.View) { v.Servers[1].Down = "" })
	b.holds(map[string]int{"a": 12})
	// That a server is down is shown with it, and is no fault that anybody is told of again and again.
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.ContainsFunc(b.reports, func(text string) bool { return strings.Contains(text, "not up") }) {
		t.Errorf("%q", b.reports)
	}
}

// A server that is cut off, and tells nobody that its containers have ended: its jobs wait until nothing can live there any more,
// and go on elsewhere then.
func TestServerIsCutOff(t *testing.T) {
	b := newBench(t)
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.watch("a")
	before := time.Now()
	b.fake.SetDown("n2", true)
	b.fake.Each("a", func(c *managedtest.Container) { c.Deaf = c.Server == "n2" })
	b.fake.change(func(v *controller.View) { v.Servers[1].Down = "its heartbeat is missing" })
	b.holds(map[string]int{"a": 8})
	// The lease, a tenth of it, and two seconds to kill. A little was over already when the server went down.
	if waited, least := time.Since(before), lease+lease/10+2*time.Second; waited < least*3/4 {
		t.Errorf("its jobs went on elsewhere after %v, and may have lived for %v", waited, least)
	}
}

// A server that is drained is left by all, with what they have saved, and used again when the drain is over.
func TestDrain(t *testing.T) {
	b := newBench(t)
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.watch("a")
	b.fake.change(func(v *controller.View) { v.Servers[0].Draining = true })
	b.holds(map[string]int{"a": 8})
	if live := b.fake.Live("a", "n1"); len(live) > 0 {
		t.Errorf("attempts %v live on the drained server", live)
	}
	b.fake.change(func(v *controller.View) { v.Servers[0].Draining = false })
	b.holds(map[string]int{"a": 12})
}

// A controller that is started anew goes on with what runs. One that was replaced ends.
func TestNextController(t *testing.T) {
	b := newBench(t)
	b.submit(6, "a", "b")
	b.holds(map[string]int{"a": 6, "b": 6})
	before := b.job("a")
	b.stop()
	b.begin()
	b.holds(map[string]int{"a": 6, "b": 6})
	time.Sleep(2 * lease)
	after := b.job("a")
	if after.Attempt != before.Attempt || len(b.fake.Live("a", after.Containers[0])) != 1 {
		t.Errorf("attempt %d before, %+v after", before.Attempt, after)
	}
	old := b.now()
	b.mu.Lock()
	b.stop = func() {}
	b.mu.Unlock()
	b.begin()
	b.submit(6, "c")
	b.eventually("the old one knows that it was replaced", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := old.Await(ctx, func(*driver.State) bool { return false })
		return errors.Is(err, driver.ErrEnded)
	})
	b.holds(map[string]int{"a": 4, "b": 4, "c": 4})
}

// A controller that was replaced while it has nothing to write finds out by itself: from the first moment on it vouches for
// nothing, and it ends soon.
func TestReplacedWhileIdle(t *testing.T) {
	b := newBench(t)
	b.submit(6, "a")
	b.holds(map[string]int{"a": 6})
	idle, ended := b.beginIdle()
	job := b.job("a")
	id := guard.ID{Job: "a", Attempt: job.Attempt, Server: job.Containers[0]}
	b.eventually("it has vouched for what runs", func() bool {
		seen, _ := idle.Desk().Seen(id)
		return !seen.Granted.IsZero() && fmt.Sprint(b.held()) == "map[a:6]" && idle.Last().Decision != nil
	})
	time.Sleep(10 * b.config.Look) // what is new to it is written by now
	seen, _ := idle.Desk().Seen(id)
	b.begin()
	if grant, err := idle.Desk().Answer(seen.Claim); !errors.Is(err, checkpoint.ErrFenced) {
		t.Errorf("%+v, %v", grant, err)
	}
	b.endsReplaced(ended)
	b.holds(map[string]int{"a": 6})
}

// So does one that has no jobs, and would never write again.
func TestReplacedWithoutJobs(t *testing.T) {
	b := newBench(t)
	_, ended := b.beginIdle()
	b.eventually("it has seen the cluster", func() bool { s := b.now().State(); return len(s.Servers) == 3 })
	time.Sleep(10 * b.config.Look) // what is new to it is written by now
	b.begin()
	b.endsReplaced(ended)
}

// deaf is a journal that tells nobody whether its master leads.
type deaf struct{ driver.Journal }

// A controller whose driver ends, since it writes and another has the journal, ends with all its loops.
func TestEndsWithItsDriver(t *testing.T) {
	b := newBench(t)
	b.stop()
	machine, records, err := journal.Open(b.disk, checkpoint.Config{Kinds: b.config.Problem.Kinds})
	if err != nil {
		t.Fatal(err)
	}
	config := b.config
	config.Machine, config.Journal = machine, deaf{records}
	c := must.Have(controller.New(config))(t)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	b.begin()
	b.submit(4, "a")
	b.endsReplaced(ended)
	b.holds(map[string]int{"a": 4})
}

// beginIdle starts a controller that saves nothing by itself, in place of the one that runs, and that nobody stops.
func (b *bench) beginIdle() (idle *controller.Controller, ended <-chan error) {
	b.Helper()
	b.stop()
	b.config.Options = &driver.Options{Poll: 10 * time.Millisecond, SaveEvery: time.Hour}
	machine, records, err := journal.Open(b.disk, checkpoint.Config{Kinds: b.config.Problem.Kinds})
	if err != nil {
		b.Fatal(err)
	}
	config := b.config
	config.Machine, config.Journal = machine, records
	idle = must.Have(controller.New(config))(b)
	b.mu.Lock()
	b.c, b.stop = idle, func() {}
	b.mu.Unlock()
	end := make(chan error, 1)
	go func() { end <- idle.Run(context.Background()) }()
	return idle, end
}

// endsReplaced waits until a controller has ended since another has its journal.
func (b *bench) endsReplaced(ended <-chan error) {
	b.Helper()
	select {
	case err := <-ended:
		must.Err(b, err, checkpoint.ErrFenced, "it has ended with")
	case <-time.After(60 * time.Second):
		b.Fatal("it goes on")
	}
}

// A job that is missing for a moment, as after the manager was started again, keeps all that it has. One that its user has
// stopped is not waited for.
func TestMissingForAMoment(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.config.Missing = time.Hour
	b.begin()
	b.submit(6, "a", "b")
	b.holds(map[string]int{"a": 6, "b": 6})
	before := b.job("a")
	var jobs []controller.Job
	b.fake.change(func(v *controller.View) { jobs, v.Jobs = v.Jobs, nil })
	time.Sleep(100 * time.Millisecond)
	if after := b.job("a"); after.Ending != "" || after.Attempt != before.Attempt {
		t.Errorf("%+v", after)
	}
	b.fake.change(func(v *controller.View) { v.Jobs, v.Withdrawn = jobs[:1], []string{"b"} })
	b.holds(map[string]int{"a": 6})
	if after := b.job("a"); after.Attempt != before.Attempt {
		t.Errorf("%+v", after)
	}
}

// While the manager cannot be asked everything goes on as it is. Time is virtual: a machine that is late is not taken for a lost lease.
func TestBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.submit(12, "a")
		b.holds(map[string]int{"a": 12})
		before := b.job("a")
		b.fake.mu.Lock()
		b.fake.blind = true
		b.fake.mu.Unlock()
		looks := b.fake.looks.Load()
		time.Sleep(3 * lease)
		if after := b.job("a"); after.Attempt != before.Attempt || after.Phase != checkpoint.Running || b.fake.looks.Load() == looks {
			t.Errorf("%+v after %d looks", after, b.fake.looks.Load()-looks)
		}
	})
}

// A job that cannot be understood is told so and holds up nobody; one that runs stays as it is when that happens to it.
func TestRejected(t *testing.T) {
	b := newBench(t)
	b.submit(4, "a")
	b.holds(map[string]int{"a": 4})
	b.fake.change(func(v *controller.View) {
		bad := v.Jobs[0]
		bad.Application.ID, bad.Application.Weight = "bad", -1
		v.Jobs = append(v.Jobs, bad)
		v.Rejected = map[string]string{"worse": "its min is no number"}
	})
	b.eventually("the faults are told", func() bool {
		r := b.now().Report()
		return strings.Contains(r.Rejected["bad"], "Weight") && r.Rejected["worse"] != "" && r.Fault == ""
	})
	b.fake.change(func(v *controller.View) { v.Jobs[0].Application.Max = -1 })
	b.submit(12, "b")
	b.holds(map[string]int{"a": 4, "b": 8})
	b.fake.change(func(v *controller.View) { v.Jobs[0].Application.Max = 2; v.Jobs = slices.Delete(v.Jobs, 1, 2) })
	b.holds(map[string]int{"a": 2, "b": 10})
	if r := b.now().Report(); r.Rejected["bad"] != "" {
		t.Errorf("%+v", r)
	}
}

// What cannot be decided is told, and tried again; what was decided before counts on.
func TestNoDecision(t *testing.T) {
	var broken atomic.Bool
	b := newBench(t)
	b.stop()
	var d alloc.Decider
	b.config.Decide = func(ctx context.Context, p *alloc.Problem) (*alloc.Decision, error) {
		if broken.Load() {
			return nil, errors.New("a bad mood")
		}
		return d.Reallocate(ctx, p)
	}
	b.begin()
	b.submit(4, "a")
	b.holds(map[string]int{"a": 4})
	broken.Store(true)
	b.submit(4, "b")
	b.eventually("the fault is told", func() bool { return b.now().Report().Fault == "a bad mood" })
	if held := b.held(); held["a"] != 4 {
		t.Errorf("%v", held)
	}
	if text, err := b.now().Explain(); err != nil || !strings.Contains(text, "a bad mood") {
		t.Errorf("%q, %v", text, err)
	}
	broken.Store(false)
	b.holds(map[string]int{"a": 4, "b": 4})
}

// A decision that was cut short has no bound, and is told all the same.
func TestNoBound(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.config.Decide = func(ctx context.Context, p *alloc.Problem) (*alloc.Decision, error) {
		d, err := alloc.Reallocate(ctx, p, nil)
		if err == nil {
			d.Bound, d.Gap, d.Certificate.Multipliers = math.Inf(1), math.Inf(1), nil
		}
		return d, err
	}
	b.begin()
	b.submit(4, "a")
	b.holds(map[string]int{"a": 4})
	for _, path := range []string{"/state", "/decision", "/metrics", "/"} {
		if answer := b.get(path); answer.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
}

// A job whose runs die without a step further ends as failed, and so does one that the signal for saving ends; one that gets on does
// not, however often it dies.
func TestGivesUp(t *testing.T) {
	b := newBench(t)
	b.submit(1, "gets-on", "futile")
	ends := map[string]guard.End{"futile": {Code: 3}, "unsaved": {Code: -1, Signal: "user defined signal 1"}, "gets-on": {Code: 4}}
	die := func() {
		b.fake.Each("", func(c *managedtest.Container) {
			if c.Alive() {
				c.State.Progress.Step = map[string]int64{"gets-on": c.Attempt}[c.Job]
				c.Asked = map[string]int64{"unsaved": 1}[c.Job]
				c.End(ends[c.Job])
			}
		})
	}
	gaveUp := func(job, why string) {
		t.Helper()
		b.eventually(job+" has failed", func() bool {
			die()
			b.fake.mu.Lock()
			defer b.fake.mu.Unlock()
			return b.fake.ended[job] == checkpoint.GivenUp && strings.Contains(b.fake.why, why)
		})
	}
	gaveUp("futile", "6 runs have died without a step further, the last by exit status 3")
	b.submit(1, "unsaved")
	gaveUp("unsaved", "the signal that asks it to save has ended it 2 times")
	deaths := func() (n int) {
		b.fake.Each("gets-on", func(*managedtest.Container) { n++ })
		return n
	}
	b.eventually("it has died more often than the others", func() bool { die(); return deaths() > 8 })
	if j := b.job("gets-on"); j.Ending != "" {
		t.Errorf("what gets on has ended: %s, %s", j.Ending, j.Reason.Text)
	}
	// Somebody who sets no limit has none.
	b.stop()
	b.config.MaxDeaths = -1
	b.begin()
	b.submit(1, "patient")
	ends["patient"] = guard.End{Code: 5}
	b.eventually("it is started again and again", func() bool {
		die()
		n := 0
		b.fake.Each("patient", func(*managedtest.Container) { n++ })
		return n > 8
	})
	if j := b.job("patient"); j.Ending != "" {
		t.Errorf("without a limit it has ended: %s, %s", j.Ending, j.Reason.Text)
	}
}

// A job that answers no save holds up nobody for long: it is moved without.
func TestHungJobIsMoved(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.saveLimit = 200 * time.Millisecond
	b.begin()
	b.submit(12, "hung")
	b.holds(map[string]int{"hung": 12})
	b.fake.Each("hung", func(c *managedtest.Container) { c.Mute = true })
	b.submit(12, "b")
	b.holds(map[string]int{"hung": 6, "b": 6})
}

// A job that cannot be started is told why, tried again, and holds up nobody.
func TestCannotBeStarted(t *testing.T) {
	b := newBench(t)
	b.fake.Say("there is no such program", true, false)
	b.submit(4, "a")
	b.eventually("it is told why", func() bool {
		r := b.now().Report()
		return len(r.Jobs) == 1 && strings.Contains(r.Jobs[0].Why, "no such program")
	})
	b.fake.Say("", false, false)
	b.submit(4, "b")
	b.holds(map[string]int{"a": 4, "b": 4})
}

// People, programs and guards are answered, each by their token.
func TestHandler(t *testing.T) {
	b := newBench(t)
	b.submit(12, "<a>", "b")
	b.submit(12, "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m")
	b.eventually("one waits", func() bool {
		d := b.now().Last().Decision
		return d != nil && len(d.Waiting) == 1 && len(b.held()) == 12
	})
	server := httptest.NewServer(b.now().Handler("user"))
	defer server.Close()
	get := func(path, token string) (int, string) {
		t.Helper()
		request := must.Have(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil))(t)
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response := must.Have(http.DefaultClient.Do(request))(t)
		defer response.Body.Close()
		text := must.Have(io.ReadAll(response.Body))(t)
		return response.StatusCode, string(text)
	}
	for path, want := range map[string]string{
		"/": `"id":"\u003ca\u003e"`, "/state": `"job": "m"`, "/decision": `"theta1"`, "/explain": "m", "/metrics": `apportion_jobs{phase="running"} 12`,
	} {
		b.eventually(path+" has "+want, func() bool {
			status, text := get(path, "user")
			return status == http.StatusOK && (strings.Contains(text, want) || path == "/state")
		})
		for _, token := range []string{"", "guard", "wrong"} {
			if status, _ := get(path, token); status != http.StatusUnauthorized {
				t.Errorf("%s with token %q: %d", path, token, status)
			}
		}
	}
	// A link opens the page, and a token in an address opens nothing.
	_, link := get("/link", "user")
	for path, want := range map[string]int{strings.TrimSpace(link): http.StatusOK, "/ask" + strings.TrimPrefix(strings.TrimSpace(link), "/"): http.StatusUnauthorized, "/state" + strings.TrimPrefix(strings.TrimSpace(link), "/"): http.StatusUnauthorized,
		"/?token=user": http.StatusUnauthorized, b.config.Secret.Link("/", time.Now().Add(-time.Second)): http.StatusUnauthorized,
		wire.NewSecret().Link("/", time.Now().Add(time.Hour)): http.StatusUnauthorized} {
		if status, _ := get(path, ""); status != want {
			t.Errorf("a browser at %s: %d, want %d", path, status, want)
		}
	}
	var report controller.Report
	b.eventually("whoever waits is told why", func() bool {
		_, text := get("/state", "user")
		report = controller.Report{}
		return json.Unmarshal([]byte(text), &report) == nil && len(report.Jobs) == 13 && len(report.Servers) == 3 && report.Objective > 0.99 &&
			slices.ContainsFunc(report.Jobs, func(j controller.JobReport) bool { return len(j.Job.Containers) == 0 && j.Why != "" })
	})
	// No attempt of this test has a number like that.
	id := guard.ID{Job: "b", Attempt: 1 << 40, Server: "n1"}
	claim := func(c wire.Credential, want string) {
		t.Helper()
		authority := guard.HTTP{URL: server.URL + "/lease", Credential: c}
		if _, err := authority.Renew(t.Context(), guard.Claim{ID: id, Life: "x"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v claims: %v, want %s", c.Party, err, want)
		}
	}
	own, another := guard.Party(id.Job, id.Attempt), guard.Party("c", id.Attempt)
	claim(b.config.Secret.Credential(own), "not known here")
	claim(b.config.Secret.Credential(another), "of another run")
	claim(b.config.Secret.Credential(wire.Party{Role: wire.User, Name: own.Name}), "not for the role")
	claim(wire.NewSecret().Credential(own), "not signed")
	claim(wire.Credential{}, "401")
}

func TestFaultsOfConfig(t *testing.T) {
	_, err := controller.New(controller.Config{Look: -1})
	for _, want := range []string{"Cluster", "Machine", "Journal", "Store", "Dir", "Shared", "Secret", "Problem.Kinds", "Look"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no fault of %s: %v", want, err)
		}
	}
}

// Plan says what would be decided, and does nothing.
func TestPlan(t *testing.T) {
	f := &fake{}
	f.view.Servers = []controller.Server{
		{Server: apportion.Server{ID: "n1", Capacity: apportion.Resources{4}}},
		{Server: apportion.Server{ID: "n2", Capacity: apportion.Resources{4}}, Down: "gone"},
		{Server: apportion.Server{ID: "n3", Capacity: apportion.Resources{4}}, Draining: true},
	}
	f.view.Jobs = []controller.Job{{Application: alloc.Application{ID: "a", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 12}}}}
	config := controller.Config{Cluster: f, Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1}}
	p, d, err := controller.Plan(t.Context(), config, nil)
	if err != nil || d.Allocation.Containers("a") != 4 || d.Allocation["a"]["n1"] != 4 {
		t.Fatalf("%+v, %v", d, err)
	}
	must.Have(alloc.Verify(p, d))(t)
	f.blind = true
	if _, _, err := controller.Plan(t.Context(), config, nil); err == nil {
		t.Error("a plan for a cluster that is not seen")
	}
}
