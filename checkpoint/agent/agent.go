// This file implements Agent: a ready-made agent that runs jobs by a Runner, [Dorm] §III-C2.

package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/check"
)

// Config says who an agent is. Every field but Fetch, Discard, Clock and Report is required.
type Config struct {
	// Server is the ID of the server on which the agent runs jobs.
	Server string
	// Disk holds the agent's memory. Nobody else writes there.
	Disk vfs.FS
	// Shared is the folder, by its absolute path, into which the attempts of jobs write. All servers of a
	// job see the same folder.
	Shared string
	// Restored is the folder, by its absolute path, into which checkpoints are fetched for processes that
	// begin from them. It is the server's own.
	Restored string
	// Fetch fetches a checkpoint into a folder, which is whole when it has its name; nil: store.Load does.
	Fetch func(ctx context.Context, from store.Store, job string, number int64, dir string) error
	// Discard says that the folder of a job in Shared, with all that its attempts have written, is removed when the master
	// has forgotten the job.
	Discard bool
	// Store keeps the checkpoints.
	Store store.Store
	// Runner returns what runs the processes of a job here, from the Spec of its orders. It is called
	// again when the Spec changes and after a restart. A runner that is an io.Closer is closed when it is
	// not used any more.
	Runner func(job string, spec json.RawMessage) (runner.Runner, error)
	// Lease is how long jobs run on without a master.
	Lease time.Duration
	// Clock tells the time; nil: [Uptime].
	Clock func() Stamp
	// Report is told what stands in the way of the lease: processes that do not end, a book that cannot be written.
	// It is called from several goroutines. Nil: nobody is told.
	Report func(error)
}

// Validate returns the faults of a Config as [apportion.Faults].
//
// All faults come at once, so that a configuration is corrected in one go.
func (c *Config) Validate() error {
	var faults apportion.Faults
	check.Required(&faults, apportion.Item{ID: "config"}, map[string]bool{
		"Server": c.Server == "", "Disk": c.Disk == nil, "Shared": c.Shared == "", "Restored": c.Restored == "",
		"Store": c.Store == nil, "Runner": c.Runner == nil, "Lease": c.Lease == 0,
	})
	if c.Lease < 0 {
		faults.Add(apportion.Item{ID: "config"}, "Lease", apportion.ErrNegative, c.Lease.String())
	}
	return faults.Err()
}

// Agent carries out the effects of a master on one server: each once, whatever comes twice or late. When it
// has not heard of a master for the length of its lease, it ends all its jobs. It is safe for concurrent
// use, keeps the promises of [checkpoint.Effect], and may be killed at any moment: one that is started
// after it on the same Disk finds the jobs again.
type Agent struct {
	config Config
	book   *Book
	self   Incarnation

	// mu guards what follows. It is never held while a disk, a store or a process is waited for. What is
	// admitted and what enters a lane happens under it together, so that a Stop ends all that was
	// admitted before it.
	mu      sync.Mutex
	lanes   map[string]*lane
	runners map[string]made
	lease   Lease
	kept    Stamp              // the stamp that was written down last
	keeping bool               // one is being written down
	ended   map[string]int64   // by job: the newest attempt that this agent has ended
	ending  map[string]bool    // jobs that are being ended because the lease is over
	unknown map[string]unknown // jobs that cannot be looked at
	tidying bool               // the book is being written because the lease is over
}

// made is a runner, and the Spec that it was made from.
type made struct {
	runner runner.Runner
	spec   string
}

