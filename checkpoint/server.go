// This file implements servers that come and go: what is lost with one, and how its jobs go on.

package checkpoint

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// apply refuses an ID that can name no server, and a bad capacity.
func (s ServerUp) apply(m *Machine) error {
	var faults apportion.Faults
	item := check.Item("server", s.Server.ID, 0)
	check.ID(&faults, map[string]bool{}, s.Server.ID, item)
	check.Resources(&faults, m.config.Kinds, s.Server.Capacity, item, "Capacity")
	if err := faults.Err(); err != nil {
		return err
	}
	// A server that is there already may get another capacity. One that shrinks keeps its jobs: what
	// it is overdrawn by is free again when they leave.
	m.servers[s.Server.ID] = s.Server.Capacity.Clone()
	m.ready.servers[s.Server.ID] = true
	delete(m.ready.lost, s.Server.ID)
	return nil
}

// apply ignores a server that is not there. Jobs that ran on it go on with what remains.
func (s ServerLost) apply(m *Machine) error {
	if m.servers[s.ID] == nil {
		return nil
	}
	// Everything on it is gone for good: that is the promise of ServerLost.
	delete(m.servers, s.ID)
	delete(m.ready.servers, s.ID)
	m.ready.lost[s.ID] = true
	for _, name := range m.names {
		m.lose(m.jobs[name], s.ID)
	}
	return nil
}

// lose takes a server out of all that a job has or wants.
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
	// Only who has lost containers has lost processes.
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
		// Nothing of it runs: it releases, waits or ends as what is left asks for.
		m.settle(j)
	case Idle, Ended:
	default:
		if hurt {
			m.enter(j, Stopping)
		}
	}
}
