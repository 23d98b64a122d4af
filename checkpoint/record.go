// This file implements Record: what is written down of a step. The state of a Machine is the fold of
// its records.

package checkpoint

import (
	"cmp"
	"maps"
	"slices"
)

// Record is what a step changed: the whole new state of each job and server that it touched. The
// record of everything is a snapshot. Lists are ascending.
type Record struct {
	// Next is the last number given out.
	Next int64 `json:"next"`
	// Journal is the name of the journal, in its first record and in snapshots, and Gaps are what was never given out by
	// a master whose records are here, ascending.
	Journal string `json:"journal,omitempty"`
	Gaps    []Gap  `json:"gaps,omitempty"`
	// Former are the names that the journal had before records of it were lost, and Lift is how much higher epochs are since
	// than what numbers the masters. Both go with Journal.
	Former []string `json:"former,omitempty"`
	Lift   int64    `json:"lift,omitempty"`
	// Store is the identity of the store that the checkpoints are in, where it has become known, and in snapshots.
	Store string `json:"store,omitempty"`
	// Jobs have this state now; Gone are forgotten.
	Jobs []Job    `json:"jobs,omitempty"`
	Gone []string `json:"gone,omitempty"`
	// Servers are there and stand like this now; Lost are not there any more.
	Servers []Host   `json:"servers,omitempty"`
	Lost    []string `json:"lost,omitempty"`
}

// Empty reports whether the record says nothing, so that there is no need to keep it.
func (r Record) Empty() bool {
	return r.Next == 0 && r.Journal == "" && r.Store == "" && r.changes() == 0
}

func (r Record) changes() int { return len(r.Jobs) + len(r.Gone) + len(r.Servers) + len(r.Lost) }

func (m *Machine) record(c changes) Record {
	r := Record{Next: m.next, Gone: slices.Sorted(maps.Keys(c.gone)), Lost: slices.Sorted(maps.Keys(c.lost))}
	// Jobs and capacities are cloned, for the machine goes on while the record is being written.
	for _, name := range slices.Sorted(maps.Keys(c.jobs)) {
		r.Jobs = append(r.Jobs, m.jobs[name].Clone())
	}
	for _, id := range slices.Sorted(maps.Keys(c.servers)) {
		r.Servers = append(r.Servers, m.servers[id].Clone())
	}
	if m.store != c.store {
		r.Store = m.store
	}
	if m.journal != c.journal {
		r.Journal, r.Gaps, r.Former, r.Lift = m.journal, slices.Clone(m.gaps), slices.Clone(m.former), m.lift
	}
	if m.next == c.next && r.Journal == "" && r.Store == "" && r.changes() == 0 {
		return Record{}
	}
	return r
}

// Snapshot returns the record of everything: all records so far amount to it.
// It shares nothing with the machine. O(jobs + servers + their containers).
func (m *Machine) Snapshot() Record {
	return Record{Next: m.next, Journal: m.journal, Gaps: slices.Clone(m.gaps), Former: slices.Clone(m.former), Lift: m.lift, Store: m.store, Jobs: m.Jobs(), Servers: m.Hosts()}
}

func (m *Machine) fold(r Record) {
	// Records of one machine never go back. The maximum makes the fold safe against a snapshot that
	// follows its own records.
	m.next = max(m.next, r.Next)
	if r.Journal != "" {
		m.journal, m.gaps, m.former, m.lift = r.Journal, slices.Clone(r.Gaps), slices.Clone(r.Former), r.Lift
	}
	m.store = cmp.Or(r.Store, m.store)
	for _, name := range r.Gone {
		// Gone and Lost come first: a record may say that a job is gone and that another has its name.
		delete(m.jobs, name)
		m.books.change(name)
		m.names = slices.DeleteFunc(m.names, func(n string) bool { return n == name })
	}
	for i := range r.Jobs {
		j := r.Jobs[i].Clone()
		m.add(&j)
		m.books.change(j.Name)
	}
	for _, id := range r.Lost {
		delete(m.servers, id)
	}
	for _, server := range r.Servers {
		host := server.Clone()
		m.servers[server.ID] = &host
	}
}
