// This file holds what a Manager decides, [Zheng] §5.2.

package specon

import (
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/placement"
)

// Assignment gives a worker to a job that has none.
type Assignment struct {
	Job, Worker string
}

// Waiting is a job that no worker has room for. It is tried again at every tick; Reason says which kind
// is short, and by how much, where one kind alone is.
type Waiting struct {
	Job    string
	Reason apportion.Reason
}

// Rebalancing is why a job moves where all jobs have converged and the cluster is uneven.
const Rebalancing placement.HostReason = "rebalancing"

// Move takes a job from one worker to another: save it on From, stop it, restore it on To. A Runs
// event says when it is done; one that names From says that the move has failed, and then the job
// stays where it is.
type Move struct {
	Job, From, To string
	Why           placement.HostReason
}

// What becomes of a request beside [placement.Stays] and [placement.NoRoom].
const (
	// Moves: the job is among Decision.Moves.
	Moves placement.HostReason = "moves"
	// Waits: another job is on its way, and OneAtATime is set. The job may ask again.
	Waits placement.HostReason = "waits: one migration at a time"
)

// Answer is a request with what became of it: for a log, and for whoever asks why a job stayed.
type Answer struct {
	Request
	Verdict placement.HostReason
}

// Load is a worker after a tick: what the next choice of a host will compare.
type Load struct {
	Worker string
	// Progressing, Watching and Converged count its jobs by category, Score weighs them, in units of
	// 1/[placement.ScoreUnit].
	Progressing, Watching, Converged int64
	Score                            int64
	// Usage is the sum of what its jobs used at their newest readings, as far as that was measured.
	Usage float64
}

// Decision is the result of one tick: what the caller is to do (Assignments, Moves), when to ask again
// (Next), and the reasons. It shares nothing with the manager, and survives encoding/json unchanged.
type Decision struct {
	// Time is the time of the tick. Ran says whether it was the time of a check; Next is that of
	// the next one.
	Time, Next time.Duration
	Ran        bool
	// Assignments lists the jobs that get a worker, and Waiting those that no worker has room for,
	// both in order of arrival.
	Assignments []Assignment
	Waiting     []Waiting
	// Changes lists the jobs that changed category, by ID; those that left first.
	Changes []growth.Change
	// Answers lists the requests for another host, by job.
	Answers []Answer
	// Moves lists who moves, in an order in which each finds room.
	Moves []Move
	// OnTheirWay lists the jobs that have a worker and do not run, before the moves of this tick, in
	// order of arrival.
	OnTheirWay []string
	// Workers lists all workers in order of their arrival, as they are when the moves are done.
	Workers []Load
}
