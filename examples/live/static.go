// This file implements a static partition, for comparison: the containers of a job never change.

package main

import (
	"context"
	"slices"

	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// static gives each job the mean of its least and greatest number of containers for life, first come,
// first served.
type static struct{}

// Decide implements [master.Decider].
func (static) Decide(_ context.Context, s *master.State) (*master.Verdict, error) {
	v := &master.Verdict{Targets: map[string][]string{}, Waiting: map[string]string{}, Explanation: "first come, first served, and never changed\n"}
	room := harness.RoomOf(s.Servers)
	for i := range s.Jobs {
		room.Take(s.Jobs[i].Goal(), s.Jobs[i].Application.Demand)
	}
	for i := range s.Jobs {
		job := &s.Jobs[i].Application
		if len(s.Jobs[i].Goal()) > 0 {
			continue
		}
		containers := room.RoundRobin(s.Servers, job.Demand, (job.Min+job.Max)/2)
		if containers == nil {
			v.Waiting[job.ID] = "There is no room for it yet, and later jobs wait behind it."
			break
		}
		slices.Sort(containers)
		v.Targets[job.ID] = containers
	}
	return v, nil
}
