// This file implements Driver: the loop around a Machine, [Dorm] §III-C2. One goroutine steps the machine and
// writes its records; all else runs beside it.

package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
)

var (
	// ErrEnded: Run has ended, so nothing can be done any more.
	ErrEnded = errors.New("driver: it does not run any more")
	// ErrHung: the journal has not answered for Options.AppendLimit.
	ErrHung = errors.New("driver: the journal does not answer")
)

// Agent is what a driver speaks to on one server: agent.Agent, a fake of a test, or a client of an agent
// on another machine. It keeps the promises of [checkpoint.Effect]; package agenttest tests them.
type Agent interface {
	// Do carries out an effect on the server. An error says that it is not known how it went, or, if it
	// wraps checkpoint.ErrFenced, that a newer master has taken over.
	Do(ctx context.Context, order agent.Order) (checkpoint.Reply, error)
	// Status says how the jobs stand. An error that wraps checkpoint.ErrFenced says that a newer master
	// has taken over.
	Status(ctx context.Context, q agent.Question) (agent.Status, error)
}

// Journal keeps the records of a machine; journal.Journal is one. It belongs to the driver from New on.
type Journal interface {
	// Append makes a record durable. After an error the journal takes nothing more.
	Append(checkpoint.Record) error
	// Bytes is the size of the journal; Compact replaces it by one that begins with a snapshot.
	Bytes() int64
	Compact(snapshot checkpoint.Record) error
	// Close closes the journal. What was appended is durable already.
	Close() error
}

// Config says what a driver works with. Both fields are required.
type Config struct {
	// Store keeps the checkpoints.
	Store store.Store
	// Grace is how long a server may give no answer before it counts as lost: longer than the lease of
	// its agent, by what the clocks may drift apart meanwhile and what ending the jobs takes.
	Grace time.Duration
}

// Options are settings that have defaults; nil stands for all of them.
type Options struct {
	// Spec returns what a job runs, for the agents. It is called from several goroutines. Nil: agents
	// are told nothing.
	Spec func(job string) json.RawMessage
	// Poll is how often each agent is asked, and time is told to the machine; 0: DefaultPoll.
	Poll time.Duration
	// SaveEvery is how often a running job is saved; 0: only when it is adjusted.
	SaveEvery time.Duration
	// CompactBytes is the size from which on the journal is written anew; 0: DefaultCompactBytes.
	CompactBytes int64
	// AppendLimit is how long the journal may take for a record; 0: DefaultAppendLimit.
	AppendLimit time.Duration
	// Trace is told of every effect that was replied to, from one goroutine; nil: nobody is.
	Trace func(Traced)
}

// What zero stands for in Options.
const (
	DefaultPoll         = 100 * time.Millisecond
	DefaultCompactBytes = 4 << 20
	DefaultAppendLimit  = 30 * time.Second
)

// batch is how many messages share a record at most, so that one write to the disk serves them all and none
// waits for long.
const batch = 256

// Driver runs a machine. Its methods are safe for concurrent use.
type Driver struct {
	machine *checkpoint.Machine
	journal Journal
	config  Config
	options Options
	epoch   int64

	inbox chan message
	ended chan struct{}  // closed when Run has ended
	under sync.WaitGroup // effects and questions under way

	// What follows belongs to the goroutine of Run.
	life      context.Context      // ends with Run
	compactAt int64                // the size at which the journal is compacted next
	saved     map[string]time.Time // when a job was last asked to save itself

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
		inbox: make(chan message), ended: make(chan struct{}), saved: map[string]time.Time{}}
	if options != nil {
		d.options = *options
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	d.options.setDefaults()
	d.compactAt = d.options.CompactBytes
	d.view.open(m)
	return d, nil
}

func (d *Driver) check() error {
	var faults apportion.Faults
	item := apportion.Item{ID: "driver"}
	if d.config.Store == nil {
		faults.Add(item, "Store", apportion.ErrEmpty, "")
	}
	if d.config.Grace <= 0 {
		faults.Add(item, "Grace", apportion.ErrRange, d.config.Grace.String())
	}
	for _, f := range []struct {
		field string
		value int64
	}{
		{"Poll", int64(d.options.Poll)}, {"SaveEvery", int64(d.options.SaveEvery)},
		{"CompactBytes", d.options.CompactBytes}, {"AppendLimit", int64(d.options.AppendLimit)},
	} {
		if f.value < 0 {
			faults.Add(item, f.field, apportion.ErrNegative, "")
		}
	}
	return faults.Err()
}

func (o *Options) setDefaults() {
	if o.Poll == 0 {
		o.Poll = DefaultPoll
	}
	if o.CompactBytes == 0 {
		o.CompactBytes = DefaultCompactBytes
	}
	if o.AppendLimit == 0 {
		o.AppendLimit = DefaultAppendLimit
	}
	if o.Spec == nil {
		o.Spec = func(string) json.RawMessage { return nil }
	}
}

