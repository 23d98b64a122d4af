// This file implements what becomes of jobs that answer no save: they are stopped all the same.

package checkpoint

import (
	"slices"
	"time"
)

// hurry stops a job without saving it: it goes on from its newest confirmed checkpoint.
func (m *Machine) hurry(j *Job, detail string) {
	// A job that has stopped, or is being stopped, takes up what was asked when that is over: what is being released for
	// another target must not change under way.
	if !live[j.Phase] || j.Phase == Stopping {
		return
	}
	// What was asked for last counts, also where the job was still on its way to something else.
	if j.Order != 0 {
		m.aim(j, false)
	}
	j.blame(Late, detail)
	m.enter(j, Stopping)
}

// overdue reports whether a job that is to change has been in saving for too long. Reading a checkpoint back does not count: the
// job has answered.
func (m *Machine) overdue(j *Job) bool {
	stays := j.Order == 0 && slices.Equal(j.Target, j.Containers)
	if j.Phase != Saving || stays || m.config.SaveLimit < 0 {
		delete(m.saving, j.Name)
		return false
	}
	since, known := m.saving[j.Name]
	if !known {
		m.saving[j.Name] = m.now
		return false
	}
	return m.now-since > m.patience(j)
}

// patience is how long a job may be in saving.
func (m *Machine) patience(j *Job) time.Duration {
	return min(max(m.config.SaveLimit, 10*m.longest[j.Name]), 2*m.config.Timeouts.Save)
}

// saved notes how long the save under way has taken, as ticks tell.
func (m *Machine) saved(j *Job) {
	if due, under := m.due[j.Name]; under {
		m.longest[j.Name] = max(m.longest[j.Name], m.now-(due-m.config.Timeouts.Save))
	}
}
