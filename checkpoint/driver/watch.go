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

// Join lets a server in, or a new agent of a server that is there, or a new capacity. The agent is asked
// first, so that only servers join that answer. Nothing is written where nothing has changed. The error is
// that of the agent, of [checkpoint.ServerUp], or of Apply.
func (d *Driver) Join(ctx context.Context, server apportion.Server, a Agent) error {
	status, err := d.question(ctx, a, agent.Stamp{})
	if errors.Is(err, checkpoint.ErrFenced) {
		err = errors.Join(err, d.fail(ctx, err))
	}
	if err != nil {
		return fmt.Errorf("driver: server %q: %w", server.ID, err)
	}
	return d.ask(ctx, func() error {
		if !d.view.has(server) {
			if err := d.step(checkpoint.ServerUp{Server: server}); err != nil {
				return err
			}
		}
		m := newMember(d.life, a)
		m.met(status)
		d.members.put(server.ID, m)
		d.under.Go(func() { d.watch(m.gone, server.ID, m) })
		return nil
	})
}

// question asks an agent how its jobs stand, for no longer than a quarter of the grace, so that a server has
// several chances to answer before it is lost.
func (d *Driver) question(ctx context.Context, a Agent, heard agent.Stamp) (agent.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, d.config.Grace/4)
	defer cancel()
	return abandon.Do(ctx, func(ctx context.Context) (agent.Status, error) {
		return a.Status(ctx, agent.Question{Epoch: d.epoch, Heard: heard})
	})
}

// fail ends the loop with an error that wraps ErrFenced: whoever hears of a newer master must stop.
func (d *Driver) fail(ctx context.Context, fenced error) error {
	return d.ask(ctx, func() error { return fenced })
}

// watch asks an agent again and again, until it is gone. The pause doubles with every failure up to an eighth
// of the grace.
func (d *Driver) watch(ctx context.Context, server string, m *member) {
	for pause := d.options.Poll; ; {
		expected := d.view.hosted(server)
		status, err := d.question(ctx, m.agent, m.heard())
		switch {
		case err == nil:
			m.met(status)
			pause = d.options.Poll
			err = d.learn(ctx, server, expected, status.Jobs)
		case errors.Is(err, checkpoint.ErrFenced):
			err = errors.Join(err, d.fail(ctx, err))
		default:
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

// learn takes in how the jobs of a server stand. expected are those that ran there when the agent was asked. An
// answer may be older than what the machine knows by now: events of an earlier attempt are ignored there, so
// nothing needs to be compared here but what is expected. O(jobs of the server).
func (d *Driver) learn(ctx context.Context, server string, expected []*checkpoint.Job, found []agent.JobStatus) error {
	var news []checkpoint.Event
	for _, j := range expected {
		known := slices.ContainsFunc(found, func(s agent.JobStatus) bool { return s.Job == j.Name && s.Attempt == j.Attempt })
		if !known {
			news = append(news, checkpoint.Exited{Job: j.Name, Attempt: j.Attempt, Detail: fmt.Sprintf("server %s does not know of it", server)})
		}
	}
	for _, s := range found {
		j := d.view.job(s.Job)
		if j == nil || j.Attempt != s.Attempt || !slices.Contains(j.Containers, server) {
			continue
		}
		leads := j.Containers[0] == server
		if leads {
			d.view.learn(s.Job, s.Progress)
		}
		news = append(news, ending(s, leads)...)
	}
	if len(news) == 0 {
		return nil
	}
	return d.Apply(ctx, news...)
}

// ending is the event that an attempt has ended, if it has. The first container's server tells whether the
// work is done; a process that is gone without that is missed on every server.
func ending(s agent.JobStatus, leads bool) []checkpoint.Event {
	switch {
	case leads && s.Progress.Done:
		return []checkpoint.Event{checkpoint.Finished{Job: s.Job, Attempt: s.Attempt}}
	case s.Progress.Failed != "":
		return []checkpoint.Event{checkpoint.Exited{Job: s.Job, Attempt: s.Attempt, Detail: s.Progress.Failed}}
	}
	return nil
}
