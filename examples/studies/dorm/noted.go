// This file notes what the optimizer decided in a run, and how long that took.

package main

import (
	"context"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// now is the clock of the decisions' times.
var now = time.Now

// decision is what is noted of one decision of Dorm.
// gap is a part of the bound and 0 where the allocation is proven.
type decision struct {
	// at is when it was due in the simulation, took how long it took here.
	at, took time.Duration
	// kept says that no allocation was found within the thresholds, so that the old one stayed. The
	// others have a gap to the bound on the utilization, and may be proven to have the largest.
	kept, proven bool
	gap          float64
	// moved counts the containers that were created or destroyed for applications that ran before.
	moved int64
}

// noted is Dorm with an eye on its decisions.
type noted struct {
	*policies.Dorm
	run *played
}

// Decide implements sim.Policy.
func (n noted) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	d, before := decision{at: state.Now}, state.Problem().Previous
	decided := false
	n.Observe = func(answer *alloc.Decision) {
		decided, d.moved = true, moved(before, answer.Allocation)
		d.kept, d.gap = answer.Status == alloc.Kept, answer.Gap
		d.proven = !d.kept && answer.Proven >= solver.ByUtilization
	}
	start := now()
	orders, err := n.Dorm.Decide(ctx, state)
	d.took = now().Sub(start)
	if err == nil && decided {
		n.run.decisions = append(n.run.decisions, d)
	}
	return orders, err
}

// moved counts the containers that are created or destroyed for those who have some.
// A container that changes its server counts twice: destroyed and created.
func moved(before, after alloc.Allocation) int64 {
	var count int64
	for id, servers := range before {
		for server, n := range servers {
			count += max(n-after[id][server], 0)
		}
		for server, n := range after[id] {
			count += max(n-servers[server], 0)
		}
	}
	return count
}
