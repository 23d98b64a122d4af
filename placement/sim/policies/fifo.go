// This file implements FIFO: fixed numbers of workers in order of arrival, [OASiS] §5.

package policies

import (
	"context"

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
	for _, job := range f.desk.taking(state, 0) {
		if job.Containers > 0 {
			continue
		}
		if f.desk.grow(job.Job, 0, f.desk.fixed[job.ID]) {
			orders.Places = append(orders.Places, f.desk.order(job.ID))
		} else if !f.Backfill {
			break
		}
	}
	return orders, nil
}
