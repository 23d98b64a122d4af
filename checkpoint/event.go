// This file declares the events: all that the protocol learns of the world.

package checkpoint

import (
	"time"

	"github.com/apportion/apportion"
)

// Event is something that has happened or is asked for: one of the types of this file. Events may come
// late, twice and in any order; those that speak of an earlier attempt are counted and ignored.
type Event interface {
	// name is what the event is called as text, see UnmarshalEvent.
	name() string
}

// Tick says what time it is. It is the only event that carries a time; only differences matter.
type Tick struct {
	Now time.Time `json:"now"`
}

// ServerUp says that a server is there, or that its capacity has changed. Nothing is taken away from
// jobs by that: the caller asks for an adjustment if it wants so.
type ServerUp struct {
	Server apportion.Server `json:"server"`
	// Incarnation names the memory of the server's agent: an agent that is started again has the same, one that has
	// lost its memory another. A server that is there has one only. Another is refused with apportion.ErrConflict until
	// the one before is lost: jobs of it may run where the new agent does not see them. Empty: the agent has no name,
	// and nobody notices.
	Incarnation string `json:"incarnation,omitempty"`
	// Witness is the newest that the server has heard of any master. If it is not on record, ErrBehind ends the machine;
	// if it is of another journal, the server is refused with apportion.ErrConflict. Zero: it has heard of none, or
	// keeps nothing.
	Witness Witness `json:"witness,omitzero"`
}

// StoreNamed says which store the checkpoints are in, by the identity of its medium, as store.Identity has it. The first
// that is told is on record from then on, and in every effect that has to do with a store. Another one is refused with
// apportion.ErrConflict: what it says of checkpoints is said of others.
type StoreNamed struct {
	ID string `json:"id"`
}

// ServerSilent says that a server does not answer, and nothing more: its processes may run on. Nothing is started
// there, its room is not given to anybody, and jobs that need it wait, until ServerUp says that it answers again or
// ServerFenced that it never will.
type ServerSilent struct {
	ID string `json:"id"`
}

// ServerFenced says that a server is gone for good: no process and no container of before exists there
// any more, and nothing that was sent to it before will be done. That a server does not answer, or that a cluster
// manager calls it down, is no reason to say so: its processes run on. Reasons are that its agent, or the guard of
// every run, ends all jobs when it has not heard of a master for a lease, and longer than that has passed; that its
// power is off; or the word of a manager that has seen to it. The server may come back with ServerUp.
type ServerFenced struct {
	ID string `json:"id"`
}

// Submit makes a job known. It holds nothing until an Adjust gives it containers.
type Submit struct {
	// Job is its name: not empty, UTF-8 without control characters.
	Job string `json:"job"`
	// Demand is what one container takes.
	Demand apportion.Resources `json:"demand"`
	// Min is the least number of containers with which the job goes on when servers are lost; 0 means 1.
	Min int `json:"min,omitempty"`
}

// Adjust asks for new containers for some jobs. Each gets exactly what is asked for, or keeps what it
// had, or, when it can have neither, is suspended with its newest checkpoint; Job.Reason tells. A
// target asked for before, and not begun, is replaced.
type Adjust struct {
	// Targets maps jobs to the servers of their containers, one entry a container. None: the job is
	// saved and suspended.
	Targets map[string][]string `json:"targets"`
	// Deadline is when the jobs must begin to stop, by the clock of Tick: one that is not saved by then, because it
	// answers no save or waits for room, is stopped all the same and goes on from its newest confirmed checkpoint. Zero:
	// none; a job that answers, and cannot be saved, keeps what it has then, and one that does not answer has Config.SaveLimit.
	Deadline time.Time `json:"deadline,omitzero"`
}

// Drain takes a server out of use while it still answers, as before maintenance, or before a spot machine is taken away:
// each job that has, or is to have, containers there is asked to go on with the others, or, where these are fewer than
// Min, to be suspended. From then on no target may name the server. It stays drained until it is fenced, or until another
// Drain says Over.
type Drain struct {
	ID string `json:"id"`
	// Deadline is that of the adjustments, see [Adjust].
	Deadline time.Time `json:"deadline,omitzero"`
	// Over says that targets may name the server again. What has left it does not come back by itself.
	Over bool `json:"over,omitempty"`
}

// Cordon says that nothing more is to be placed on a server, as after effects that have failed there again and again. What
// is there stays: a target may name the server as often as the job has containers there, or is to have, and no more often.
type Cordon struct {
	ID string `json:"id"`
	// Detail says why, in words.
	Detail string `json:"detail,omitempty"`
	// Until is when the cordon ends, by the clock of Tick; zero: when another Cordon says Over, or the server is fenced.
	Until time.Time `json:"until,omitzero"`
	// Over ends a cordon.
	Over bool `json:"over,omitempty"`
}

// Checkpoint asks that a running job be saved and go on. In every other phase it does nothing.
type Checkpoint struct {
	Job string `json:"job"`
}

// Cancel ends a job: its processes are stopped and its containers released, nothing is saved.
type Cancel struct {
	Job string `json:"job"`
	// Failed says why the job is given up, which ends it as GivenUp, and Job.Reason has that; empty: somebody wants it to end.
	Failed string `json:"failed,omitempty"`
}

// Forget removes a job that has ended. Its checkpoints in the store are the caller's from then on, and
// its name may be used again.
type Forget struct {
	Job string `json:"job"`
}

// Finished says that an attempt of a job has done all its work.
type Finished struct {
	Job     string `json:"job"`
	Attempt int64  `json:"attempt"`
}

// Exited says that processes of an attempt have ended before the work was done.
type Exited struct {
	Job     string `json:"job"`
	Attempt int64  `json:"attempt"`
	// Detail says in words how they ended; Job.Reason quotes it.
	Detail string `json:"detail,omitempty"`
	// Refused says that they never began, since others have their room.
	Refused bool `json:"refused,omitempty"`
}

// Orphan says that an attempt has processes or containers on a server that it should not have there: no record knows the
// attempt, or it was stopped long ago. It is stopped there. Of an attempt that may run on the server it says nothing new
// and is ignored, and so is one of an attempt that is yet to come.
type Orphan struct {
	Server  string `json:"server"`
	Job     string `json:"job"`
	Attempt int64  `json:"attempt"`
}

// Stalled says that the processes of an attempt live and get nowhere: they are ended, and another attempt goes on from
// the newest confirmed checkpoint, as after a death. It is ignored in every phase but Running and Saving.
type Stalled struct {
	Job     string `json:"job"`
	Attempt int64  `json:"attempt"`
	// Detail says in words how that was seen; Job.Reason quotes it.
	Detail string `json:"detail,omitempty"`
}

// Reply says how an effect went. It goes to the master that has sent the effect, to no other: one to an
// effect of another Epoch must be dropped.
type Reply struct {
	// ID and Job are those of the Effect.
	ID      int64   `json:"id"`
	Job     string  `json:"job"`
	Outcome Outcome `json:"outcome"`
	// Detail is the error in words, where Outcome is not Done.
	Detail string `json:"detail,omitempty"`
	// Step is how many training steps the checkpoint holds, after Save; -1 if unknown.
	Step int64 `json:"step"`
}
