// This file implements what must hold of every job after every step.

package checkpoint

import (
	"fmt"
	"slices"

	"github.com/apportion/apportion/internal/invariant"
)

// check panics where a job that changed breaks a rule; with the tag invariants it looks at all jobs.
// Without the tag it costs as much as what has changed.
func (m *Machine) check() {
	for name := range m.ready.jobs {
		if j := m.jobs[name]; j != nil {
			m.mustHold(j)
		}
	}
	if !invariant.Enabled {
		return
	}
	invariant.Check(len(m.names) == len(m.jobs) && slices.IsSorted(m.names), "%d names of %d jobs", len(m.names), len(m.jobs))
	for _, name := range m.names {
		m.mustHold(m.jobs[name])
	}
	fault := m.audit()
	invariant.Check(fault == "", "%s", fault)
}

// mustHold panics where a job breaks a rule: that is a bug of this package. To go on would risk two runs of
// one job, or a checkpoint.
func (m *Machine) mustHold(j *Job) {
	if fault := j.fault(m.config.Keep); fault != "" {
		panic(fmt.Sprintf("checkpoint: job %q, %s: %s", j.Name, j.Phase, fault))
	}
}

// fault says which rule the job breaks; "": none.
// keep is Config.Keep. Recover asks the same of what a journal holds, where a fault is ErrCorrupt and no bug.
func (j *Job) fault(keep int) string {
	newest := j.last().Number
	mayRun, known := live[j.Phase]
	switch {
	case !known:
		return "no such phase"
	// Stop is confirmed for attempts that were made, never for later ones.
	case j.Attempt < j.Stopped:
		return "an attempt is stopped that never was"
	// The phase and the two numbers tell the same story of whether processes may be alive.
	case j.Live() != mayRun:
		return "its newest attempt may run, or may not, against its phase"
	// A phase that waits for an effect has one under way, or one that failed and will be tried again.
	case j.Effect != 0 && j.Phase.Action() == "", j.Effect == 0 && j.Phase.Action() != "" && j.Tries == 0:
		return "an effect is under way against its phase"
	// The newest checkpoint is the last one, and no more than Keep are there.
	case !ascending(j.Checkpoints), len(j.Checkpoints) > keep:
		return "checkpoints out of order, or too many"
	// A checkpoint is in the making in two phases only, and its number is above all that count.
	case (j.Saving.Number != 0) != (j.Phase == Saving || j.Phase == Verifying), j.Saving.Number != 0 && j.Saving.Number <= newest:
		return "a checkpoint is being saved against its phase, or under an old number"
	// A job that is ending wants nothing, and stays on the way down.
	case j.Ending != "" && (len(j.Target) > 0 || j.Phase != Stopping && j.Phase != Releasing && j.Phase != Ended):
		return "it goes on though it is ending"
	// A deadline belongs to a request, or to the way to Stopping.
	case !j.Deadline.IsZero() && j.Order == 0 && j.Phase != Saving && j.Phase != Verifying:
		return "it has a deadline for nothing"
	}
	return j.placeFault()
}

// placeFault is the part of fault that is about containers.
func (j *Job) placeFault() string {
	switch j.Phase {
	case Idle, Ended:
		// Idle and Ended are the ends at which all room is given back.
		if len(j.Containers) > 0 {
			return "it holds containers"
		}
	case Waiting:
		// Whatever the target does not have was released before the job may wait.
		if len(minus(j.Containers, j.Target)) > 0 || len(j.Target) < j.Min {
			return "it waits for less than it holds or needs"
		}
	case Creating, Resuming, Confirming, Running:
		// A run holds exactly what it was started for.
		if !slices.Equal(j.Containers, j.Target) || len(j.Containers) < j.Min || j.Reserved || j.Broken {
			return "its containers are not its target"
		}
	}
	return ""
}

// live says of each phase whether processes of the newest attempt may run in it.
var live = map[Phase]bool{
	Idle: false, Waiting: false, Releasing: false, Ended: false,
	Creating: true, Resuming: true, Confirming: true, Running: true, Saving: true, Verifying: true, Stopping: true,
}

func ascending(checkpoints []Confirmed) bool {
	for i := 1; i < len(checkpoints); i++ {
		if checkpoints[i-1].Number >= checkpoints[i].Number {
			return false
		}
	}
	return true
}
