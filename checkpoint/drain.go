// This file implements drains and deadlines: what must leave a server, and by when.

package checkpoint

import (
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// drain refuses a server that is not there, and a deadline that cannot be written down.
func (m *Machine) drain(d Drain) error {
	var faults apportion.Faults
	checkDeadline(&faults, d.Deadline)
	before := m.servers[d.ID]
	if before == nil {
		faults.Add(check.Item("server", d.ID, 0), "ID", apportion.ErrUnknown, "")
	}
	if err := faults.Err(); err != nil {
		return err
	}
	// Said once more it changes no server, but an earlier deadline holds for the jobs that are still there.
	if before.Draining == d.Over {
		host := *before
		host.Draining = !d.Over
		m.put(&host)
	}
	if d.Over {
		return nil
	}
	// By name, so that the requests get their orders alike on every run.
	for _, name := range m.names {
		m.evict(m.jobs[name], d.ID, d.Deadline)
	}
	return nil
}

// evict asks a job to leave a server, and to return there no more.
func (m *Machine) evict(j *Job, server string, deadline time.Time) {
	if fallback := m.lasting(j, j.Fallback); len(fallback) != len(j.Fallback) {
		j.Fallback = fallback
		m.touch(j)
	}
	// What was asked for last counts, or else what the job is on its way to.
	goal := j.Target
	if j.Order != 0 {
		goal = j.Wanted
	}
	left := without(goal, server)
	switch {
	// A job that ends leaves every server by itself.
	case j.Ending != "":
	case len(left) < len(goal):
		// With so few it could not go on: it is to be suspended until somebody asks for other containers.
		if len(left) < j.Min {
			left = nil
		}
		m.want(j, left, deadline)
	// It is on its way from there already, and may be in less of a hurry than the drain.
	case len(without(j.Containers, server)) < len(j.Containers) && (j.Order != 0 || j.Phase == Saving || j.Phase == Verifying):
		if !deadline.IsZero() && (j.Deadline.IsZero() || deadline.Before(j.Deadline)) {
			j.Deadline = deadline.UTC().Round(0)
			m.touch(j)
		}
	}
}