// Run drives the machine until the context ends, and returns nil then. Otherwise the error wraps
// checkpoint.ErrFenced if another master has taken over, ErrHung, or the error of the journal: the machine
// knows more than its records then, and the next driver needs a new one. Run is called once. When it
// returns, nothing that it has begun goes on, but calls of agents, store and journal that ignore their
// context.
func (d *Driver) Run(ctx context.Context) (err error) {
	ctx, end := context.WithCancel(ctx)
	defer close(d.ended)
	defer func() {
		end()
		d.under.Wait()
		err = errors.Join(err, d.close(err))
	}()
	d.life = ctx
	d.members.open(ctx, d.machine.Servers())
	ticker := time.NewTicker(d.options.Poll)
	defer ticker.Stop()
	if err := d.commit(ctx); err != nil {
		return err
	}
	for {
		var taken []message
		select {
		case <-ctx.Done():
			return nil
		case first := <-d.inbox:
			taken = d.drain(first)
		case now := <-ticker.C:
			taken = []message{{do: func() error { return d.tick(now) }}}
		}
		if err := d.turn(ctx, taken); err != nil {
			return err
		}
	}
}

// close closes the journal, unless that is what hangs.
func (d *Driver) close(ended error) error {
	if errors.Is(ended, ErrHung) {
		return nil
	}
	return d.soon(d.journal.Close)
}

// drain returns the first message and those that wait behind it.
func (d *Driver) drain(first message) []message {
	taken := []message{first}
	for len(taken) < batch {
		select {
		case next := <-d.inbox:
			taken = append(taken, next)
		default:
			return taken
		}
	}
	return taken
}

// turn does what messages ask for, makes it durable, and tells those who wait.
func (d *Driver) turn(ctx context.Context, taken []message) error {
	answers := make([]error, len(taken))
	for i, m := range taken {
		if answers[i] = m.do(); errors.Is(answers[i], checkpoint.ErrFenced) {
			return answers[i]
		}
	}
	if err := d.commit(ctx); err != nil {
		return err
	}
	for i, m := range taken {
		if m.done != nil {
			m.done <- answers[i]
		}
	}
	return nil
}

// commit makes durable what has changed, and only then begins what that asks for.
func (d *Driver) commit(ctx context.Context) error {
	ready := d.machine.Ready()
	if !ready.Record.Empty() {
		if err := d.soon(func() error { return d.journal.Append(ready.Record) }); err != nil {
			return fmt.Errorf("driver: %w", err)
		}
	}
	d.members.drop(ready.Record.Lost)
	d.view.apply(ready.Record)
	for _, e := range ready.Effects {
		d.begin(ctx, e)
	}
	if d.journal.Bytes() < d.compactAt {
		return nil
	}
	if err := d.soon(func() error { return d.journal.Compact(d.machine.Snapshot()) }); err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	d.compactAt = max(d.options.CompactBytes, 2*d.journal.Bytes())
	return nil
}

// soon returns what a call of the journal returns, or ErrHung.
func (d *Driver) soon(call func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.options.AppendLimit)
	defer cancel()
	_, err := abandon.Do(ctx, func(context.Context) (struct{}, error) { return struct{}{}, call() })
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return fmt.Errorf("%w within %v", ErrHung, d.options.AppendLimit)
	}
	return err
}

// ask has the loop do something, and waits until what that has changed is durable.
func (d *Driver) ask(ctx context.Context, do func() error) error {
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

func (d *Driver) step(events ...checkpoint.Event) error {
	for _, event := range events {
		if err := d.machine.Step(event); err != nil {
			return err
		}
	}
	return nil
}

// tick tells the machine the time, gives up servers that are silent, and has jobs saved.
func (d *Driver) tick(now time.Time) error {
	if err := d.step(checkpoint.Tick{Now: now}); err != nil {
		return err
	}
	for _, id := range d.members.silent(now, d.config.Grace) {
		if err := d.step(checkpoint.ServerLost{ID: id}); err != nil {
			return err
		}
	}
	if d.options.SaveEvery == 0 {
		return nil
	}
	return d.saveDue(now)
}

// saveDue has the jobs saved that have run for long enough since they were last saved, or begun.
func (d *Driver) saveDue(now time.Time) error {
	running := d.view.running()
	maps.DeleteFunc(d.saved, func(job string, _ time.Time) bool { _, runs := slices.BinarySearch(running, job); return !runs })
	for _, job := range running {
		last, known := d.saved[job]
		if known && now.Sub(last) < d.options.SaveEvery {
			continue
		}
		d.saved[job] = now
		if !known {
			continue
		}
		if err := d.step(checkpoint.Checkpoint{Job: job}); err != nil {
			return err
		}
	}
	return nil
}
