// This file implements the master's loop: everything that changes its state happens here, one thing
// after the other.

// Package master is the in-house scheduler's master: it decides with alloc who gets how many containers
// on which server, and lets checkpoint's protocol carry the decisions out on the agents.
package master

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// Config says how a master works.
type Config struct {
	// Dir is the master's directory: its journal and the jobs' specifications. Shared is the directory
	// that all agents see.
	Dir, Shared string
	// Token is what every caller must show, and what the master shows to agents.
	Token string
	// Store keeps the checkpoints.
	Store store.Store
	// Protocol says what the kinds of resources are and how patient the protocol is.
	Protocol checkpoint.Config
	// Decider takes the decisions.
	Decider Decider
	// Grace is how long a server may be silent before it counts as lost: longer than the agents' lease.
	Grace time.Duration
	// SaveEvery is how often a running job is saved.
	SaveEvery time.Duration
	// Trace gets a line of JSON, a [Traced], for every effect that was replied to; nil: nothing does.
	Trace io.Writer
	// Poll is how often the agents are asked, and time is told to the protocol.
	Poll time.Duration
}

// compactBytes is the size at which the journal is written anew.
const compactBytes = 4 << 20

// pause is how long the master waits, without any event, before it decides again.
const pause = 2 * time.Second

// Master schedules jobs.
type Master struct {
	config  Config
	machine *checkpoint.Machine
	journal *journal.Journal
	specs   *specs
	tasks   chan task
	under   sync.WaitGroup // effects and questions under way

	members  map[string]*member
	progress map[string]runner.Progress // of the newest attempt, by job
	saved    map[string]time.Time       // when a job was last asked to save itself
	verdict  *Verdict
	due      time.Time // of the next decision
}

// task is something for the loop to do; done gets its error when what it changed is durable.
type task struct {
	do   func() error
	done chan<- error
}

// Open takes over the master's directory, and with it the jobs of the master before. That one is fenced
// off.
func Open(config Config) (*Master, error) {
	disk, err := vfs.NewOS(filepath.Join(config.Dir, "journal"))
	if err != nil {
		return nil, err
	}
	machine, journal, err := journal.Open(disk, config.Protocol)
	if err != nil {
		return nil, err
	}
	specs, err := openSpecs(filepath.Join(config.Dir, "specs"))
	if err != nil {
		return nil, err
	}
	m := &Master{
		config: config, machine: machine, journal: journal, specs: specs, tasks: make(chan task),
		members: map[string]*member{}, progress: map[string]runner.Progress{}, saved: map[string]time.Time{}, verdict: &Verdict{},
	}
	for _, server := range machine.Servers() {
		m.members[server.ID] = &member{seen: time.Now()}
	}
	for _, app := range specs.apps {
		if err := m.know(app); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// know makes an application known to the protocol, if it is not yet.
func (m *Master) know(app Submission) error {
	if _, known := m.machine.Job(app.ID); known {
		return nil
	}
	return m.machine.Step(checkpoint.Submit{Job: app.ID, Demand: app.Demand, Min: int(max(app.Min, 1))})
}

// Run schedules until the context ends or another master takes over: ErrFenced.
func (m *Master) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer m.journal.Close()
	defer m.under.Wait()
	defer cancel()
	ticker := time.NewTicker(m.config.Poll)
	defer ticker.Stop()
	var waiting []func()
	for {
		if err := m.perform(ctx); err != nil {
			return err
		}
		for _, tell := range waiting {
			tell()
		}
		waiting = waiting[:0]
		var err error
		select {
		case <-ctx.Done():
			return nil
		case t := <-m.tasks:
			err = t.do()
			waiting = append(waiting, func() { t.done <- err })
		case now := <-ticker.C:
			err = m.tick(ctx, now)
		}
		if errors.Is(err, checkpoint.ErrFenced) {
			return err
		}
		if err := m.decideIfDue(ctx); err != nil {
			return err
		}
	}
}

// ask has the loop do something and waits until it is done and durable.
func (m *Master) ask(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	select {
	case m.tasks <- task{do, done}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tick tells the protocol the time, asks the agents and the jobs that are to save themselves.
func (m *Master) tick(ctx context.Context, now time.Time) error {
	if err := m.machine.Step(checkpoint.Tick{Now: now}); err != nil {
		return err
	}
	if err := m.watch(ctx, now); err != nil {
		return err
	}
	for _, job := range m.machine.Jobs() {
		if job.Phase != checkpoint.Running {
			continue
		}
		if last, ok := m.saved[job.Name]; !ok {
			m.saved[job.Name] = now
		} else if now.Sub(last) >= m.config.SaveEvery {
			m.saved[job.Name] = now
			if err := m.machine.Step(checkpoint.Checkpoint{Job: job.Name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// decideIfDue takes a decision and asks the protocol to carry it out. The same state again gives the
// same decision, and that changes nothing.
func (m *Master) decideIfDue(ctx context.Context) error {
	if time.Now().Before(m.due) {
		return nil
	}
	m.due = time.Now().Add(pause)
	verdict, err := m.config.Decider.Decide(ctx, m.state())
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	m.verdict = verdict
	if verdict.Again > 0 {
		m.due = time.Now().Add(min(pause, verdict.Again))
	}
	for _, job := range slices.Sorted(maps.Keys(verdict.Refused)) {
		if err := m.machine.Step(checkpoint.Cancel{Job: job}); err != nil {
			return err
		}
	}
	if len(verdict.Targets) == 0 {
		return nil
	}
	return m.machine.Step(checkpoint.Adjust{Targets: verdict.Targets})
}

// state is what the next decision is taken on.
func (m *Master) state() *State {
	s := &State{Kinds: m.config.Protocol.Kinds, Servers: m.machine.Servers()}
	for _, app := range m.specs.apps {
		if job, known := m.machine.Job(app.ID); known && job.Ending == "" {
			s.Jobs = append(s.Jobs, JobState{app.Application, app.Policy, job, m.progress[app.ID]})
		}
	}
	return s
}

// hurry has the next decision taken at once: something has changed.
func (m *Master) hurry() { m.due = time.Time{} }
