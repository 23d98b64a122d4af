// This file implements membership: which servers are there, how each is asked for its jobs, and when one that
// does not answer is given up.

package driver

import (
	"context"
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
)

// member is a server and its agent.
type member struct {
	agent Agent // nil: none has joined yet; the server is known from the journal
	// gone ends when the server is lost, when another agent has joined for it, and with Run; end ends it.
	gone context.Context
	end  context.CancelFunc

	// mu guards what follows.
	mu   sync.Mutex
	seen time.Time   // when it last answered
	last agent.Stamp // the clock in that answer
}

func newMember(life context.Context, a Agent) *member {
	m := &member{agent: a, seen: time.Now()}
	m.gone, m.end = context.WithCancel(life)
	return m
}

// met notes an answer.
func (m *member) met(s agent.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen, m.last = time.Now(), s.Clock
}

// heard is the stamp to hand back.
func (m *member) heard() agent.Stamp {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// members are all servers that are there, by ID.
type members struct {
	mu  sync.Mutex
	all map[string]*member
}

// open begins with servers whose agents have not joined yet. Their silence counts from now on.
func (ms *members) open(life context.Context, servers []apportion.Server) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.all = map[string]*member{}
	for _, s := range servers {
		ms.all[s.ID] = newMember(life, nil)
	}
}

// get returns a member; nil: there is none.
func (ms *members) get(id string) *member {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return ms.all[id]
}

// put puts a member in the place of the one before.
func (ms *members) put(id string, m *member) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if before := ms.all[id]; before != nil {
		before.end()
	}
	ms.all[id] = m
}

// drop removes servers that are lost.
func (ms *members) drop(ids []string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, id := range ids {
		if m := ms.all[id]; m != nil {
			m.end()
			delete(ms.all, id)
		}
	}
}

// silent returns the servers that have given no answer for longer than the grace, ascending.
func (ms *members) silent(now time.Time, grace time.Duration) []string {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(ms.all)) {
		m := ms.all[id]
		m.mu.Lock()
		if now.Sub(m.seen) > grace {
			ids = append(ids, id)
		}
		m.mu.Unlock()
	}
	return ids
}

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

// has reports whether a server is there with that capacity.
func (v *view) has(server apportion.Server) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	capacity, there := v.servers[server.ID]
	return there && slices.Equal(capacity, server.Capacity)
}

// question asks an agent how its jobs stand, for no longer than a quarter of the grace.
func (d *Driver) question(ctx context.Context, a Agent, heard agent.Stamp) (agent.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, d.config.Grace/4)
	defer cancel()
	return abandon.Do(ctx, func(ctx context.Context) (agent.Status, error) {
		return a.Status(ctx, agent.Question{Epoch: d.epoch, Heard: heard})
	})
}

// fail ends the loop with an error that wraps ErrFenced.
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

// learn takes in how the jobs of a server stand. expected are those that ran there when the agent was asked.
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

// Agent returns the agent that has joined for a server; nil: none has, or the server is lost.
func (d *Driver) Agent(server string) Agent {
	if m := d.members.get(server); m != nil {
		return m.agent
	}
	return nil
}
