// This file holds what a Manager is told, [Zheng] §5.2.

package specon

import (
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
)

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	// WorkerUp: Worker is there with Capacity, or its capacity is another now.
	WorkerUp EventKind = "worker-up"
	// WorkerDown: Worker is gone; its jobs wait for another.
	WorkerDown EventKind = "worker-down"
	// Arrival: Job is there, in one container of Demand. It runs on Worker; where that is empty the
	// manager finds one.
	Arrival EventKind = "arrival"
	// Exit: Job is gone.
	Exit EventKind = "exit"
	// Reading: Job has Value at time At, used Usage on average since its reading before, and Current
	// at that time.
	Reading EventKind = "reading"
	// Runs: Job runs on Worker, with Demand where that is not nil: what the manager ordered has been
	// carried out, or the job is elsewhere for another reason.
	Runs EventKind = "runs"
	// Pauses: Job does not run: it is on its way to a worker, or starts again.
	Pauses EventKind = "pauses"
)

var eventKinds = []EventKind{WorkerUp, WorkerDown, Arrival, Exit, Reading, Runs, Pauses}

// Event is one thing that happened. The fields that its kind does not name are not read. Events are in
// the order in which they happened, as far as they concern the same job or worker; readings of
// different jobs may come in any order, and at any time between two ticks.
type Event struct {
	Kind EventKind
	// Job and Worker are IDs.
	Job, Worker string
	// Capacity is what a worker has, Demand what a job's container needs, over the manager's kinds.
	Capacity, Demand apportion.Resources
	// At is the time of a reading, since the same origin as the ticks'. One that is not later than
	// that of the job's reading before, or is later than the next check, is dropped.
	At time.Duration
	// Value is E(t), the evaluation function; NaN and infinities say that the job diverged.
	Value float64
	// Better says which values are better; EitherWay where nobody knows.
	Better growth.Direction
	// Usage is the average since the job's reading before, as in [Observation]. Current is what it
	// uses at the time of the reading, of which R(w, t) is the sum over a worker's jobs; where that
	// is not measured Usage stands for it.
	Usage, Current growth.Usage
}
