// This file holds the surroundings of a driver in tests: agents in memory, a disk in memory, and a clock that
// runs as fast as nothing is left to do. They watch that no job ever runs twice.

package driver_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// lease is how long jobs run on without a driver: less than the grace.
const lease = 10 * time.Second

// slot is what a container takes.
var slot = apportion.Resources{1}

// world is a cluster and the driver that runs it now. A test's goroutine uses it.
type world struct {
	t       testing.TB
	mem     *vfstest.Mem
	store   *storetest.MemStore
	servers map[string]*watched
	slots   map[string]int64
	machine checkpoint.Config
	config  driver.Config
	options driver.Options
	// wrap stands between a driver and its journal; nil: nothing does.
	wrap func(driver.Journal) driver.Journal

	d     *driver.Driver
	end   context.CancelFunc
	ended chan error
}

// watched is an agent in memory. It hangs where a test wants it to.
type watched struct {
	*agenttest.Server
	w *world

	mu     sync.Mutex
	silent chan struct{} // if not nil, questions hang until it is closed, whatever their context says
	dead   error         // if not nil, nothing is answered but this
	asked  int           // questions
	// lie changes what is answered; nil: nothing.
	lie func(agent.Status) agent.Status
	// after is called when an order was carried out; its error takes the place of the reply. Nil: nothing happens.
	after func(agent.Order) error
}

func (s *watched) state() (silent chan struct{}, dead error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent, s.dead
}

func (s *watched) set(silent chan struct{}, dead error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent, s.dead = silent, dead
}

func (s *watched) replace(by *agenttest.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Server = by
}

func (s *watched) here() *agenttest.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Server
}

func (s *watched) Do(ctx context.Context, o agent.Order) (checkpoint.Reply, error) {
	if _, dead := s.state(); dead != nil {
		return checkpoint.Reply{}, dead
	}
	reply, err := s.here().Do(ctx, o)
	s.w.watch(o.Effect.Job)
	s.mu.Lock()
	after := s.after
	s.mu.Unlock()
	if after != nil && err == nil {
		err = after(o)
	}
	return reply, err
}

func (s *watched) Status(ctx context.Context, q agent.Question) (agent.Status, error) {
	s.mu.Lock()
	s.asked++
	s.mu.Unlock()
	silent, dead := s.state()
	if silent != nil {
		<-silent
	}
	if dead != nil {
		return agent.Status{}, dead
	}
	status, err := s.here().Status(ctx, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lie != nil {
		status = s.lie(status)
	}
	return status, err
}

// watch checks that at most one attempt of a job is alive.
func (w *world) watch(job string) {
	alive := map[int64]bool{}
	for _, s := range w.servers {
		for _, attempt := range s.here().Alive(job) {
			alive[attempt] = true
		}
	}
	if len(alive) > 1 {
		w.t.Errorf("job %q runs as attempts %v", job, slices.Sorted(maps.Keys(alive)))
	}
}

func newWorld(t testing.TB, slots map[string]int64) *world {
	w := &world{t: t, mem: vfstest.NewMem(), store: &storetest.MemStore{}, servers: map[string]*watched{}, slots: slots,
		machine: checkpoint.Config{Kinds: apportion.Kinds{"slot"}}}
	w.config = driver.Config{Store: w.store, Grace: 20 * time.Second}
	began := time.Now()
	clock := func() time.Duration { return time.Since(began) }
	for id := range slots {
		w.servers[id] = &watched{Server: &agenttest.Server{ID: id, Store: w.store, Lease: lease, Now: clock}, w: w}
	}
	return w
}

// open starts a driver on the journal; the agents join it.
func (w *world) open() {
	w.t.Helper()
	must.Do(w.t, w.start())
	for _, id := range slices.Sorted(maps.Keys(w.slots)) {
		if err := w.join(id); err != nil && !errors.Is(err, driver.ErrEnded) {
			w.t.Fatal(err)
		}
	}
}

func (w *world) start() error {
	m, j, err := journal.Open(w.mem, w.machine)
	if err != nil {
		return err
	}
	var wrapped driver.Journal = j
	if w.wrap != nil {
		wrapped = w.wrap(j)
	}
	if w.d, err = driver.New(m, wrapped, w.config, &w.options); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	d, ended := w.d, make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	w.end, w.ended = cancel, ended
	w.t.Cleanup(cancel) // of a test that has failed
	return nil
}

func (w *world) join(id string) error {
	server := apportion.Server{ID: id, Capacity: apportion.Resources{w.slots[id]}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	return w.d.Join(ctx, server, w.servers[id])
}

// over returns what a driver has ended with, which must be soon.
func over(t testing.TB, ended <-chan error) error {
	t.Helper()
	return take(t, "the driver ends", ended)
}

// take returns what comes from a channel. A driver goes on ticking whatever hangs, so that a bubble does not find out by itself
// that nothing comes: an hour of its clock does.
func take[T any](t testing.TB, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(time.Hour):
		t.Fatalf("never: %s", what)
	}
	return v
}

// close ends the driver, which must have done nothing wrong.
func (w *world) close() {
	w.t.Helper()
	w.end()
	must.Do(w.t, over(w.t, w.ended), "the driver ended with")
}

// apply and join wait for a driver no longer than an hour of the world: one that does not answer is an error, and no test hangs.
func apply(d *driver.Driver, events ...checkpoint.Event) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	return d.Apply(ctx, events...)
}

func join(d *driver.Driver, server apportion.Server, a driver.Agent) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	return d.Join(ctx, server, a)
}

// must applies events.
func (w *world) must(events ...checkpoint.Event) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	must.Do(w.t, w.d.Apply(ctx, events...))
}

// await waits until a job is as wanted, for an hour of the world.
func (w *world) await(job string, is func(*driver.JobState) bool) driver.JobState {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	s, err := w.d.Await(ctx, func(s *driver.State) bool {
		j, ok := s.Job(job)
		return ok && is(&j)
	})
	j, _ := s.Job(job)
	if err != nil {
		w.t.Fatalf("%v: %+v", err, j)
	}
	return j
}

func on(servers ...string) func(*driver.JobState) bool {
	return func(j *driver.JobState) bool {
		return j.Job.Phase == checkpoint.Running && j.Job.Order == 0 && slices.Equal(j.Job.Containers, servers)
	}
}

func in(phase checkpoint.Phase) func(*driver.JobState) bool {
	return func(j *driver.JobState) bool { return j.Job.Phase == phase && j.Job.Order == 0 }
}

func submit(job string) checkpoint.Event { return checkpoint.Submit{Job: job, Demand: slot} }

func adjust(job string, servers ...string) checkpoint.Event {
	return checkpoint.Adjust{Targets: map[string][]string{job: servers}}
}

func (w *world) runs(job string, servers ...string) driver.JobState {
	w.t.Helper()
	w.must(submit(job), adjust(job, servers...))
	return w.await(job, on(servers...))
}

// wantReason checks why a job is not where it was asked to be.
func wantReason(t testing.TB, j driver.JobState, constraint string) {
	t.Helper()
	must.Equal(t, fmt.Sprint(j.Job.Reason.Constraint), constraint, "the reason", j.Job.Reason)
}
