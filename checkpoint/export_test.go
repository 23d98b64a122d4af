// This file lets the tests outside of the package look into a machine.

package checkpoint

import (
	"maps"
	"slices"
	"time"
)

// Runs are the phases in which the death of a process is news.
var Runs = runs

// Clone returns a machine that goes on from the same state, and has nothing to hand over.
func (m *Machine) Clone() *Machine {
	c := *m
	c.jobs = make(map[string]*Job, len(m.jobs))
	for name, j := range m.jobs {
		copied := j.Clone()
		c.jobs[name] = &copied
	}
	c.names, c.servers, c.due, c.rest = slices.Clone(m.names), maps.Clone(m.servers), maps.Clone(m.due), maps.Clone(m.rest)
	c.forgetChanges()
	// The books of a clone are made anew: they must be the same.
	c.books = newBooks()
	for name := range c.jobs {
		c.books.change(name)
	}
	return &c
}

// Due is when an effect, a pause or a wait of each job is over.
func (m *Machine) Due() map[string]time.Duration { return m.due }

// Audit says what in the books does not follow from the jobs and servers.
func (m *Machine) Audit() string { return m.audit() }

// Rests reports whether a job waits because it has died.
func (m *Machine) Rests(job string) bool { return m.rest[job] > m.now }

// Last is the last Tick, and SetLast pretends another.
func (m *Machine) Last() time.Time        { return m.last }
func (m *Machine) SetLast(last time.Time) { m.last = last }

// Config is that of New with the defaults filled in.
func (m *Machine) Config() Config { return m.config }

// Fold adds a record to the state.
func (m *Machine) Fold(r Record) { m.fold(r) }

// Names are those of all jobs; Look is a job itself, nil if there is none, and Knows says of a server
// whether it is there.
func (m *Machine) Names() []string       { return m.names }
func (m *Machine) Look(job string) *Job  { return m.jobs[job] }
func (m *Machine) Silent(id string) bool { return m.silent([]string{id}) }
func (m *Machine) Knows(id string) bool  { return m.servers[id] != nil }

// PerEpoch is how many numbers an epoch has.
const PerEpoch = perEpoch
