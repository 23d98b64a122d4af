// This file implements the policy that does nothing: NA of [Zheng] §6.1.2 and DS of §6.2.1.

package policies

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
)

// arrived is why a new job was placed.
const arrived = "arrived"

// Default places each new job on the worker with the least sum of requests, sets no limits and
// moves nobody: NA on one worker, DS on several. It is for Shared scenarios.
type Default struct {
	// Ties chooses among workers with equal sums, as Kubernetes does, in particular where no job
	// requests anything; nil chooses the first.
	Ties *rand.Rand
}

// Name returns "default".
func (*Default) Name() string { return "default" }

// Decide places the new jobs.
func (d *Default) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	return sim.Orders{Places: d.place(state)}, nil
}

// place places the new jobs and notes it in the state, so that whoever decides after it sees them there.
func (d *Default) place(state *sim.State) []sim.Place {
	var places []sim.Place
	for i := range state.Jobs {
		job := &state.Jobs[i]
		if job.Server() < 0 {
			job.Places, job.Containers = on(d.least(state)), 1
			places = append(places, sim.Place{Job: job.ID, On: job.Places, Why: arrived})
		}
	}
	return places
}

func on(server int) []apportion.Placement { return []apportion.Placement{{Server: server, Count: 1}} }

// least returns the worker with the least sum of requests. What a job really uses plays no part in it:
// that is what FlowCon and SpeCon hold against it.
func (d *Default) least(state *sim.State) int {
	sums := make([]int64, len(state.Scenario.Servers))
	for i := range state.Jobs {
		if job := &state.Jobs[i]; job.Server() >= 0 {
			sums[job.Server()] += job.Request
		}
	}
	// Sums are integers, so that equal ones are equal on every machine.
	least := slices.Min(sums)
	var ties []int
	for w, sum := range sums {
		if sum == least {
			ties = append(ties, w)
		}
	}
	if d.Ties == nil {
		return ties[0]
	}
	return ties[d.Ties.IntN(len(ties))]
}
