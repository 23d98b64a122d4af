// This file implements servers that come and go: what is lost with one, and how its jobs go on.

package checkpoint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// serverUp refuses an ID that can name no server, a bad capacity, and another incarnation of a server that is there.
func (m *Machine) serverUp(s ServerUp) error {
	var faults apportion.Faults
	item := check.Item("server", s.Server.ID, 0)
	check.ID(&faults, map[string]bool{}, s.Server.ID, item)
	check.Resources(&faults, m.config.Kinds, s.Server.Capacity, item, "Capacity")
	if err := faults.Err(); err != nil {
		return err
	}
	if err := m.hear(item, s.Witness); err != nil {
		return err
	}
	host := Host{Server: apportion.Server{ID: s.Server.ID, Capacity: s.Server.Capacity.Clone()}, Incarnation: s.Incarnation}
	if before := m.servers[s.Server.ID]; before != nil {
		if err := before.accept(s.Incarnation); err != nil {
			return err
		}
		// Agents say again and again that they are there: what is no news is not written down.
		host.Incarnation, host.Draining = cmp.Or(s.Incarnation, before.Incarnation), before.Draining
		host.Cordoned, host.Detail, host.Until = before.Cordoned, before.Detail, before.Until
		if host.Capacity.Equal(before.Capacity) && host.Incarnation == before.Incarnation && !before.Silent {
			return nil
		}
		m.awake(before)
	}
	// A server that is there already may get another capacity. One that shrinks keeps its jobs: what
	// it is overdrawn by is free again when they leave.
	m.put(&host)
	delete(m.ready.lost, s.Server.ID)
	return nil
}

// put puts a server in the place of the one before. A Host is never changed, only replaced.
func (m *Machine) put(host *Host) {
	m.servers[host.ID] = host
	m.books.stale = true
	m.ready.servers[host.ID] = true
}

// awake ends the pauses of jobs that wait for a server which answers again: what has failed there is tried with the
// next Tick.
func (m *Machine) awake(host *Host) {
	if !host.Silent {
		return
	}
	for _, name := range m.names {
		j := m.jobs[name]
		if _, found := slices.BinarySearch(j.Containers, host.ID); found && j.Effect == 0 && j.Phase.Action() != "" {
			m.due[name] = m.now
		}
	}
}

// serverSilent ignores a server that is not there, or silent already.
func (m *Machine) serverSilent(s ServerSilent) error {
	if before := m.servers[s.ID]; before != nil && !before.Silent {
		host := *before
		host.Silent = true
		m.put(&host)
	}
	return nil
}

// silent reports whether a server of a list does not answer.
// One that is lost is not silent: nothing lives there, and nothing waits for it.
func (m *Machine) silent(servers []string) bool {
	return slices.ContainsFunc(servers, func(id string) bool { return m.servers[id] != nil && m.servers[id].Silent })
}

// accept refuses another memory than the one that knows what runs on the server: nothing that it says of these jobs
// is true. Agents that have no name are taken at their word.
func (h *Host) accept(incarnation string) error {
	if h.Incarnation == "" || incarnation == "" || h.Incarnation == incarnation {
		return nil
	}
	return &apportion.FieldError{Item: check.Item("server", h.ID, 0), Field: "Incarnation", Err: apportion.ErrConflict,
		Detail: "an agent with another memory has this name, and it is not lost"}
}

// serverFenced ignores a server that is not there. Jobs that ran on it go on with what remains.
func (m *Machine) serverFenced(s ServerFenced) error {
	if m.servers[s.ID] == nil {
		return nil
	}
	delete(m.servers, s.ID)
	m.books.stale = true
	delete(m.ready.servers, s.ID)
	m.ready.lost[s.ID] = true
	for _, name := range m.names {
		m.lose(m.jobs[name], s.ID)
	}
	return nil
}

func (m *Machine) lose(j *Job, server string) {
	// The lists are compared with what they were, for each may or may not have had the server.
	before := *j
	for _, list := range []*[]string{&j.Containers, &j.Target, &j.Fallback, &j.Wanted} {
		if shorter := without(*list, server); len(shorter) < len(*list) {
			*list = shorter
			m.touch(j)
		}
	}
	detail := fmt.Sprintf("server %q is lost", server)
	// What is left of the fallback may be too little to return to.
	if len(j.Fallback) < j.Min {
		j.Fallback = nil
	}
	if len(j.Wanted) < len(before.Wanted) && len(j.Wanted) < j.Min {
		m.drop(j)
		j.blame(LostServer, detail)
	}
	if len(j.Target) < len(before.Target) {
		j.blame(LostServer, detail)
		if len(j.Target) < j.Min {
			j.Target, j.Fallback, j.Reserved = j.Fallback, nil, false
		}
	}
	hurt := len(j.Containers) < len(before.Containers)
	if hurt || len(j.Target) != len(before.Target) {
		m.reroute(j, hurt)
	}
}

// reroute goes on after servers were lost. hurt says that some held containers of the job.
func (m *Machine) reroute(j *Job, hurt bool) {
	switch j.Phase {
	case Verifying:
		// The checkpoint that is being read back may well be whole; after it the job is stopped.
		j.Broken = j.Broken || hurt
	case Waiting, Releasing:
		m.settle(j)
	case Idle, Ended:
	default:
		if hurt {
			m.enter(j, Stopping)
		}
	}
}