// New takes over the memory on a disk, with the jobs that run from before, or begins one.
func New(config Config) (*Agent, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	// The clock must be one for all agents that follow each other on a Disk: another would make kept
	// stamps mean nothing.
	if config.Clock == nil {
		config.Clock = Uptime
	}
	if config.Report == nil {
		config.Report = func(error) {}
	}
	if config.Fetch == nil {
		config.Fetch = func(ctx context.Context, from store.Store, job string, number int64, dir string) error {
			_, err := store.Load(ctx, from, job, number, dir)
			return err
		}
	}
	// Nothing is started or ended here: jobs of the agent before are found when they are asked for, or
	// when the lease is over.
	book, err := OpenBook(config.Disk, config.Server)
	if err != nil {
		return nil, err
	}
	heard, err := readHeard(config.Disk)
	if err != nil {
		return nil, err
	}
	name, err := book.name(config.Clock().Boot)
	if err != nil {
		return nil, err
	}
	return &Agent{
		config: config, book: book, self: Incarnation{Book: name, Life: rand.Text()}, lanes: map[string]*lane{}, runners: map[string]made{}, ended: map[string]int64{},
		ending: map[string]bool{}, unknown: map[string]unknown{},
		lease: Lease{Length: config.Lease, Heard: heard}, kept: heard,
	}, nil
}

// Close closes the runners. Jobs run on.
func (a *Agent) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	// All are closed even if one of them fails.
	var err error
	for _, m := range a.runners {
		err = errors.Join(err, m.close())
	}
	clear(a.runners)
	return err
}

func (m made) close() error {
	if c, ok := m.runner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Do carries out an effect and says how that went. It never returns an error: what goes wrong is an
// Outcome, with the Detail in words. A refused effect changes nothing, and renews no lease.
func (a *Agent) Do(ctx context.Context, order Order) (checkpoint.Reply, error) {
	e := order.Effect
	// The name becomes a part of paths, so it is checked before anything is noted.
	if err := store.CheckJob(e.Job); err != nil {
		return answer(e, checkpoint.Failed, err.Error()), nil
	}
	// 1. Decide, and note the decision in memory.
	p, verdict := a.admit(ctx, order)
	defer p.leave()
	switch verdict.Ruling {
	case Refused:
		return answer(e, checkpoint.Fenced, verdict.Reason.Text), nil
	case Impossible:
		return answer(e, checkpoint.Failed, verdict.Reason.Text), nil
	}
	if e.Action == checkpoint.Stop {
		return a.doStop(p, e), nil
	}
	// 2. Make the decision durable before anything is done about it: after a crash between the two the
	// fence is too strict and never too lax.
	err := a.flush(p.ctx)
	// A repeated effect waits for the disk as well: its first time may have been noted by an agent
	// that died before it flushed.
	if err == nil && verdict.Ruling == Repeated {
		return answer(e, checkpoint.Done, ""), nil
	}
	// 3. Act, in the lane of the job.
	step := int64(-1)
	if err == nil {
		step, err = p.lane.use(p.ctx, func(ctx context.Context) (int64, error) { return a.carryOut(ctx, order) })
	}
	if err != nil {
		return answer(e, a.outcome(e, err), err.Error()), nil
	}
	reply := answer(e, checkpoint.Done, "")
	reply.Step = step
	return reply, nil
}

// doStop ends the processes and writes the book, each beside the other, so that no disk which hangs or is full keeps them
// alive. Done needs both: what is not written down could be started again by a Resume that comes after a crash.
func (a *Agent) doStop(p passage, e checkpoint.Effect) checkpoint.Reply {
	// The book is written whatever becomes of the processes: the attempt stays fenced off.
	written := make(chan error, 1)
	go func() { written <- a.flush(p.ctx) }() // which ends with the context at the latest
	err := p.lane.end(p.ctx, func(ctx context.Context) error { return a.stop(ctx, e.Job) })
	if err == nil {
		a.sawEnd(e.Job, e.Attempt)
	}
	if err = errors.Join(err, <-written); err != nil {
		return answer(e, a.outcome(e, err), err.Error())
	}
	return answer(e, checkpoint.Done, "")
}

// errUnread: a checkpoint could not be fetched.
var errUnread = errors.New("agent: the checkpoint cannot be fetched")

func answer(e checkpoint.Effect, outcome checkpoint.Outcome, detail string) checkpoint.Reply {
	return checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: outcome, Detail: detail, Step: -1}
}

