//go:build !js && !apportion_clib

// This file implements "apportion try": a simulated cluster on a page of this machine, many times as fast as time, under the decisions of
// package alloc.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/page"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/placement/sim"
)

// tryLimit is how long one decision may take: a part of what a person notices.
const tryLimit = 200 * time.Millisecond

const (
	// tryForesee is the least pause between two forecasts, and tryPart the part of one processor that they may take, 1 in so many.
	tryForesee, tryPart = time.Second, 4
)

// answerTry plays until there is nothing left to play, the time is over, or ctx ends.
func answerTry(ctx context.Context, c *command) error {
	o := &c.try
	if c.NArg() > 0 {
		return fmt.Errorf("%w: try reads no file but that of -trace", errUsage)
	}
	if o.servers < 1 || o.speed <= 0 || o.length < 0 || o.from < 0 {
		return fmt.Errorf("%w: -servers and -speed must be positive, -for and -from not negative", errUsage)
	}
	scenario, queues, left, err := o.scenario()
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(o.listen)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("%w: -listen %s is no loopback address, as 127.0.0.1:8080", errUsage, o.listen)
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	secret := wire.NewSecret()
	t := &trial{o: o, scenario: scenario, queues: queues, queueOf: map[string]string{}, began: time.Now(), started: map[string]time.Duration{}, decider: alloc.Decider{Effort: embedded.Quick}}
	for i := range scenario.Jobs {
		t.queueOf[scenario.Jobs[i].ID] = scenario.Jobs[i].Model
	}
	t.forecasts = &page.Forecasts{Last: t.last, QueueOf: func(job string) string { return t.queueOf[job] }, Pause: tryForesee, Part: tryPart}
	t.board = page.New(page.Config{Secret: secret, Source: t.shown, Ask: t.ask})
	mux := http.NewServeMux()
	t.board.Handle(mux, nil)
	served := make(chan error, 1)
	go func() { served <- wire.Serve(ctx, listener, mux) }()
	hello := map[string]any{"page": "http://" + listener.Addr().String() + secret.Link("/", time.Now().Add(24*time.Hour)), "jobs": len(scenario.Jobs)}
	if left > 0 {
		hello["left_out"] = left // jobs that no server of this cluster could hold, or of which the trace does not say what they are
	}
	if err := c.writeLine(hello); err != nil {
		return errors.Join(err, listener.Close())
	}
	if o.length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.length)
		defer cancel()
	}
	foreseen := make(chan struct{})
	go func() { t.forecasts.Run(ctx); close(foreseen) }()
	_, err = sim.Run(ctx, scenario, t)
	if err == nil {
		<-ctx.Done() // all have ended, and the page stays for those who look
	}
	if ctx.Err() != nil {
		err = nil
	}
	stop()
	<-foreseen
	return errors.Join(err, <-served, c.writeLine(t.sum()))
}

// trial is a policy that decides when its instant has come on the clock, and shows what it decides.
type trial struct {
	o        *tryOptions
	scenario *sim.Scenario
	queues   []drf.Queue
	// queueOf is the queue of each job. The simulator knows none.
	queueOf map[string]string
	board   *page.Board
	began   time.Time
	decider alloc.Decider
	// forecasts say when jobs begin that wait.
	forecasts *page.Forecasts

	// mu guards what follows: the simulator writes, and browsers read.
	mu       sync.Mutex
	jobs     []sim.JobState
	now      time.Duration
	problem  *alloc.Problem
	decision *alloc.Decision
	// started is since when jobs have run without a pause for others, by ID.
	started map[string]time.Duration
	// ended, decisions and restarts count.
	ended, decisions, restarts int
}

// Name implements sim.Policy.
func (*trial) Name() string { return "apportion" }

