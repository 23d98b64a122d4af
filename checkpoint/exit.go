// This file implements what follows when processes end: the work is done, or they died.

package checkpoint

import (
	"slices"
)

// finished ignores all but the newest attempt.
func (m *Machine) finished(f Finished) error {
	j := m.jobs[f.Job]
	// A Creating attempt has no processes yet, so that its end would be that of another life.
	if j == nil || j.Attempt != f.Attempt || j.Phase == Creating || j.Ending != "" {
		m.stale++
		return nil
	}
	m.end(j, Completed)
	return nil
}

// exited ignores all but the attempt that runs.
func (m *Machine) exited(e Exited) error {
	j := m.jobs[e.Job]
	// Broken says that it is known already that the attempt does not run as a whole any more.
	if j == nil || j.Attempt != e.Attempt || !runs[j.Phase] || j.Broken {
		m.stale++
		return nil
	}
	m.touch(j)
	again := m.died(j)
	switch {
	// Another attempt on the same containers would find as little room. Only the pause before the next one is that of a death, as
	// somebody thinks that there is some.
	case e.Refused && (j.Phase == Resuming || j.Phase == Confirming):
		m.retreat(j, NoRoom, e.Detail)
	case j.Phase == Saving || j.Phase == Verifying:
		// What is being saved may well be complete: a job may write its state and leave.
		j.Broken = true
		j.blame(Died, e.Detail)
		// It was to go on here after the save, where it dies again and again: it is suspended instead.
		if !again && slices.Equal(j.Target, j.Containers) {
			j.Target = nil
		}
	case again:
		j.blame(Died, e.Detail)
		// What is left of the attempt is stopped, and another one follows on the same containers.
		m.enter(j, Stopping)
	default:
		// It dies here again and again: perhaps the containers are to blame.
		m.retreat(j, Died, e.Detail)
	}
	return nil
}

// stalled ignores all but the attempt that runs, and what is not supposed to get on.
func (m *Machine) stalled(s Stalled) error {
	j := m.jobs[s.Job]
	if j == nil || j.Attempt != s.Attempt || j.Phase != Running && j.Phase != Saving || j.Broken {
		m.stale++
		return nil
	}
	// A job that hangs answers no save: what it has done since the newest checkpoint is lost.
	if m.died(j) {
		j.blame(Hung, s.Detail)
		m.enter(j, Stopping)
		return nil
	}
	m.retreat(j, Hung, s.Detail)
	return nil
}

// died counts the end of an attempt, and reports whether the job may go on with the containers that it has. The second
// death without a checkpoint in between begins to cost pauses, each twice as long as the one before.
func (m *Machine) died(j *Job) bool {
	j.Restarts++
	j.Deaths++
	m.touch(j)
	if j.Deaths > 1 {
		m.rest[j.Name] = m.now + m.config.pause(j.Deaths-1)
	}
	return j.Restarts <= m.config.Restarts
}

// runs are the phases in which the death of a process is news.
var runs = map[Phase]bool{Resuming: true, Confirming: true, Running: true, Saving: true, Verifying: true}
