// This file implements what the driver learns from agents: they join, they are asked again and again, and what
// they tell of their jobs becomes events.

package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
)

// ErrTwice: another agent of the same name answers.
var ErrTwice = errors.New("driver: an agent of this name is there and answers")

// Join lets a server in, or a new agent of a server that is there, or a new capacity. The agent is asked
// first, so that only servers join that answer. Nothing is written where nothing has changed.
//
// Of two agents of one name, as of a configuration that was copied, the second is refused while the first answers:
// ErrTwice. One that has another memory than the agent before is refused until the server is lost, also by the drivers
// that follow. Otherwise the error is that of the agent, of [checkpoint.ServerUp], or of Apply.
func (d *Driver) Join(ctx context.Context, server apportion.Server, a Agent) error {
	select {
	case <-d.begun:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.ended:
		return ErrEnded
	}
	if !d.mayBegin() {
		d.members.calls(server.ID)
	}
	// The zero member hands back no stamp, which renews no lease: whether the machine takes this server is not known yet.
	status, err := d.question(ctx, &member{agent: a})
	// The agent has heard of a newer master. The loop ends with that, not only this call.
	if errors.Is(err, checkpoint.ErrFenced) {
		err = errors.Join(err, d.fail(ctx, err))
	}
	if err != nil {
		return fmt.Errorf("driver: server %q: %w", server.ID, err)
	}
	before := d.members.get(server.ID)
	if d.answers(ctx, before, status.Incarnation) {
		d.members.answered(server.ID)
		return fmt.Errorf("driver: server %q: %w", server.ID, ErrTwice)
	}
	return d.ask(ctx, func() error {
		d.members.answered(server.ID)
		// Of two that join at the same time the second has asked nobody: it may try again.
		if now := d.members.get(server.ID); now != before && now.isAnother(status.Incarnation) {
			return fmt.Errorf("driver: server %q: another agent has just joined: %w", server.ID, ErrTwice)
		}
		if err := d.step(checkpoint.ServerUp{Server: server, Incarnation: status.Incarnation.Book, Witness: status.Witness}); err != nil {
			return err
		}
		// The member is made by the loop, because d.life belongs to it.
		m := newMember(d.life, a)
		m.met(status)
		d.members.put(server.ID, m)
		d.under.Go(func() { d.watch(m.gone, server.ID, m) })
		d.attend()
		return nil
	})
}

// answers reports whether the agent of a member answers that is another process than the one that joins.
func (d *Driver) answers(ctx context.Context, m *member, joins agent.Incarnation) bool {
	// Most agents that join again are the same process, which needs no question.
	if !m.isAnother(joins) {
		return false
	}
	// At the address of the one before the new one may answer, which is no other.
	status, err := d.question(ctx, m)
	return err == nil && status.Incarnation.Life != "" && status.Incarnation.Life != joins.Life
}

// question asks an agent how its jobs stand, for no longer than a quarter of the grace, so that a server has
// several chances to answer before it is lost.
//
// An answer of another memory than before is none: it knows nothing of the jobs of this server.
func (d *Driver) question(ctx context.Context, m *member) (agent.Status, error) {
	heard, self := m.known()
	// Four questions that get no answer fit into the grace, so one lost packet is no lost server.
	ctx, cancel := context.WithTimeout(ctx, d.config.Grace/4)
	defer cancel()
	status, err := abandon.Do(ctx, func(ctx context.Context) (agent.Status, error) {
		return m.agent.Status(ctx, agent.Question{Epoch: d.epoch, Heard: heard, Book: self.Book, Forget: m.forgotten()})
	})
	if err == nil && self.Book != "" && status.Incarnation.Book != self.Book {
		return agent.Status{}, errors.New("an agent with another memory answers")
	}
	return status, err
}

// fail ends the loop with an error of isEnd: whoever hears of a newer master must stop.
func (d *Driver) fail(ctx context.Context, end error) error {
	return d.ask(ctx, func() error { return end })
}

