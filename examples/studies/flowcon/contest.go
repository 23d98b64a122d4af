// This file plays random schedules with noisy readings, for the time to 95 % of the improvement.

package main

import (
	"fmt"
	"time"

	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// balanced is the alpha of ours where the time to 95 % of the improvement counts: a chance is even, so that 5 % calls half of them early.
// An earlier call takes CPU from a job that has not learned yet, which this contest counts and completion
// times do not.
const balanced = 0.03

// noisyJobs is the number of jobs of a noisy schedule.
const noisyJobs = 10

// contest compares the thesis' test, under two readings of its alpha, with ours.
func contest(schedules int) *noisy.Contest {
	// The shorter is what the thesis recommends for random jobs.
	intervals := []time.Duration{20 * time.Second, 60 * time.Second}
	settings := func(interval time.Duration) []setting {
		return []setting{threshold(0.05, interval, growth.FirstValue), threshold(0.05, interval, growth.LargestGrowth), prospect(balanced, interval)}
	}
	c := &noisy.Contest{
		Title: fmt.Sprintf("%d random schedules of %d jobs a row", schedules, noisyJobs), Than: "NA",
		Schedules: schedules, Intervals: intervals, Models: allModels,
		Scenario: func(seed uint64) (*sim.Scenario, error) { return randomSchedule(noisyJobs, seed) },
		// NA looks at no reading, so that it needs no seed.
		Base: func(uint64) sim.Policy { return &policies.Default{} },
		With: func(k int, interval time.Duration, _ uint64) (sim.Policy, error) {
			s := settings(interval)[k]
			return policies.NewFlowCon(flowcon.Config{Interval: s.interval, Alpha: s.alpha}, &s.options)
		},
	}
	for _, s := range settings(intervals[0]) {
		c.Settings = append(c.Settings, s.name)
	}
	return c
}
