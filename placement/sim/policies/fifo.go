// This file implements FIFO: fixed numbers of workers in order of arrival, [OASiS] §5.

package policies

import (
	"context"
	"slices"

	"github.com/apportion/apportion/placement/sim"
)

// FIFO lets all jobs in. The first that waits starts as soon as all its workers and parameter servers
// fit, and keeps them to its end. A number of workers that not even the empty cluster holds is reduced
// to one it does.
type FIFO struct {
	// Backfill lets later jobs start while an earlier one waits.
	Backfill bool

	desk desk
}

// Name returns "FIFO" or "FIFO+backfill".
func (f *FIFO) Name() string {
	if f.Backfill {
		return "FIFO+backfill"
	}
	return "FIFO"
}

// Decide starts what fits. O(containers started x servers x kinds).
func (f *FIFO) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	orders := sim.Orders{Refused: f.desk.open(state)}
	var short []*sim.Job
	for _, job := range f.desk.taking(state, 0) {
		if job.Containers > 0 || f.short(short, job.Job) {
			continue
		}
		if f.desk.grow(job.Job, 0, f.desk.fixed[job.ID]) {
			orders.Places = append(orders.Places, f.desk.order(job.ID))
		} else if !f.Backfill {
			break
		} else {
			short = append(short, job.Job)
		}
	}
	return orders, nil
}

// short reports whether a job of the same demand found no room at this decision for as many workers or fewer: what is free only
// shrinks in a decision. So equal jobs in a long queue are looked at once.
func (f *FIFO) short(tried []*sim.Job, job *sim.Job) bool {
	return slices.ContainsFunc(tried, func(t *sim.Job) bool {
		return t.Training == nil && job.Training == nil && t.Demand.Equal(job.Demand) && f.desk.fixed[t.ID] <= f.desk.fixed[job.ID]
	})
}
