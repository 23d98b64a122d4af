// This file implements Machine, the state machine of checkpoint-based resource adjustment:
// [Dorm §III-C2].

package checkpoint

import (
	"maps"
	"slices"
	"time"

	"github.com/apportion/apportion"
)

// Machine moves jobs from one set of containers to another without losing their work. It only thinks:
// Step tells it what happened, Ready says what to write down and what to do. It belongs to one
// goroutine; it has no clock and touches nothing outside itself.
//
// The caller's part, which package driver does, in this order and nothing else in between:
//
//  1. Step, once or several times.
//  2. Ready, and make its Record durable: journal.Append. If that fails, the machine knows more than
//     the journal: throw it away, do nothing more, and journal.Open anew.
//  3. Only then carry out the Effects of the Ready, and report each with a Reply, in a later Step.
//
// Besides, the caller Ticks, and reports Finished and Exited of the attempts that run: again and again,
// for a report can be lost with the master.
type Machine struct {
	config Config
	epoch  int64
	// journal is the name of the journal; empty: there is none. gaps are the numbers that no master on record has given
	// out.
	journal string
	gaps    []Gap
	// former are the names that the journal had before losses that were accepted, and lift is how much they have raised the
	// epoch.
	former []string
	lift   int64
	// store is the identity of the store that the checkpoints are in; empty: nobody has named it yet.
	store string
	// next is the number given out last: effects, attempts, checkpoints and orders share one counter,
	// so no number ever means two things, even when a job's name is used again.
	next    int64
	jobs    map[string]*Job
	names   []string // of jobs, ascending
	servers map[string]*Host

	// now is the time since the machine was made, as far as Ticks tell, and last the Tick before. due is
	// when a job's effect, pause or wait for room is over.
	now  time.Duration
	last time.Time
	due  map[string]time.Duration
	// saving is since when a job that is to change is being saved, and longest what its longest save has taken.
	saving, longest map[string]time.Duration
	// rest is until when no attempt of a job begins that has died again and again.
	rest map[string]time.Duration

	books books
	ready changes
	stale int64
	// over is what the machine has ended with; nil: it goes on.
	over error
}

// changes are what Ready will hand over.
type changes struct {
	jobs, gone, servers, lost map[string]bool
	next                      int64
	store, journal            string
	effects                   []Effect
}

// Epoch returns the number of this master.
func (m *Machine) Epoch() int64 { return m.epoch }

// Stale returns how many replies and reports came too late, or twice, and were ignored.
func (m *Machine) Stale() int64 { return m.stale }

// Job returns a copy of the state of a job, and whether there is one.
func (m *Machine) Job(name string) (Job, bool) {
	j, ok := m.jobs[name]
	if !ok {
		return Job{}, false
	}
	return j.Clone(), true
}

// Jobs returns a copy of the state of every job, ascending by name.
func (m *Machine) Jobs() []Job {
	jobs := make([]Job, len(m.names))
	for i, name := range m.names {
		jobs[i] = m.jobs[name].Clone()
	}
	return jobs
}

// Servers returns the servers that are there, ascending by ID.
func (m *Machine) Servers() []apportion.Server {
	servers := make([]apportion.Server, 0, len(m.servers))
	for _, id := range slices.Sorted(maps.Keys(m.servers)) {
		servers = append(servers, apportion.Server{ID: id, Capacity: m.servers[id].Capacity.Clone(), Cordoned: m.servers[id].Cordoned})
	}
	return servers
}

// Host returns a copy of the state of a server, and whether it is there.
func (m *Machine) Host(id string) (Host, bool) {
	host, ok := m.servers[id]
	if !ok {
		return Host{}, false
	}
	return host.Clone(), true
}

// Hosts returns a copy of the state of every server that is there, ascending by ID. O(servers log servers).
func (m *Machine) Hosts() []Host {
	hosts := make([]Host, 0, len(m.servers))
	for _, id := range slices.Sorted(maps.Keys(m.servers)) {
		hosts = append(hosts, m.servers[id].Clone())
	}
	return hosts
}

// number returns a number that was never given out.
func (m *Machine) number() int64 {
	m.next++
	return m.next
}

// touch notes that a job has changed.
// What changes a job without it is left out of the record and of the books.
func (m *Machine) touch(j *Job) {
	m.ready.jobs[j.Name] = true
	m.books.change(j.Name)
}

// enter puts a job into a phase, and issues the effect that belongs to it.
// No other place begins a phase, but for again, which goes back from Verifying to Saving.
func (m *Machine) enter(j *Job, phase Phase) {
	j.Phase, j.Effect, j.Tries = phase, 0, 0
	if phase != Verifying {
		j.Saving = Confirmed{}
	}
	if phase == Running || phase == Idle {
		j.Fallback, j.Reserved = nil, false // it has arrived
	}
	// The deadline was for the way to Stopping. One that came since is for what comes next.
	if phase != Saving && phase != Verifying && j.Order == 0 {
		j.Deadline = time.Time{}
	}
	delete(m.due, j.Name)
	m.touch(j)
	switch {
	case phase == Stopping && len(j.Containers) == 0:
		m.stopped(j) // every server of it is lost, and with that all its processes
	case phase.Action() != "":
		m.issue(j)
	}
}

// issue sends the effect of the job's phase under a new number.
func (m *Machine) issue(j *Job) {
	j.Effect = m.number()
	if j.Phase == Saving {
		j.Saving = Confirmed{Number: m.number(), Step: -1}
	}
	m.touch(j)
	m.send(j)
}

// send sends the effect under way, and sets its time-out.
func (m *Machine) send(j *Job) {
	m.due[j.Name] = m.now + m.config.timeout(j.Phase.Action())
	m.ready.effects = append(m.ready.effects, m.effect(j))
}

func (m *Machine) effect(j *Job) Effect {
	e := Effect{
		ID: j.Effect, Epoch: m.epoch, Journal: m.journal, Former: slices.Clone(m.former), Action: j.Phase.Action(), Job: j.Name, Attempt: j.Attempt,
		Containers: slices.Clone(j.Containers), Servers: distinct(j.Containers), Store: m.store,
	}
	switch j.Phase {
	case Saving, Verifying:
		e.Checkpoint = j.Saving.Number
	case Resuming:
		e.Checkpoint = j.Newest().Number
	case Releasing:
		// Release says what shall be left, not what to take away: done twice it is the same.
		e.Containers = both(j.Containers, j.Target)
		e.Servers = distinct(minus(j.Containers, j.Target))
	}
	return e
}
