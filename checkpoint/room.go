// This file implements the room of servers: what is free now, and what could become free.

package checkpoint

import (
	"math"

	"github.com/apportion/apportion"
)

// room is what is free on each server. A quantity below zero says that a server has more than it can
// hold, for instance since it shrank.
type room map[string]apportion.Resources

// room returns what is free where each job takes the containers that charge says. O(containers).
func (m *Machine) room(charge func(*Job) []string) room {
	free := make(room, len(m.servers))
	for id, host := range m.servers {
		free[id] = host.Capacity.Clone()
	}
	for _, name := range m.names {
		j := m.jobs[name]
		free.take(charge(j), j.Demand)
	}
	return free
}

// charged are the containers whose room a job takes: all that may exist, and those reserved.
func charged(j *Job) []string {
	if !j.Reserved {
		return j.Containers
	}
	return merge(j.Containers, j.Target, func(_, _ bool) bool { return true })
}

// remaining are the containers that a job will not release for what it is on its way to.
// A request that is not begun counts as well: what the job has and does not ask for will be free one day.
func remaining(j *Job) []string {
	goal := j.Target
	if j.Order != 0 {
		goal = both(j.Target, j.Wanted)
	}
	return both(charged(j), goal)
}

// take takes the room of containers that need so much each. Below zero it stops at the least integer.
func (r room) take(containers []string, demand apportion.Resources) {
	for _, server := range containers {
		free := r[server]
		for k := range free {
			// The comparison is written so that it cannot overflow: demand is not negative.
			if free[k] >= math.MinInt64+demand[k] {
				free[k] -= demand[k]
			} else {
				free[k] = math.MinInt64
			}
		}
	}
}

func (r room) give(containers []string, demand apportion.Resources) {
	for _, server := range containers {
		for k := range r[server] {
			r[server][k] += demand[k]
		}
	}
}

// fits reports whether there is room for containers that need so much each.
func (r room) fits(containers []string, demand apportion.Resources) bool {
	left := make(room)
	for _, server := range containers {
		free, known := r[server]
		if !known {
			return false
		}
		if left[server] == nil {
			left[server] = free.Clone()
		}
		for k, need := range demand {
			// A kind of which nothing is needed may be overdrawn: the server has shrunk, and this does not make
			// it worse.
			if left[server][k] < need && need > 0 {
				return false
			}
			left[server][k] -= need
		}
	}
	return true
}