// outcome is what an error says of an effect that was admitted. A runner refuses an attempt that was ended
// because the lease is over: that attempt has failed, and no newer master is the reason.
func (a *Agent) outcome(e checkpoint.Effect, err error) checkpoint.Outcome {
	// Only a Resume reads a checkpoint; for a Save the same errors are a failure of the store.
	damaged := errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound)
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case e.Action == checkpoint.Resume && damaged:
		return checkpoint.Damaged
	// Perhaps the disk here is full, and nothing is wrong with the checkpoint: the master reads it, too.
	case errors.Is(err, errUnread) && !ended:
		return checkpoint.Unreadable
	case errors.Is(err, checkpoint.ErrFenced) && e.Attempt > a.book.Page(e.Job).Lapsed:
		return checkpoint.Fenced
	}
	return checkpoint.Failed
}

// passage is an effect that was admitted, in the lane of its job.
type passage struct {
	lane  *lane
	ctx   context.Context
	leave func()
}

// admit decides about an effect. What it does to others of the job happens in the order of the decisions.
func (a *Agent) admit(ctx context.Context, order Order) (passage, Verdict) {
	e := order.Effect
	// What is for another agent is not even noted: its epoch may be that of another cluster.
	if !a.self.meant(order.Book) {
		return passage{leave: func() {}}, misled(e)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.late(order) {
		return passage{leave: func() {}}, Verdict{Impossible, apportion.Reason{Constraint: LeaseOver, Applications: []string{e.Job},
			Text: fmt.Sprintf("%s of job %q: its master had not heard of this server for the length of a lease", e.Action, e.Job)}}
	}
	verdict := a.book.note(e)
	// A refused effect enters no lane, so that an old master cannot cut short what the new one has
	// asked for.
	if verdict.Ruling == Refused {
		return passage{leave: func() {}}, verdict
	}
	// The stamp counts only now: a master that was refused must not keep jobs alive.
	a.renew(order.Heard)
	return a.enter(ctx, e.Job, e.Attempt, e.Action == checkpoint.Stop), verdict
}

// enter enters the lane of a job, after it has ended what is in it for attempts up to this one if ending
// says so. a.mu is held.
func (a *Agent) enter(ctx context.Context, job string, attempt int64, ending bool) passage {
	// A lane is made once for each job name and stays, since another effect may wait in it at any
	// time.
	p := passage{lane: a.lanes[job]}
	if p.lane == nil {
		p.lane = newLane()
		a.lanes[job] = p.lane
	}
	if ending {
		p.lane.drop(attempt)
		p.ctx, p.leave = ctx, func() {}
	} else {
		p.ctx, p.leave = p.lane.enter(ctx, attempt)
	}
	return p
}

// flush makes the book durable, unless the context ends before the disk answers. A write that comes late does no
// harm: it writes what is known by then.
func (a *Agent) flush(ctx context.Context) error {
	_, err := abandon.Do(ctx, func(context.Context) (struct{}, error) { return struct{}{}, a.book.Flush() })
	return err
}

// runner returns what runs the processes of a job. One is made outside of the lock, for that may touch a disk; of
// two that are made at the same time the second stays.
func (a *Agent) runner(job string, spec json.RawMessage) (runner.Runner, error) {
	a.mu.Lock()
	known, ok := a.runners[job]
	a.mu.Unlock()
	if ok && known.spec == string(spec) {
		return known.runner, nil
	}
	r, err := a.config.Runner(job, spec)
	if err != nil {
		return nil, fmt.Errorf("job %q: %w", job, err)
	}
	a.mu.Lock()
	old, replaced := a.runners[job]
	a.runners[job] = made{r, string(spec)}
	a.mu.Unlock()
	if replaced {
		err = old.close()
	}
	return r, err
}
