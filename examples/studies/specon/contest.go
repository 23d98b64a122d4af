// This file plays random schedules with noisy readings, for the time to 95 % of the improvement.

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// noisySchedule is the one of twenty random jobs.
const noisySchedule = "random-20"

// noisySettings are the thesis' test, with requests at the next slow check, as listed, and at the entry of CC, as §6.2.3
// tells, and ours. The ladder takes a job down a step at a time because one small gain proves little; our estimate is made of the
// whole run, so one verdict is enough, and a tenth of the improvement that may be ahead costs a job that moves less than its
// neighbours gain.
func noisySettings() []setting {
	entry := decline(0.01, 30*time.Second)
	entry.name, entry.options.AtEntry = "Decline at entry", true
	prospect := specon.Options{Classifier: growth.Prospect{Alpha: 0.1}, Separate: true}
	return []setting{decline(0.01, 30*time.Second), entry, {"Prospect", 0, 30 * time.Second, prospect}}
}

// contest compares the thesis' test with ours. New jobs are placed at random, as in the main table.
func contest(schedules int) *noisy.Contest {
	s := schedulesByName(noisySchedule)
	place := func(seed uint64) policies.Default { return policies.Default{Ties: rand.New(rand.NewPCG(seed, 1))} }
	c := &noisy.Contest{
		Title: fmt.Sprintf("%s, %d schedules a row", s.title, schedules), Than: "DS",
		Schedules: schedules, Intervals: []time.Duration{30 * time.Second, 60 * time.Second}, Models: models, Scenario: s.scenario,
		Base: func(seed uint64) sim.Policy {
			ds := place(seed)
			return &ds
		},
		With: func(k int, interval time.Duration, seed uint64) (sim.Policy, error) {
			setting := noisySettings()[k]
			policy, err := policies.NewSpeCon(specon.Config{Interval: interval, Alpha: setting.alpha}, &setting.options)
			if err == nil {
				policy.Place = place(seed)
			}
			return policy, err
		},
	}
	for _, setting := range noisySettings() {
		c.Settings = append(c.Settings, setting.name)
	}
	return c
}

// schedulesByName returns the schedule of a name.
func schedulesByName(name string) *schedule {
	return &schedules[slices.IndexFunc(schedules, func(s schedule) bool { return s.name == name })]
}
