// This file implements the watch over agents: who is there, and how their jobs stand.

package master

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/examples/studies/inhouse/agent"
	"github.com/apportion/apportion/examples/studies/inhouse/wire"
)

// member is an agent.
type member struct {
	client *wire.Client // nil: known from the journal only
	seen   time.Time    // when it last answered
	asked  bool         // a question is under way
}

// Registration is what an agent says of itself, again and again.
type Registration struct {
	URL    string           `json:"url"`
	Server apportion.Server `json:"server"`
}

// register lets an agent in.
func (m *Master) register(r Registration) error {
	if err := m.machine.Step(checkpoint.ServerUp{Server: r.Server}); err != nil {
		return err
	}
	known, ok := m.members[r.Server.ID]
	if !ok {
		known = &member{}
		m.members[r.Server.ID] = known
		m.hurry()
	}
	if known.client == nil || known.client.Base != r.URL {
		known.client = &wire.Client{Base: r.URL, Token: m.config.Token}
	}
	known.seen = time.Now()
	return nil
}

// watch asks every agent how its jobs stand, and gives up those that have been silent for too long: the
// agent has ended its jobs by then.
func (m *Master) watch(ctx context.Context, now time.Time) error {
	for name, member := range m.members {
		if now.Sub(member.seen) > m.config.Grace {
			delete(m.members, name)
			m.hurry()
			if err := m.machine.Step(checkpoint.ServerLost{ID: name}); err != nil {
				return err
			}
			continue
		}
		if member.client != nil && !member.asked {
			member.asked = true
			client, jobs := member.client, m.running(name)
			question := agent.Question{Epoch: m.machine.Epoch()}
			m.under.Go(func() {
				status, err := m.question(ctx, client, question)
				_ = m.ask(ctx, func() error { return m.answered(name, jobs, status, err) }) // the loop sees the error
			})
		}
	}
	return nil
}

// running returns the jobs that were running when an agent is asked: it must know of them.
func (m *Master) running(server string) []checkpoint.Job {
	return slices.DeleteFunc(m.machine.Jobs(), func(job checkpoint.Job) bool {
		live := []checkpoint.Phase{checkpoint.Running, checkpoint.Saving, checkpoint.Verifying}
		return !slices.Contains(live, job.Phase) || !slices.Contains(job.Containers, server)
	})
}

// question asks an agent how its jobs stand.
func (m *Master) question(ctx context.Context, client *wire.Client, q agent.Question) (agent.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, m.config.Grace/2)
	defer cancel()
	var status agent.Status
	err := client.Call(ctx, "/status", q, &status)
	return status, err
}

// answered takes in the answer of an agent, with the jobs that ran when it was asked.
func (m *Master) answered(name string, jobs []checkpoint.Job, status agent.Status, err error) error {
	member, ok := m.members[name]
	if !ok {
		return nil
	}
	member.asked = false
	switch {
	case errors.Is(err, checkpoint.ErrFenced):
		return err
	case err != nil:
		return nil // silent
	}
	member.seen = time.Now()
	return m.learn(name, jobs, status.Jobs)
}

// learn takes in how the jobs of an agent stand.
func (m *Master) learn(server string, running []checkpoint.Job, found []agent.JobStatus) error {
	for _, job := range running {
		known := slices.ContainsFunc(found, func(s agent.JobStatus) bool { return s.Job == job.Name && s.Attempt == job.Attempt })
		if known {
			continue
		}
		detail := fmt.Sprintf("server %s does not know of it", server)
		if err := m.machine.Step(checkpoint.Exited{Job: job.Name, Attempt: job.Attempt, Detail: detail}); err != nil {
			return err
		}
	}
	for _, s := range found {
		job, ok := m.machine.Job(s.Job)
		if !ok || job.Attempt != s.Attempt || !slices.Contains(job.Containers, server) {
			continue
		}
		if err := m.follow(&job, s.Progress, job.Containers[0] == server); err != nil {
			return err
		}
	}
	return nil
}

// follow reports the end of an attempt. The process of rank 0, on the first server, tells whether the
// work is done; a process that is gone without that is missed on every server.
func (m *Master) follow(job *checkpoint.Job, p runner.Progress, leads bool) error {
	if leads {
		m.progress[job.Name] = p
	}
	switch {
	case leads && p.Done:
		m.hurry()
		return m.machine.Step(checkpoint.Finished{Job: job.Name, Attempt: job.Attempt})
	case p.Failed != "":
		return m.machine.Step(checkpoint.Exited{Job: job.Name, Attempt: job.Attempt, Detail: p.Failed})
	}
	return nil
}
