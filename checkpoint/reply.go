// This file implements how the protocol goes on from the outcome of an effect: the table in the
// documentation of the package.

package checkpoint

import (
	"fmt"
	"slices"
)

// reply ignores a reply to any effect but the one under way. ErrFenced if that was refused: then
// another master has spoken to the server, and this one must end.
func (m *Machine) reply(r Reply) error {
	j := m.jobs[r.Job]
	if j == nil || j.Effect == 0 || j.Effect != r.ID {
		m.stale++
		return nil
	}
	switch r.Outcome {
	case Done:
		m.done(j, r)
	// The checkpoint to resume from cannot be read: there may be one before it.
	case Damaged:
		m.damaged(j, r.Detail)
	// Its disk may answer the next time, so an earlier checkpoint, which costs work, is taken after the last try only.
	case Unreadable:
		if j.Phase == Resuming && j.Tries >= m.config.Retries {
			m.damaged(j, r.Detail)
		} else {
			m.failed(j, r.Detail)
		}
	case Fenced:
		m.over = ErrFenced
		return m.over
	default:
		m.failed(j, r.Detail)
	}
	return nil
}

func (m *Machine) done(j *Job, r Reply) {
	switch j.Phase {
	case Saving:
		m.saved(j)
		j.Saving.Step = r.Step
		tries := j.Tries
		m.enter(j, Verifying)
		j.Tries = tries // a checkpoint that cannot be read back was not saved
	case Verifying:
		m.confirmed(j)
	case Stopping:
		m.stopped(j)
	case Releasing:
		j.Containers = both(j.Containers, j.Target)
		m.settle(j)
	case Creating:
		m.enter(j, Resuming)
	case Resuming:
		m.enter(j, Confirming)
	case Confirming:
		m.enter(j, Running)
	}
}

// confirmed keeps the checkpoint that was verified, drops those beyond Config.Keep, and goes on to
// stop the job where its containers are to change.
func (m *Machine) confirmed(j *Job) {
	// Those that could not be read have waited long enough: there is a newer one now.
	readable := slices.DeleteFunc(slices.Clone(j.Checkpoints), func(c Confirmed) bool { return c.Unread })
	j.Checkpoints = append(readable, j.Saving)
	if drop := len(j.Checkpoints) - m.config.Keep; drop > 0 {
		j.Checkpoints = slices.Delete(j.Checkpoints, 0, drop)
	}
	j.Restarts, j.Deaths = 0, 0
	// Prune goes out with the record in which the newer checkpoint counts, never before.
	m.ready.effects = append(m.ready.effects, Effect{
		ID: m.number(), Epoch: m.epoch, Journal: m.journal, Action: Prune, Job: j.Name, Attempt: j.Attempt,
		Checkpoint: j.Checkpoints[0].Number, Store: m.store,
	})
	if j.Broken || !slices.Equal(j.Target, j.Containers) {
		m.enter(j, Stopping)
		return
	}
	m.enter(j, Running)
}

// stopped notes that nothing of the job runs any more.
func (m *Machine) stopped(j *Job) {
	// From here on no process of any attempt so far can be alive, or come to life: all servers that were
	// ever asked to start one have confirmed the stop or are lost.
	j.Stopped, j.Broken = j.Attempt, false
	m.settle(j)
}

// settle moves a job that does not run: first it gives back what its target does not have.
func (m *Machine) settle(j *Job) {
	switch {
	case len(minus(j.Containers, j.Target)) > 0:
		m.enter(j, Releasing)
	case j.Ending != "":
		m.enter(j, Ended)
	case len(j.Target) == 0:
		m.enter(j, Idle)
	default:
		m.enter(j, Waiting)
	}
}

// failed plans another try, or gives up.
func (m *Machine) failed(j *Job, detail string) {
	j.Tries++
	m.touch(j)
	switch {
	// To give up here would mean to guess that nothing runs: it is tried until it is known.
	case j.Phase == Stopping || j.Phase == Releasing:
	// What a server that is silent has done nobody knows: to turn back would need its answer as well.
	case starts[j.Phase] && m.silent(j.Containers):
	case j.Tries > m.config.Retries, j.Broken:
		m.giveUp(j, detail)
		return
	}
	j.Effect = 0
	m.due[j.Name] = m.now + m.config.pause(j.Tries)
}

// starts are the phases in which an attempt is being brought up.
var starts = map[Phase]bool{Creating: true, Resuming: true, Confirming: true}

// again begins another try when the pause is over. What could not be verified is saved anew.
func (m *Machine) again(j *Job) {
	if j.Phase == Verifying {
		j.Phase = Saving
	}
	m.issue(j)
}

// giveUp goes another way: a job that could not be saved keeps what it has, and one that could not be
// started goes back.
func (m *Machine) giveUp(j *Job, detail string) {
	constraint := string(j.Phase.Action())
	switch {
	// What could not be created, resumed or confirmed is taken back.
	case j.Phase != Saving && j.Phase != Verifying:
		if j.Phase != Creating {
			m.died(j) // at once, or it was never seen alive
		}
		m.retreat(j, constraint, detail)
	case j.Broken:
		m.enter(j, Stopping) // nothing is left to save: go on from the checkpoint before
	// To wait for the deadline would change nothing: it was tried as often as it may be.
	case !j.Deadline.IsZero():
		m.hurry(j, detail)
		j.blame(constraint, detail)
	default:
		m.refuse(j, constraint, detail)
	}
}

// refuse leaves a running job as it is.
func (m *Machine) refuse(j *Job, constraint, detail string) {
	j.blame(constraint, detail)
	j.Target = j.Containers
	m.enter(j, Running)
}

// retreat turns to what the job had before, or else to nothing: it is suspended then.
func (m *Machine) retreat(j *Job, constraint, detail string) {
	j.blame(constraint, detail)
	j.Target, j.Fallback, j.Reserved, j.Restarts = j.Fallback, nil, false, 0
	m.leave(j)
}

// leave begins the way to the target: by stopping what may run.
func (m *Machine) leave(j *Job) {
	if j.Live() {
		m.enter(j, Stopping)
		return
	}
	m.settle(j)
}

// damaged turns to the checkpoint before one that cannot be read. That one is marked, and dropped when a newer one counts.
// Where none is left that could be read, the fault is the store's: the marks go, and the job is suspended and not begun
// anew.
func (m *Machine) damaged(j *Job, detail string) {
	if j.Phase != Resuming || len(j.Checkpoints) == 0 {
		m.failed(j, detail)
		return
	}
	bad := j.Newest().Number
	j.Checkpoints = slices.Clone(j.Checkpoints)
	readable := 0
	for i := range j.Checkpoints {
		c := &j.Checkpoints[i]
		c.Unread = c.Unread || c.Number == bad
		if !c.Unread {
			readable++
		}
	}
	if readable == 0 {
		for i := range j.Checkpoints {
			j.Checkpoints[i].Unread = false
		}
		m.giveUp(j, detail)
		return
	}
	j.blame(string(Resume), fmt.Sprintf("checkpoint %d cannot be read, %d is used: %s", bad, j.Newest().Number, detail))
	m.enter(j, Stopping) // some servers may have begun from the one that others could not read
}