// watch asks an agent again and again, until it is gone. The pause doubles with every failure up to an eighth
// of the grace.
func (d *Driver) watch(ctx context.Context, server string, m *member) {
	strays := map[checkpoint.Orphan]int{}
	for pause := d.options.Poll; ; {
		// What is expected is read before the question goes out. A job that begins to run while the
		// agent answers would otherwise be missed in an answer that is older than it.
		expected := d.view.hosted(server)
		status, err := d.question(ctx, m)
		switch {
		case err == nil:
			m.met(status)
			m.remembers(d.unknown(status.Ended))
			pause = d.options.Poll
			err = d.learn(ctx, server, expected, status.Jobs)
			if err == nil {
				strays, err = d.stopStrays(ctx, server, strays, status.Jobs)
			}
		case errors.Is(err, checkpoint.ErrFenced):
			err = errors.Join(err, d.fail(ctx, err))
		default:
			// A failure by itself is no news for the machine: only silence that lasts is, and the tick
			// looks for that. The eighth leaves several tries within the grace.
			pause, err = min(2*pause, max(d.options.Poll, d.config.Grace/8)), nil
		}
		if err != nil {
			return // the loop has ended, or ends
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// unknown are those of some jobs that are on no record. One that is submitted again meanwhile has no attempt on the server
// yet, or another than the one that has ended.
func (d *Driver) unknown(ended []agent.Ended) []agent.Ended {
	var over []agent.Ended
	for _, e := range ended {
		if d.view.job(e.Job) == nil {
			over = append(over, e)
		}
	}
	return over
}

// learn takes in how the jobs of a server stand. expected are those that ran there when the agent was asked. An
// answer may be older than what the machine knows by now: events of an earlier attempt are ignored there, so
// nothing needs to be compared here but what is expected. O(jobs of the server).
func (d *Driver) learn(ctx context.Context, server string, expected []*checkpoint.Job, found []agent.JobStatus) error {
	var news []checkpoint.Event
	for _, j := range expected {
		// The attempt is compared as well: an agent that tells of an earlier one has not got this one.
		known := slices.ContainsFunc(found, func(s agent.JobStatus) bool { return s.Job == j.Name && s.Attempt == j.Attempt })
		if !known {
			news = append(news, checkpoint.Exited{Job: j.Name, Attempt: j.Attempt, Detail: fmt.Sprintf("server %s does not know of it", server)})
		}
	}
	for _, s := range found {
		j := d.view.job(s.Job)
		// Other attempts, and jobs that have no container there, are left from before, see stopStrays.
		if j == nil || j.Attempt != s.Attempt || !slices.Contains(j.Containers, server) {
			continue
		}
		// Progress is that of rank 0, whose steps are those of the job: those of other ranks would
		// make the number jump back and forth.
		leads := j.Containers[0] == server
		if leads && s.Unknown == "" {
			d.view.learn(s.Job, s.Progress)
		}
		news = append(news, ending(s, leads)...)
	}
	if len(news) == 0 {
		return nil
	}
	return d.Apply(ctx, news...)
}

// stopStrays has those attempts stopped that should not run on a server, by what is on record, and returns in how many
// answers in a row each was seen. One that is seen once is left: an answer may be older than what is on record by now. From
// then on it is stopped less and less often, for that may take a while.
func (d *Driver) stopStrays(ctx context.Context, server string, before map[checkpoint.Orphan]int, found []agent.JobStatus) (map[checkpoint.Orphan]int, error) {
	seen := map[checkpoint.Orphan]int{}
	var news []checkpoint.Event
	for _, s := range found {
		if j := d.view.job(s.Job); j != nil && j.Attempt == s.Attempt && j.Live() {
			continue
		}
		stray := checkpoint.Orphan{Server: server, Job: s.Job, Attempt: s.Attempt}
		seen[stray] = before[stray] + 1
		// The powers of two but the first: 2, 4, 8 and so on.
		if n := seen[stray]; n > 1 && n&(n-1) == 0 {
			news = append(news, stray)
		}
	}
	if len(news) == 0 {
		return seen, nil
	}
	return seen, d.Apply(ctx, news...)
}

// ending is the event that an attempt has ended, if it has. The first container's server tells whether the
// work is done; a process that is gone without that is missed on every server.
func ending(s agent.JobStatus, leads bool) []checkpoint.Event {
	switch {
	case leads && s.Progress.Done:
		return []checkpoint.Event{checkpoint.Finished{Job: s.Job, Attempt: s.Attempt}}
	case s.Progress.Failed != "":
		return []checkpoint.Event{checkpoint.Exited{Job: s.Job, Attempt: s.Attempt, Detail: s.Progress.Failed, Refused: s.Progress.Refused}}
	}
	return nil
}
