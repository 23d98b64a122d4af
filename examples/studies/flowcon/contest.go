// This file plays random schedules with noisy readings, for the time to 95 % of the improvement.

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/apportion/apportion/examples/studies/command"
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
// It is the middle one of the thesis' sizes.
const noisyJobs = 10

// curves are the recorded curves by model.
func curves() map[string]string {
	byModel := map[string]string{}
	for _, m := range allModels {
		byModel[m.name] = m.curve
	}
	return byModel
}

// contest compares the thesis' test, under two readings of its alpha, with ours.
// All settings of a row play the same schedules with the same readings.
func contest(schedules int) *noisy.Contest {
	// The shorter is what the thesis recommends for random jobs.
	intervals := []time.Duration{20 * time.Second, 60 * time.Second}
	settings := func(interval time.Duration) []setting {
		return []setting{threshold(0.05, interval, growth.FirstValue), threshold(0.05, interval, growth.LargestGrowth), prospect(balanced, interval)}
	}
	c := &noisy.Contest{
		Schedules: schedules, Intervals: intervals,
		Scenario: func(seed uint64) (*sim.Scenario, []float64, error) {
			scenario, err := randomSchedule(noisyJobs, seed)
			if err != nil {
				return nil, nil, err
			}
			all, err := noisy.Parts(scenario, curves())
			return scenario, all, err
		},
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

// reportNoisy prints the contest.
// The table goes to w, the progress to stderr.
func reportNoisy(w, stderr io.Writer, schedules int) error {
	fmt.Fprintf(w, "%d random schedules of %d jobs a row, readings every %v: by how many percent the time to 95 %% of the improvement is\n"+
		"shorter than under NA, with its standard error.\n", schedules, noisyJobs, noisy.Every)
	c := contest(schedules)
	return c.Report(w, command.Progress(stderr, schedules*noisy.Rows()*len(c.Intervals), "simulating"))
}
