// This file implements the agent's part of the lease: it tells its clock, takes back its stamps, and ends
// all jobs when the newest of them is too old.

package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

// keepParts is into how many parts a lease is divided: how precisely its stamp is written down, and how
// often, at most, the agent looks whether it is over.
//
// A twentieth is precise against the Grace of a driver, which is longer than the lease by the drift of
// the clocks, and it keeps the disk of an agent that is asked ten times a second quiet.
const keepParts = 20

// renew takes back a stamp. What is written down may be older than what is known: then the lease of the next
// agent ends early, which does no harm. a.mu is held.
func (a *Agent) renew(echo Stamp) {
	a.lease = a.lease.Renew(echo, a.config.Clock())
	heard := a.lease.Heard
	// 1. One write at a time, 2. none without news, 3. none for less than a twentieth of the lease.
	if a.keeping || heard == a.kept || heard.Boot == a.kept.Boot && heard.At-a.kept.At < a.lease.Length/keepParts {
		return
	}
	// The disk is written without a.mu: one that hangs must not hold up the Stop of a job.
	a.keeping = true
	go func() {
		err := writeHeard(a.config.Disk, heard)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.keeping = false
		if err == nil {
			a.kept = heard
		}
	}()
}

// late reports whether an order to begin something was given by a master that had not heard of this server for the length of a lease.
// The server has been heard again since, and the order may be one of before: of the time when the master took the server for lost, and
// the job may be elsewhere by now. a.mu is held.
func (a *Agent) late(o Order) bool {
	begins := o.Effect.Action == checkpoint.Create || o.Effect.Action == checkpoint.Resume
	// An older master is told that it is one.
	if !begins || o.Heard == (Stamp{}) || o.Effect.Epoch < a.book.Epoch() {
		return false
	}
	now := a.config.Clock()
	return Lease{Length: a.lease.Length}.Renew(o.Heard, now).Left(now) == 0
}

// Status says how the jobs stand. The error wraps ErrFenced for a master whose epoch is lower than one that
// was seen; such a question renews no lease. What is wrong with one job is told of that job, and is no error.
func (a *Agent) Status(ctx context.Context, q Question) (Status, error) {
	// A question does not raise the epoch: only an effect does, since that is what must not be done
	// twice.
	//
	if epoch := a.book.Epoch(); q.Epoch < epoch {
		return Status{}, fmt.Errorf("agent: master %d asks, and master %d has taken over: %w", q.Epoch, epoch, checkpoint.ErrFenced)
	}
	if a.self.meant(q.Book) {
		a.mu.Lock()
		a.renew(q.Heard)
		a.mu.Unlock()
		a.forget(q.Forget)
	}
	s := Status{Clock: a.config.Clock(), Incarnation: a.self, Witness: a.book.Witness()}
	for _, job := range a.book.Jobs() {
		page := a.book.Page(job)
		if page.over() && len(s.Ended) < maxEnded {
			s.Ended = append(s.Ended, Ended{job, page.newest()})
		}
		// What was stopped or has lapsed is no news; the master would take its end for a death.
		if !page.MayRun() {
			continue
		}
		s.Jobs = append(s.Jobs, a.stands(ctx, job, page))
		// What an end of the question has broken off says nothing of a job.
		if err := ctx.Err(); err != nil {
			return Status{}, err
		}
	}
	return s, nil
}

// Run ends all jobs whenever the lease is over, until the context ends. Jobs run on then: the agent that is
// started next finds them. What cannot be ended, or written down, is told to Config.Report and tried again and again:
// an agent that gave up would leave the others to themselves.
//
// Without Run the lease has no effect: Do and Status renew it, and nobody looks whether it is over.
func (a *Agent) Run(ctx context.Context) {
	var under sync.WaitGroup
	// Each end is let go when the context ends, so this waits for no disk.
	defer under.Wait()
	for {
		a.mu.Lock()
		left := a.lease.Left(a.config.Clock())
		a.mu.Unlock()
		if left == 0 {
			a.lapse(ctx, &under)
		}
		// The pause is what is left of the lease, so that a lapse is late by scheduling alone. It is
		// at least a part, so that jobs which cannot be ended are not tried without a rest, and at
		// most a quarter, since a clock of a machine that slept may have jumped.
		part := a.config.Lease / keepParts
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(max(left, part), a.config.Lease/4)):
		}
	}
}

// lapse begins to end the newest attempt of every job, each in a goroutine of its own, and waits for none: one that
// hangs holds up neither the others nor the next look. The processes end first and the book is written after that, so
// that no disk which hangs or is full keeps them alive.
func (a *Agent) lapse(ctx context.Context, under *sync.WaitGroup) {
	for _, job := range a.book.Jobs() {
		// overtake is called in this goroutine, job after job, so that a master that is heard
		// meanwhile saves those that come later.
		attempt, p, any := a.overtake(ctx, job)
		if !any {
			continue
		}
		under.Go(func() {
			defer p.leave()
			a.report(ctx, job, a.endIn(p, job, attempt))
		})
	}
	a.tidy(ctx, under)
}

// report tells of an error, unless it comes from the end of the context.
func (a *Agent) report(ctx context.Context, job string, err error) {
	if err != nil && ctx.Err() == nil {
		a.config.Report(fmt.Errorf("agent: the lease is over, and job %q does not end: %w", job, err))
	}
}

// tidy begins to write the book if there is something new in it: what has lapsed shall stay so after a crash. One write
// at a time, so that a disk that hangs gathers no goroutines.
func (a *Agent) tidy(ctx context.Context, under *sync.WaitGroup) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tidying || !a.book.unwritten() {
		return
	}
	a.tidying = true
	under.Go(func() {
		err := a.flush(ctx)
		a.mu.Lock()
		a.tidying = false
		a.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			a.config.Report(err)
		}
	})
}

// overtake notes that the newest attempt of a job is to end, and enters the job's lane for that. It reports
// whether there is an attempt that this agent has not seen end. A master that was heard meanwhile keeps the
// jobs alive that have not been overtaken yet.
func (a *Agent) overtake(ctx context.Context, job string) (attempt int64, p passage, any bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	page := a.book.Page(job)
	// Created and not Resumed: a start that is under way has no mark yet, and must not come to life
	// either.
	attempt = page.Created
	// The lease is looked at again under the lock, for a word of the master may have come since Run
	// has looked.
	//
	// That a Stop was admitted is not enough: it may have failed, or its master may have stopped waiting.
	if attempt <= a.ended[job] || a.ending[job] || a.lease.Left(a.config.Clock()) > 0 {
		return 0, passage{}, false
	}
	a.ending[job] = true
	// The mark comes before the end of the processes: from now on the fence calls the attempt
	// impossible, so that no Resume starts it behind our back.
	if max(page.Lapsed, page.Stopped) < attempt {
		a.book.update(job, func(p *Page) { p.Lapsed, p.Containers = attempt, 0 })
	}
	// Ending is true: what is under way for the job, as a long fetch of a checkpoint, is cut short.
	return attempt, a.enter(ctx, job, attempt, true), true
}

// endIn ends an attempt in the lane of its job, where a start that is under way comes to its end first. An attempt
// that could not be ended is tried again at the next look.
func (a *Agent) endIn(p passage, job string, attempt int64) error {
	err := p.lane.end(p.ctx, func(ctx context.Context) error { return a.stop(ctx, job) })
	if err == nil {
		a.sawEnd(job, attempt)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.ending, job)
	return err
}

// sawEnd notes that nothing of a job lives up to an attempt.
func (a *Agent) sawEnd(job string, attempt int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended[job] = max(a.ended[job], attempt)
}
