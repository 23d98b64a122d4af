// This file holds what a Manager knows, as a value: the marks of [Zheng] Algorithms 3, 4 and 5.

package specon

import (
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
)

// Job is all that a Manager knows of one job.
type Job struct {
	ID string
	// Worker is where it runs or is to run; empty: it waits for one.
	Worker string
	Demand apportion.Resources
	// Running says that it runs there.
	Running bool
	// Readings are its series and what came since the newest check.
	Readings growth.Track
	// Current is what it used at the time of the newest reading.
	Current growth.Usage
	// There is the time of the first tick that saw it on a worker.
	There time.Duration
	// Category is that of the newest tick, Outside before the first.
	Category growth.Category
	// Since is when the manager decided on it or, before that, when it converged.
	Since time.Duration
	// Decided: a host was chosen for it. Rebalanced: it was moved to even the cluster out.
	Decided, Rebalanced bool
}

// Transfer is a move that a plan has left to do.
type Transfer struct {
	Job, To string
}

// State is all that a Manager knows: a value that survives encoding/json unchanged. Save it before a
// decision is carried out: then a restored manager knows of every order that anybody may have begun,
// and moves no job twice for the same reason.
type State struct {
	// Now is the time of the newest tick, Next that of the next check, Ticked whether there was one.
	Now, Next time.Duration
	Ticked    bool
	// Workers and Jobs are in order of arrival.
	Workers []apportion.Server
	Jobs    []Job
	// Gone lists the jobs that have left since the newest tick, which the next one reports.
	Gone []growth.Change
	// Plan is what is left of a plan to even the cluster out.
	Plan []Transfer
}

func (j *Job) clone() Job {
	c := *j
	c.Demand, c.Readings = j.Demand.Clone(), j.Readings.Clone()
	return c
}
