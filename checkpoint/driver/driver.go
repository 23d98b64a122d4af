// This file declares Driver and what can be asked of it from outside: events in, the state out.

package driver

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
)

var (
	// ErrEnded: Run has ended, so nothing can be done any more.
	ErrEnded = errors.New("driver: it does not run any more")
	// ErrHung: the journal has not answered for Options.AppendLimit.
	ErrHung = errors.New("driver: the journal does not answer")
)

// Driver runs a machine. Its methods are safe for concurrent use.
type Driver struct {
	// machine and journal are touched by the goroutine of Run alone; config and options do not change after
	// New, and epoch not after Run has begun to serve.
	machine *checkpoint.Machine
	journal Journal
	config  Config
	options Options
	epoch   int64

	// inbox has no buffer: a message that was taken is being done, and one that was not has changed
	// nothing.
	inbox chan message
	ended chan struct{}  // closed when Run has ended
	begun chan struct{}  // closed when Run has begun to serve
	named chan struct{}  // closed when the store has said which it is
	heard chan struct{}  // closed when attempts may begin, see attend
	under sync.WaitGroup // effects and questions under way

	// What follows belongs to the goroutine of Run.
	life      context.Context      // ends with Run
	compactAt int64                // the size at which the journal is compacted next
	saved     map[string]time.Time // when a job was last asked to save itself
	since     map[string]time.Time // when a job was first seen to have ended
	failing   map[deed]*failing    // what has failed where
	logger    *logger

	view    view
	members members
}

// message is something for the loop to do. done gets its error when what it has changed is durable.
type message struct {
	do   func() error
	done chan<- error
}

// New returns a driver of a machine and its journal, as journal.Open returns them. Faults of the Config
// come back as [apportion.Faults].
func New(m *checkpoint.Machine, j Journal, config Config, options *Options) (*Driver, error) {
	d := &Driver{machine: m, journal: j, config: config, epoch: m.Epoch(),
		inbox: make(chan message), begun: make(chan struct{}), ended: make(chan struct{}), named: make(chan struct{}), heard: make(chan struct{}), saved: map[string]time.Time{}, since: map[string]time.Time{}, failing: map[deed]*failing{}}
	if options != nil {
		d.options = *options
	}
	if err := d.config.check(&d.options); err != nil {
		return nil, err
	}
	d.options.setDefaults()
	d.options.Silence = cmp.Or(d.options.Silence, config.Grace/2)
	d.compactAt = d.options.CompactBytes
	d.logger = newLogger(d.options.Log, m.Jobs(), m.Hosts())
	d.view.open(m)
	return d, nil
}

// ask has the loop do something, and waits until what that has changed is durable. What is done holds up everything
// else, so it must not wait for anybody.
func (d *Driver) ask(ctx context.Context, do func() error) error {
	// Room for one lets the loop go on when the caller has left because its context ended.
	done := make(chan error, 1)
	select {
	case d.inbox <- message{do, done}:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.ended:
		return ErrEnded
	}
	select {
	case err := <-done:
		return err
	// The message is with the loop by now and will count; only the answer is given up.
	case <-ctx.Done():
		return ctx.Err()
	case <-d.ended:
		return ErrEnded
	}
}

// Apply gives events to the machine, one after the other, and returns when all that they have changed is
// durable. The first event that is refused ends it: those before it count, and the error is that of
// [checkpoint.Machine.Step]. When the context ends first the events may count or not, and ErrEnded says
// the same.
func (d *Driver) Apply(ctx context.Context, events ...checkpoint.Event) error {
	return d.ask(ctx, func() error { return d.step(events...) })
}

// step belongs to the loop. The events before the one that is refused stay, because each left the
// machine in a right state.
func (d *Driver) step(events ...checkpoint.Event) error {
	for _, event := range events {
		if err := d.machine.Step(event); err != nil {
			return err
		}
	}
	return nil
}

// Agent returns the agent that has joined for a server; nil: none has, or the server is lost.
func (d *Driver) Agent(server string) Agent {
	if m := d.members.get(server); m != nil {
		return m.agent
	}
	return nil
}

// State returns what is durable of the machine's state, and how the jobs stand. O(jobs).
//
// Everything in it is a copy, taken at one moment under one lock: jobs and servers fit together.
func (d *Driver) State() State {
	v := &d.view
	v.mu.RLock()
	defer v.mu.RUnlock()
	// Empty lists are not nil, so that JSON has [] and not null for them.
	s := State{Servers: []apportion.Server{}, Silent: []string{}, Draining: []string{}, Cordons: map[string]string{}, Jobs: []checkpoint.Job{}, Progress: maps.Clone(v.progress), changed: v.changed}
	for _, id := range slices.Sorted(maps.Keys(v.servers)) {
		host := v.servers[id]
		s.Servers = append(s.Servers, apportion.Server{ID: id, Capacity: host.Capacity.Clone(), Cordoned: host.Cordoned})
		if host.Silent {
			s.Silent = append(s.Silent, id)
		}
		if host.Draining {
			s.Draining = append(s.Draining, id)
		}
		if host.Cordoned {
			s.Cordons[id] = host.Detail
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.jobs)) {
		s.Jobs = append(s.Jobs, v.jobs[name].Clone())
	}
	return s
}

// Await returns the first State of which is says true. The error is the context's, or ErrEnded, and the State
// then the last one.
func (d *Driver) Await(ctx context.Context, is func(*State) bool) (State, error) {
	for {
		// The channel of s was read together with what is looked at, so a change after this look
		// closes it: there is no gap in which Await could sleep through one.
		s := d.State()
		if is(&s) {
			return s, nil
		}
		select {
		case <-s.Changed():
		case <-ctx.Done():
			return s, ctx.Err()
		case <-d.ended:
			return s, ErrEnded
		}
	}
}
