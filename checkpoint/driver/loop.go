// This file implements the loop: step, append, perform, [Dorm] §III-C2. It is the only goroutine that touches
// the machine and the journal.

package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
)

// batch is how many messages share a record at most, so that one write to the disk serves them all and none
// waits for long.
//
// 256 is large against the replies of 100 jobs at once, and small against the time that one disk write
// takes: a message costs microseconds, a write milliseconds.
const batch = 256

// Run drives the machine until the context ends, and returns nil then. Otherwise the error wraps
// checkpoint.ErrFenced if another master has taken over, checkpoint.ErrBehind if a server knows more than the journal,
// store.ErrIdentity if the store is not the one that the journal knows, ErrHung, or the error of the journal: the machine
// knows more than its records then, and the next driver needs a new one. Run is called once. When it
// returns, nothing that it has begun goes on, but calls of agents, store and journal that ignore their
// context.
func (d *Driver) Run(ctx context.Context) (err error) {
	// The order of the end matters: first the context of all that is under way ends, then Run waits
	// for it, then the journal is closed, and only then do callers hear that the driver has ended.
	// Otherwise a caller could open the journal again while this driver still writes to it.
	ctx, end := context.WithCancel(ctx)
	defer close(d.ended)
	defer func() {
		end()
		d.under.Wait()
		err = errors.Join(err, d.close(err))
		d.logger.ended(d.epoch, err)
	}()
	// Members and clean-ups that begin later take this context.
	d.life = ctx
	if err := d.acceptLoss(ctx); err != nil {
		return err
	}
	d.options.Log.Info("leads", "epoch", d.epoch)
	close(d.begun)
	// Servers of the journal are members from the first moment, so that one whose agent never comes
	// back is given up after the grace like any other.
	d.members.open(ctx, d.machine.Servers())
	d.attend()
	ticker := time.NewTicker(d.options.Poll)
	defer ticker.Stop()
	d.under.Go(func() { d.identify(ctx) })
	// What the driver before has left undone comes first.
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
			// A tick is a message like any other, but nobody waits for its error: a server that is not there any
			// more, or a job that cannot be saved now, is looked at again at the next tick.
			taken = []message{{do: func() error { return d.tick(now) }}}
		}
		if err := d.turn(ctx, taken); err != nil {
			return err
		}
	}
}

// close closes the journal, unless that is what hangs.
func (d *Driver) close(ended error) error {
	// Close would wait for the same disk. The operating system closes the file with the process.
	if errors.Is(ended, ErrHung) {
		return nil
	}
	return d.soon(d.journal.Close)
}

// drain returns the first message and those that wait behind it. While a record is being written others come
// together, so the busier the driver is, the fewer writes an event takes.
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

