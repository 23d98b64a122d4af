// This file implements a static partition, for comparison: the containers of a job never change.

package main

import (
	"context"

	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// static gives each job the mean of its least and greatest number of containers for life, first come,
// first served.
// A job that waits holds up all behind it, also those that would fit.
type static struct{}

// Decide implements [master.Decider].
func (static) Decide(_ context.Context, s *master.State) (*master.Verdict, error) {
	v := &master.Verdict{Targets: map[string][]string{}, Waiting: map[string]string{}, Explanation: "first come, first served, and never changed\n"}
	room, err := harness.RoomOf(s.Kinds, s.Servers)
	if err != nil {
		return nil, err
	}
	for i := range s.Jobs {
		if err := room.Take(s.Jobs[i].Goal(), s.Jobs[i].Application.Demand); err != nil {
			return nil, err
		}
	}
	for i := range s.Jobs {
		job := &s.Jobs[i].Application
		if len(s.Jobs[i].Goal()) > 0 {
			continue
		}
		placed := room.RoundRobin(job.Demand, (job.Min+job.Max)/2)
		if placed == nil {
			v.Waiting[job.ID] = "There is no room for it yet, and later jobs wait behind it."
			break
		}
		v.Targets[job.ID] = room.Names(placed)
	}
	return v, nil
}
