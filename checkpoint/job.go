// This file implements Job: all that is known of one job, and the phases it goes through.

package checkpoint

import (
	"slices"
	"strings"
	"time"

	"github.com/apportion/apportion"
)

// Phase is where a job stands. A job is in exactly one.
type Phase string

// The phases. Of those from Creating to Stopping, processes of the newest attempt may run; in the
// others none does.
const (
	// Idle: the job holds nothing. It is new, or suspended with its newest checkpoint.
	Idle Phase = "idle"
	// Waiting: for room on the servers of its target.
	Waiting Phase = "waiting"
	// Creating: containers for a new attempt.
	Creating Phase = "creating"
	// Resuming: the new attempt is being started.
	Resuming Phase = "resuming"
	// Confirming: it was started and has not been seen running.
	Confirming Phase = "confirming"
	// Running: it was seen running.
	Running Phase = "running"
	// Saving: it runs and is writing a checkpoint.
	Saving Phase = "saving"
	// Verifying: it runs, and its checkpoint is being read back.
	Verifying Phase = "verifying"
	// Stopping: it is being stopped.
	Stopping Phase = "stopping"
	// Releasing: it has stopped, and containers that its target does not have are being removed.
	Releasing Phase = "releasing"
	// Ended: finished or cancelled, see Ending. It holds nothing.
	Ended Phase = "ended"
)

// Action is what a phase waits for; "": nothing that the machine asks for.
func (p Phase) Action() Action {
	switch p {
	case Saving:
		return Save
	case Verifying:
		return Verify
	case Stopping:
		return Stop
	case Releasing:
		return Release
	case Creating:
		return Create
	case Resuming:
		return Resume
	case Confirming:
		return Confirm
	}
	return ""
}

// Ending is how a job ends.
type Ending string

// The endings.
const (
	Completed Ending = "completed"
	Cancelled Ending = "cancelled"
	// GivenUp: its runs come to nothing, see Cancel.
	GivenUp Ending = "failed"
)

// What stands in the way of a job, the Constraint of Job.Reason. That of a failed effect is its Action.
const (
	// NoRoom: servers of the target do not have, and will not get, the room.
	NoRoom = "room"
	// LostServer: a server of the job or of its target was lost.
	LostServer = "server"
	// Died: processes of the job ended before its work was done.
	Died = "exited"
	// Hung: processes of the job live and get nowhere.
	Hung = "stalled"
	// Late: the job was stopped without being saved, for its deadline was over.
	Late = "deadline"
	// Futile: its runs end again and again and come to nothing.
	Futile = "futile"
)

// Confirmed is a checkpoint that was saved and verified.
type Confirmed struct {
	// Number is that of the store.
	Number int64 `json:"number"`
	// Step is the number of training steps it holds, -1 if unknown.
	Step int64 `json:"step"`
	// Unread says that it could not be read when it was to be resumed: one before it is used, until a newer one is
	// confirmed.
	Unread bool `json:"unread,omitempty"`
}

// Job is the state of one job, as the journal keeps it. Lists of containers are ascending, one entry a
// container.
type Job struct {
	Name   string              `json:"name"`
	Demand apportion.Resources `json:"demand"`
	Min    int                 `json:"min"`

	Phase  Phase  `json:"phase"`
	Ending Ending `json:"ending,omitempty"`
	// Reason is why the job is not where it was last asked to be, or why it was resumed: what stands in
	// the way, and the rest as text. Zero: it is there.
	Reason apportion.Reason `json:"reason,omitzero"`

	// Containers are all that exist or may exist. Target is what the job is on its way to: the same
	// where nothing is to change.
	Containers []string `json:"containers,omitempty"`
	Target     []string `json:"target,omitempty"`
	// Fallback is what it had before, and returns to if it cannot have Target.
	Fallback []string `json:"fallback,omitempty"`
	// Reserved says that the room of Target is kept free for the job.
	Reserved bool `json:"reserved,omitempty"`
	// Wanted is what was asked for and is not begun, if Order is not 0; lower orders come first.
	Wanted []string `json:"wanted,omitempty"`
	Order  int64    `json:"order,omitempty"`
	// Deadline is when the job is stopped whether or not it was saved, see [Adjust]; zero: never. It is that of Wanted,
	// and from Saving on that of Target.
	Deadline time.Time `json:"deadline,omitzero"`

	// Attempt is the newest run of the job, Stopped the newest that has certainly no process any more:
	// if they are equal nothing of the job runs. 0: none was.
	Attempt int64 `json:"attempt,omitempty"`
	Stopped int64 `json:"stopped,omitempty"`
	// Broken says that Attempt is known not to run as a whole any more.
	Broken bool `json:"broken,omitempty"`
	// Restarts counts the resumptions after deaths, see Config.Restarts.
	Restarts int `json:"restarts,omitempty"`
	// Deaths counts the attempts that have died since the last confirmed checkpoint, whatever was asked meanwhile. The
	// more there are, the longer the next attempt waits.
	Deaths int `json:"deaths,omitempty"`

	// Checkpoints are those confirmed, ascending, at most Config.Keep. Saving is the one being made.
	Checkpoints []Confirmed `json:"checkpoints,omitempty"`
	Saving      Confirmed   `json:"saving,omitzero"`

	// Effect is the ID of the effect under way; 0: none, or a failed one waits to be tried again.
	// Tries counts its failures.
	Effect int64 `json:"effect,omitempty"`
	Tries  int   `json:"tries,omitempty"`
}

// Live reports whether processes of the job may run.
func (j *Job) Live() bool { return j.Attempt > j.Stopped }

// Newest returns the newest confirmed checkpoint that is not Unread, from which the job resumes; its Number is 0 if none was
// confirmed.
func (j *Job) Newest() Confirmed {
	for _, c := range slices.Backward(j.Checkpoints) {
		if !c.Unread {
			return c
		}
	}
	// One that is marked is still better than to begin anew.
	return j.last()
}

// last returns the checkpoint that was confirmed last; its Number is 0 if none was.
func (j *Job) last() Confirmed {
	if len(j.Checkpoints) == 0 {
		return Confirmed{}
	}
	return j.Checkpoints[len(j.Checkpoints)-1]
}

// Clone returns a copy that shares nothing with j.
func (j *Job) Clone() Job {
	c := *j
	c.Demand = j.Demand.Clone()
	c.Containers, c.Target = slices.Clone(j.Containers), slices.Clone(j.Target)
	c.Fallback, c.Wanted = slices.Clone(j.Fallback), slices.Clone(j.Wanted)
	c.Checkpoints = slices.Clone(j.Checkpoints)
	return c
}

// blame sets the reason, unless the job is ending well or by somebody's will, which needs none.
// The text comes from servers and from processes: it is cut to 512 bytes and made UTF-8, so that every journal can hold it.
func (j *Job) blame(constraint, text string) {
	const longest = 512
	if j.Ending != "" && constraint != Futile {
		return
	}
	if len(text) > longest {
		text = text[:longest]
	}
	j.Reason = apportion.Reason{Constraint: constraint, Text: strings.ToValidUTF8(text, "?")}
}
