// This file implements what happens by itself: time passes, servers come and go, jobs finish and die.

package checkpoint

import (
	"fmt"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// apply lets time pass, by at most Config.MaxTick and never backward, and ends what is overdue.
func (t Tick) apply(m *Machine) error {
	if !m.last.IsZero() {
		m.now += min(max(t.Now.Sub(m.last), 0), m.config.MaxTick)
	}
	m.last = t.Now
	for _, name := range m.names {
		due, waits := m.due[name]
		if !waits || due > m.now {
			continue
		}
		j := m.jobs[name]
		delete(m.due, name)
		switch {
		case j.Phase == Waiting:
			m.retreat(j, NoRoom, "others did not release it in time")
		case j.Phase == Running:
			m.deny(j, "others did not release it in time")
		case j.Effect == 0:
			m.again(j)
		default:
			m.failed(j, fmt.Sprintf("no answer within %v", m.config.timeout(j.Phase.Action())))
		}
	}
	return nil
}

// apply refuses an ID that can name no server, and a bad capacity.
func (s ServerUp) apply(m *Machine) error {
	var faults apportion.Faults
	item := check.Item("server", s.Server.ID, 0)
	check.ID(&faults, map[string]bool{}, s.Server.ID, item)
	check.Resources(&faults, m.config.Kinds, s.Server.Capacity, item, "Capacity")
	if err := faults.Err(); err != nil {
		return err
	}
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
	before := *j
	for _, list := range []*[]string{&j.Containers, &j.Target, &j.Fallback, &j.Wanted} {
		if shorter := without(*list, server); len(shorter) < len(*list) {
			*list = shorter
			m.touch(j)
		}
	}
	detail := fmt.Sprintf("server %q is lost", server)
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

// apply ignores all but the newest attempt.
func (f Finished) apply(m *Machine) error {
	j := m.jobs[f.Job]
	if j == nil || j.Attempt != f.Attempt || j.Phase == Creating || j.Ending != "" {
		m.stale++
		return nil
	}
	m.end(j, Completed)
	return nil
}

// apply ignores all but the attempt that runs.
func (e Exited) apply(m *Machine) error {
	j := m.jobs[e.Job]
	if j == nil || j.Attempt != e.Attempt || !runs[j.Phase] || j.Broken {
		m.stale++
		return nil
	}
	m.touch(j)
	j.Restarts++
	again := j.Restarts <= m.config.Restarts
	switch {
	case j.Phase == Saving || j.Phase == Verifying:
		// What is being saved may well be complete: a job may write its state and leave.
		j.Broken = true
		j.blame(Died, e.Detail)
		if !again && slices.Equal(j.Target, j.Containers) {
			j.Target = nil
		}
	case again:
		j.blame(Died, e.Detail)
		m.enter(j, Stopping)
	default:
		m.retreat(j, Died, e.Detail)
	}
	return nil
}

// runs are the phases in which the death of a process is news.
var runs = map[Phase]bool{Resuming: true, Confirming: true, Running: true, Saving: true, Verifying: true}
