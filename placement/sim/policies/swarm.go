// This file implements Dorm's baseline, static Swarm, [Dorm §V-A4].

package policies

import (
	"context"

	"github.com/apportion/apportion/placement"
	"github.com/apportion/apportion/placement/sim"
)

// Swarm is a static scheduler: it gives each job its Fixed containers for life, first come first
// served. The head of the queue starts when all its containers fit and holds up everyone behind it
// until then; a job that would not fit the empty cluster is passed over. Each container goes to the
// server with the fewest containers among those with room, the first in the list on a tie (Swarm's
// spread strategy). A value serves any number of runs.
type Swarm struct{}

// Name returns "Swarm".
func (Swarm) Name() string { return "Swarm" }

// Decide starts what fits. O(containers started x servers x kinds).
func (Swarm) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	// The packer begins with what the running jobs leave free, and counts their containers for the spread.
	packer, err := state.Packer(placement.FewestFirst)
	if err != nil {
		return orders, err
	}
	for i := range state.Jobs {
		job := &state.Jobs[i]
		if job.Containers > 0 {
			continue // for life
		}
		places, ok := packer.Place(job.Demand, job.Fixed, nil)
		if ok {
			orders.Places = append(orders.Places, sim.Place{Job: job.ID, On: places})
		} else if roomOn(state.Scenario.Servers, job.Demand, job.Fixed) == job.Fixed {
			break
		}
	}
	return orders, nil
}