// turn does what messages ask for, makes it durable, and tells those who wait. A message that is refused has
// changed nothing by its last event and does not hold up the others; a master that was replaced ends here.
func (d *Driver) turn(ctx context.Context, taken []message) error {
	// Answers are kept until the record is durable: a caller that hears "done" may rely on it after a
	// crash.
	answers := make([]error, len(taken))
	for i, m := range taken {
		// A fenced master must not write another record: the newer one reads the journal already. So
		// the turn ends before commit, and what its messages have changed is lost with the machine.
		if answers[i] = m.do(); isEnd(answers[i]) {
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

// isEnd reports whether a driver that hears of an error must not go on.
func isEnd(err error) bool {
	return errors.Is(err, checkpoint.ErrFenced) || errors.Is(err, checkpoint.ErrBehind) || errors.Is(err, store.ErrIdentity)
}

// commit makes durable what has changed, and only then begins what that asks for. The order is what makes a
// driver safe to kill at any moment: append, publish, perform. O(changes), and O(jobs) where the journal is
// written anew.
func (d *Driver) commit(ctx context.Context) error {
	// 1. Append: the record is on the disk before anybody learns of it.
	ready := d.machine.Ready()
	if !ready.Record.Empty() {
		if err := d.soon(func() error { return d.journal.Append(ready.Record) }); err != nil {
			return fmt.Errorf("driver: %w", err)
		}
		if d.options.Recorded != nil {
			d.options.Recorded(ready.Record)
		}
	}
	// 2. Publish: whoever looks at the state sees only what is durable. Lost members go first, so that
	// an effect that is begun below finds no agent of a server that is gone.
	d.members.drop(ready.Record.Lost)
	maps.DeleteFunc(d.failing, func(it deed, _ *failing) bool { return slices.Contains(ready.Record.Lost, it.server) })
	d.view.apply(ready.Record)
	d.logger.say(ready.Record, time.Now())
	// 3. Perform: an effect that is begun now is in the journal, and the next master begins it again
	// if this one dies.
	for _, e := range ready.Effects {
		d.begin(ctx, e)
	}
	// 4. Compact: rarely, for it costs a snapshot of all jobs.
	if d.journal.Bytes() < d.compactAt {
		return nil
	}
	if err := d.soon(func() error { return d.journal.Compact(d.machine.Snapshot()) }); err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	// The next size is at least twice that of the snapshot. So the bytes written by compaction are at
	// most about as many as those appended since, even if the snapshot alone is above CompactBytes.
	d.compactAt = max(d.options.CompactBytes, 2*d.journal.Bytes())
	return nil
}

// soon returns what a call of the journal returns, or ErrHung. It does not end with the context of Run: a record
// that is being written when Run is to end is finished, for somebody may be waiting for it.
func (d *Driver) soon(call func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.options.AppendLimit)
	defer cancel()
	_, err := abandon.Do(ctx, func(context.Context) (struct{}, error) { return struct{}{}, call() })
	// A journal may return an error of its own that wraps DeadlineExceeded, for instance on a network
	// disk. That is not a hang unless the limit has passed as well.
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return fmt.Errorf("%w within %v", ErrHung, d.options.AppendLimit)
	}
	return err
}

// tick tells the machine the time, gives up servers that are silent, and has jobs saved. The machine's own pauses,
// time-outs and retries are due then. O(jobs).
func (d *Driver) tick(now time.Time) error {
	// A master that has nothing to append finds out here that it was replaced: until then it keeps jobs alive, on servers that its successor does
	// not reach and takes for lost.
	if leader, ok := d.journal.(interface{ Leads() error }); ok {
		if err := d.soon(leader.Leads); isEnd(err) || errors.Is(err, ErrHung) {
			return err
		}
	}
	// Time comes first, so that the server that is given up below is given up at this time and not at
	// that of the last tick. It stands still as long as no attempt may begin, so that none counts as failed for that.
	if d.attend() {
		if err := d.step(checkpoint.Tick{Now: now}); err != nil {
			return err
		}
	}
	if err := d.step(d.standings(now)...); err != nil {
		return err
	}
	if d.options.StallAfter > 0 {
		if err := d.step(d.view.stalled(now, d.options.StallAfter)...); err != nil {
			return err
		}
	}
	d.expire(now)
	if d.options.SaveEvery == 0 {
		return nil
	}
	return d.saveDue(now)
}

// standings are the events that follow from how long servers have given no answer. A server that is silent is nothing
// but that; fenced it is when its agent must have ended all jobs. O(servers log servers).
func (d *Driver) standings(now time.Time) []checkpoint.Event {
	var news []checkpoint.Event
	for _, s := range d.members.silences(now) {
		// The machine is asked and not the view: what it knows since the last record counts.
		host, known := d.machine.Host(s.server)
		switch {
		case !known:
		// At exactly the grace a server is still there: its agent ends its jobs after a lease that is
		// shorter, so "longer than" errs on the side of waiting.
		case s.silent > d.config.Grace:
			news = append(news, checkpoint.ServerFenced{ID: s.server})
		case s.silent > d.options.Silence && !host.Silent:
			news = append(news, checkpoint.ServerSilent{ID: s.server})
		// One whose agent has not joined this driver has answered to nobody yet.
		case s.silent <= d.options.Silence && host.Silent && s.joined:
			news = append(news, checkpoint.ServerUp{Server: host.Server, Incarnation: host.Incarnation})
		}
	}
	return news
}

// saveDue has the jobs saved that have run for long enough since they were last saved, or begun.
func (d *Driver) saveDue(now time.Time) error {
	running := d.view.in(checkpoint.Running)
	// A job that stopped running in between counts anew when it runs again: an adjustment has just
	// saved it.
	maps.DeleteFunc(d.saved, func(job string, _ time.Time) bool { _, runs := slices.BinarySearch(running, job); return !runs })
	for _, job := range running {
		last, known := d.saved[job]
		if known && now.Sub(last) < d.options.SaveEvery {
			continue
		}
		// The moment is noted whether or not the machine takes the event, so that a job which cannot
		// be saved now is asked again after SaveEvery and not ten times a second.
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