// Decide implements sim.Policy.
func (t *trial) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	due := t.began.Add(time.Duration(float64(state.Now) / t.o.speed))
	select {
	case <-ctx.Done():
		return sim.Orders{}, ctx.Err()
	case <-time.After(time.Until(due)):
	}
	p := state.Problem()
	p.Theta1, p.Theta2, p.Options.Preempt, p.Queues = t.o.theta1, t.o.theta2, true, t.queues
	for i := range p.Applications {
		p.Applications[i].Queue = t.queueOf[p.Applications[i].ID]
	}
	limited, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	began := time.Now()
	d, err := t.decider.Reallocate(limited, p)
	if err != nil {
		return sim.Orders{}, err
	}
	t.note(state, p, d)
	t.board.Decided(page.NewDecision(state.Now.Seconds(), time.Since(began), p, d, ""))
	return sim.Orders{Places: state.Changes(d.Allocation)}, nil
}

// note keeps what the page shows.
func (t *trial) note(state *sim.State, p *alloc.Problem, d *alloc.Decision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now, t.jobs, t.problem, t.decision = state.Now, state.Jobs, p, d
	t.ended += len(state.Ended)
	t.decisions++
	t.restarts += d.Metrics.Adjusted
	var seen checkpoint.Record
	for _, id := range state.Ended {
		delete(t.started, id)
		seen.Jobs, seen.Gone = append(seen.Jobs, checkpoint.Job{Name: id, Phase: checkpoint.Ended}), append(seen.Gone, id)
	}
	for i := range state.Jobs {
		id := state.Jobs[i].ID
		if _, runs := t.started[id]; runs != (d.Allocation.Containers(id) > 0) {
			if delete(t.started, id); !runs {
				t.started[id] = state.Now
				seen.Jobs = append(seen.Jobs, checkpoint.Job{Name: id, Phase: checkpoint.Running, Attempt: 1})
			}
		}
	}
	t.forecasts.Take(seen, time.Unix(0, 0).Add(state.Now))
}

// last is what forecasts are about. The time of the simulation counts from 1970.
func (t *trial) last() (*alloc.Problem, *alloc.Decision, time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.problem, t.decision, time.Unix(0, 0).Add(t.now)
}

// shown is what the page shows.
func (t *trial) shown() page.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := page.State{Clock: time.Since(t.began).Seconds() * t.o.speed, Head: page.Head{Title: "A simulated cluster", Kinds: t.scenario.Kinds, Rate: t.o.speed,
		Summary: fmt.Sprintf("%d servers, %g times as fast as time; %d jobs are there, %d have ended, %d were restarted for others.", len(t.scenario.Servers), t.o.speed, len(t.jobs), t.ended, t.restarts)}}
	for i := range t.scenario.Servers {
		server := &t.scenario.Servers[i]
		s.Servers = append(s.Servers, page.Server{ID: server.ID, Rack: page.RackOf(server.Labels), Capacity: server.Capacity})
	}
	for i := range t.jobs {
		job := &t.jobs[i]
		one := page.Job{ID: job.ID, State: "waiting", Since: job.Arrival.Seconds(), On: t.decision.Allocation[job.ID]}
		if at, runs := t.started[job.ID]; runs {
			one.State, one.Since = "running", at.Seconds()
		}
		one.Since = cmp.Or(one.Since, 1e-3) // the first instant is known, which 0 is not
		s.Jobs = append(s.Jobs, one)
	}
	s.Decided(t.problem, t.decision)
	s.Foreseen(t.forecasts.Newest())
	return s
}

// ask answers a question of the page.
func (t *trial) ask(ctx context.Context, q page.Question) (string, error) {
	t.mu.Lock()
	p, d := t.problem, t.decision // nobody changes them
	t.mu.Unlock()
	return t.forecasts.Newest().Answer(ctx, p, d, q)
}

// sum is what is said at the end.
func (t *trial) sum() map[string]any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return map[string]any{"ended": t.ended, "decisions": t.decisions, "restarts": t.restarts}
}
