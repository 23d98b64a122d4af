// This file holds what a Manager decides, [Zheng] §5.2.

package specon

import (
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/enum"
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

// Why says why a job moves.
type Why uint8

// The reasons of moves.
const (
	// LeastScore: the job grows slowly, and the other worker alone has the least score.
	LeastScore Why = iota
	// LeastUsage: it grows slowly, and no worker of the least score uses less.
	LeastUsage
	// BestWithRoom: it grows slowly, and the other worker is the best of those with room.
	BestWithRoom
	// Rebalancing: all jobs have converged, and the cluster is uneven.
	Rebalancing
)

var whys = []string{"least score", "least usage among the least scores", "best of those with room", "rebalancing"}

// String returns the reason in words.
func (w Why) String() string { return enum.String(w, whys) }

// MarshalText returns what String returns.
func (w Why) MarshalText() ([]byte, error) { return enum.Marshal(w, whys) }

// UnmarshalText reads what MarshalText writes.
func (w *Why) UnmarshalText(text []byte) error { return enum.Unmarshal(w, text, whys) }

// Move takes a job from one worker to another: save it on From, stop it, restore it on To. A Runs
// event says when it is done; one that names From says that the move has failed, and then the job
// stays where it is.
type Move struct {
	Job, From, To string
	Why           Why
}

// Verdict says what became of a request for another host.
type Verdict uint8

// The verdicts.
const (
	// Moves: the job is among Decision.Moves.
	Moves Verdict = iota
	// Stays: no worker has a smaller score. The job stays where it is for good.
	Stays
	// NoRoom: no worker with a smaller score has room. The job may ask again.
	NoRoom
	// Waits: another job is on its way, and OneAtATime is set. The job may ask again.
	Waits
)

var verdicts = []string{"moves", "stays: no worker has a smaller score", "stays: no worker with a smaller score has room",
	"waits: one migration at a time"}

// String returns the verdict in words.
func (v Verdict) String() string { return enum.String(v, verdicts) }

// MarshalText returns what String returns.
func (v Verdict) MarshalText() ([]byte, error) { return enum.Marshal(v, verdicts) }

// UnmarshalText reads what MarshalText writes.
func (v *Verdict) UnmarshalText(text []byte) error { return enum.Unmarshal(v, text, verdicts) }

// Answer is a request with what became of it: for a log, and for whoever asks why a job stayed.
type Answer struct {
	Request
	Verdict Verdict
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
