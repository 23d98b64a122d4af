// This file implements the master: a driver, and a loop that decides whenever something has changed.

// Package master is the in-house scheduler's master: it decides with alloc who gets how many containers
// on which server, and has checkpoint's driver carry the decisions out on the agents.
package master

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/page"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/wire"
)

// Config says how a master works.
type Config struct {
	// Dir is the master's directory: its journal and the jobs' specifications. Shared is the directory
	// that all agents see.
	Dir, Shared string
	// Secret is that of the cluster.
	Secret wire.Secret
	// Store keeps the checkpoints.
	Store store.Store
	// Protocol says what the kinds of resources are and how patient the protocol is.
	Protocol checkpoint.Config
	// Decider takes the decisions.
	Decider Decider
	// Grace is how long a server may be silent before it counts as lost: longer than the agents' lease.
	Grace time.Duration
	// SaveEvery is how often a running job is saved, StallAfter how long one that gets on may tell no step, and Retain how long one
	// that has ended is remembered, see [driver.Options].
	SaveEvery, StallAfter, Retain time.Duration
	// AcceptLoss is the name of a journal that has lost records for good, see [driver.Options].
	AcceptLoss string
	// HTTP asks the agents; nil: without TLS.
	HTTP *http.Client
	// Trace gets a line of JSON, a [driver.Traced], for every effect that was replied to; nil: nothing does.
	Trace io.Writer
	// Poll is how often the agents are asked, and time is told to the protocol.
	Poll time.Duration
}

// pause is how long the master waits, without any event, before it decides again.
const pause = 2 * time.Second

// Master schedules jobs.
type Master struct {
	config Config
	driver *driver.Driver
	specs  *specs
	board  *page.Board
	// forecasts say when jobs begin that wait.
	forecasts *page.Forecasts

	mu      sync.Mutex
	verdict *Verdict // the last one
}

// Open takes over the master's directory, and with it the jobs of the master before. That one is fenced
// off.
// A submission that was written down and not recorded is made known now.
func Open(config Config) (*Master, error) {
	disk, err := vfs.NewOS(filepath.Join(config.Dir, "journal"))
	if err != nil {
		return nil, err
	}
	machine, records, err := journal.Open(disk, config.Protocol)
	if err != nil {
		return nil, err
	}
	specs, err := openSpecs(filepath.Join(config.Dir, "specs"))
	if err != nil {
		return nil, err
	}
	for _, s := range specs.all() {
		// One that had ended was forgotten, and is not begun again.
		if _, known := machine.Job(s.Application.ID); !known && !s.Ended {
			if err := machine.Step(s.Application.event()); err != nil {
				return nil, err
			}
		}
	}
	m := &Master{config: config, specs: specs, verdict: &Verdict{}}
	m.forecasts = &page.Forecasts{Last: m.foreseen, QueueOf: specs.queueOf, Before: machine.Jobs(), Pause: config.Poll}
	m.board = page.New(page.Config{Secret: config.Secret, Source: m.shown, Ask: m.ask})
	options := &driver.Options{Spec: specs.work, Poll: config.Poll, SaveEvery: config.SaveEvery, StallAfter: config.StallAfter,
		Retain: config.Retain, AcceptLoss: config.AcceptLoss, Recorded: func(r checkpoint.Record) { m.forecasts.Take(r, time.Now()) }}
	if config.Trace != nil {
		options.Trace = func(t driver.Traced) { _ = json.NewEncoder(config.Trace).Encode(t) } // the work goes on without
	}
	m.driver, err = driver.New(machine, records, driver.Config{Store: config.Store, Grace: config.Grace}, options)
	return m, err
}

// Run schedules until the context ends or another master takes over: ErrFenced.
func (m *Master) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var under sync.WaitGroup
	var undecided error
	under.Go(func() {
		undecided = m.decide(ctx)
		cancel()
	})
	under.Go(func() { m.forecasts.Run(ctx) })
	err := m.driver.Run(ctx)
	cancel()
	under.Wait()
	return errors.Join(err, undecided)
}

// decide takes a decision whenever jobs or servers have come or gone, and every now and then. The same state
// again gives the same decision, and that changes nothing.
func (m *Master) decide(ctx context.Context) error {
	for shape, due := "", time.Now(); ; {
		s := m.driver.State()
		if err := m.specs.settle(&s); err != nil {
			return err
		}
		if now := shapeOf(&s); now != shape || !time.Now().Before(due) {
			wait, err := m.decideOn(ctx, &s)
			if err != nil {
				return err
			}
			shape, due = now, time.Now().Add(wait)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.Changed():
		case <-time.After(time.Until(due)):
		}
	}
}

// shapeOf names what a decision depends on and the protocol does not change by itself: the servers, and the
// jobs that have not ended.
// Quotes keep two names from reading as one.
func shapeOf(s *driver.State) string {
	var text strings.Builder
	for _, server := range s.Servers {
		fmt.Fprintf(&text, "%q %v\n", server.ID, server.Capacity)
	}
	for i := range s.Jobs {
		if job := &s.Jobs[i]; job.Ending == "" {
			fmt.Fprintf(&text, "%q\n", job.Name)
		}
	}
	return text.String()
}

// decideOn takes a decision, has it carried out, and returns how long it is good for.
// Refusals go first, so that their room is free for the rest.
func (m *Master) decideOn(ctx context.Context, s *driver.State) (time.Duration, error) {
	began, fault := time.Now(), ""
	verdict, err := m.config.Decider.Decide(ctx, m.state(s))
	if ctx.Err() != nil {
		return pause, nil
	}
	// A registration or a job that no decision can be taken on must not end those that run: they keep what they have, and
	// the next decision may find it gone.
	if err != nil {
		fault = err.Error()
		verdict = &Verdict{Explanation: fmt.Sprintf("No decision could be taken: %v\n", err)}
	}
	m.mu.Lock()
	m.verdict = verdict
	m.mu.Unlock()
	m.decided(verdict, time.Since(began), fault)
	var events []checkpoint.Event
	for _, job := range slices.Sorted(maps.Keys(verdict.Refused)) {
		events = append(events, checkpoint.Cancel{Job: job})
	}
	if len(verdict.Targets) > 0 {
		events = append(events, checkpoint.Adjust{Targets: verdict.Targets})
	}
	wait := pause
	if verdict.Again > 0 {
		wait = min(pause, verdict.Again)
	}
	if len(events) > 0 && m.driver.Apply(ctx, events...) != nil {
		wait = min(wait, m.config.Poll) // a job or a server has gone meanwhile: the next decision knows
	}
	return wait, nil
}

func (m *Master) state(now *driver.State) *State {
	s := &State{Kinds: m.config.Protocol.Kinds, Servers: now.Servers}
	// Nothing may be put on a server that is drained, and all that was there is leaving: as if it had nothing to give.
	for i := range s.Servers {
		if slices.Contains(now.Draining, s.Servers[i].ID) {
			clear(s.Servers[i].Capacity)
		}
	}
	for _, spec := range m.specs.all() {
		app := &spec.Application
		if j, known := now.Job(app.ID); known && j.Job.Ending == "" {
			s.Jobs = append(s.Jobs, JobState{app.Application, app.Policy, j.Job, j.Progress})
		}
	}
	return s
}

func (m *Master) last() *Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.verdict
}
