// This file implements the baseline, static Swarm, [Dorm §V-A4].

package sim

import (
	"context"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// Swarm is a static scheduler: it gives each application its Fixed containers for life, first come
// first served. The head of the queue starts when all its containers fit and holds up everyone
// behind it until then; an application that would not fit the empty cluster is passed over. Each
// container goes to the server with the fewest containers among those with room, the first in the
// list on a tie (Swarm's spread strategy).
type Swarm struct{}

// Name returns "Swarm".
func (Swarm) Name() string { return "Swarm" }

// Decide starts what fits. O(containers started x servers x kinds).
func (Swarm) Decide(_ context.Context, state *State) (alloc.Allocation, error) {
	next := state.Running.Clone()
	cluster := occupy(state)
	for _, app := range state.Apps {
		if next.Containers(app.ID) > 0 {
			continue
		}
		if places := cluster.spread(app); places != nil {
			next[app.ID] = places
			continue
		}
		empty := occupy(&State{Kinds: state.Kinds, Servers: state.Servers})
		if empty.spread(app) != nil {
			break
		}
	}
	return next, nil
}

// occupied is what is free on each server and how many containers it has.
type occupied struct {
	servers    []apportion.Server
	free       []apportion.Resources
	containers []int64
}

func occupy(state *State) *occupied {
	o := &occupied{servers: state.Servers, containers: make([]int64, len(state.Servers))}
	for j := range state.Servers {
		o.free = append(o.free, state.Servers[j].Capacity.Clone())
	}
	for _, app := range state.Apps {
		for j := range state.Servers {
			if n := state.Running[app.ID][state.Servers[j].ID]; n > 0 {
				o.take(j, n, app.Demand)
			}
		}
	}
	return o
}

// take cannot overflow: what is taken has room.
func (o *occupied) take(j int, n int64, demand apportion.Resources) {
	for k, d := range demand {
		o.free[j][k] -= n * d
	}
	o.containers[j] += n
}

// spread places the fixed containers of app and returns where; nil, and nothing placed, if they do
// not all fit.
func (o *occupied) spread(app *App) map[string]int64 {
	places := make(map[string]int64)
	for range app.Fixed {
		j := o.emptiest(app.Demand)
		if j < 0 {
			for j := range o.servers {
				o.take(j, -places[o.servers[j].ID], app.Demand)
			}
			return nil
		}
		o.take(j, 1, app.Demand)
		places[o.servers[j].ID]++
	}
	return places
}

// emptiest returns the server with the fewest containers among those with room, or -1.
func (o *occupied) emptiest(demand apportion.Resources) int {
	best := -1
	for j := range o.servers {
		if demand.FitsIn(o.free[j]) && (best < 0 || o.containers[j] < o.containers[best]) {
			best = j
		}
	}
	return best
}
