// This file measures when a job had learned: the time to 95 % of its improvement.

package noisy

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/placement/sim"
)

// learned is the share of all improvement after which a job has learned.
const learned = 0.95

// Part returns the part of its work after which a job has learned, by a curve of which the last value lies on
// the better side: from then on the best mean of the newest 5 % of the points is good enough.
func Part(steps, values []float64) float64 { return PartOf(steps, values, learned) }

// PartOf is Part for another share of all improvement, in [0, 1].
// The mean keeps a single lucky point from counting. The values must not be empty and the steps ascend; a
// curve that never improves has learned at its first point.
func PartOf(steps, values []float64, share float64) float64 {
	// Values are turned so that smaller is better.
	sign := 1.0
	if values[len(values)-1] > values[0] {
		sign = -1
	}
	width := max(1, len(values)/20)
	best := make([]float64, len(values))
	for i := range values {
		sum, newest := 0.0, values[max(0, i-width+1):i+1]
		for _, v := range newest {
			sum += sign * v
		}
		best[i] = sum / float64(len(newest))
		if i > 0 {
			best[i] = min(best[i], best[i-1])
		}
	}
	last := len(values) - 1
	for i := range best {
		if best[0]-best[i] >= share*(best[0]-best[last]) {
			return (steps[i] - steps[0]) / (steps[last] - steps[0])
		}
	}
	return 1
}

// Learned returns the time from its submission in which a job did a part of its work.
// The spans of the job are in the order of time; a job that stands still has spans of rate 0.
func Learned(job *sim.Outcome, work time.Duration, part float64) time.Duration {
	left := part * work.Seconds()
	for _, span := range job.Spans {
		done := (span.Until - span.From).Seconds() * sim.Fraction(span.Rate)
		if done > 0 && done >= left {
			at := span.From.Seconds() + left/sim.Fraction(span.Rate)
			return time.Duration(math.Round(at*1e9)) - job.Arrival
		}
		left -= done
	}
	// Rounding may leave a little of the work at the end.
	return job.Response()
}

// Contest is a comparison of settings of one policy under noise: how much sooner jobs learn than under a
// policy that does not watch them.
// What is compared is the time in which the sum of all jobs of a schedule has learned.
type Contest struct {
	// Title says what is played; Than is the name of the policy that does not watch.
	Title, Than string
	Settings    []string
	Schedules   int
	Intervals   []time.Duration
	// Scenario draws a schedule of jobs of Models.
	Scenario func(seed uint64) (*sim.Scenario, error)
	Models   []Model
	// Base makes the policy that does not watch, With that of a setting.
	Base func(seed uint64) sim.Policy
	With func(setting int, interval time.Duration, seed uint64) (sim.Policy, error)
}

// Every is the time between two readings in a contest.
// A check sees the newest of some readings, or a mean of them.
const Every = 5 * time.Second

// sum is the time in which all jobs of a run learned, in seconds.
func sum(scenario *sim.Scenario, parts []float64, policy sim.Policy) (float64, error) {
	result, err := sim.Run(context.Background(), scenario, policy)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for i := range result.Jobs {
		total += Learned(&result.Jobs[i], scenario.Jobs[i].Work, parts[i]).Seconds()
	}
	return total, nil
}

// gains returns by how many percent the jobs of one schedule learn sooner under each setting.
// A gain is in percent of the time under the base.
func (c *Contest) gains(noise Noise, interval time.Duration, seed uint64) ([]float64, error) {
	scenario, err := c.Scenario(seed)
	if err != nil {
		return nil, err
	}
	parts, err := c.parts(scenario)
	if err != nil {
		return nil, err
	}
	base, err := sum(scenario, parts, c.Base(seed))
	if err != nil {
		return nil, err
	}
	gains := make([]float64, len(c.Settings))
	for k := range gains {
		policy, err := c.With(k, interval, seed)
		if err != nil {
			return nil, err
		}
		with, err := sum(scenario, parts, &Policy{Policy: policy, Noise: noise, Seed: seed << 32, Every: Every})
		if err != nil {
			return nil, err
		}
		gains[k] = 100 * (1 - with/base)
	}
	return gains, nil
}

// moments are the mean of some numbers and its standard error.
type moments struct{ n, sum, squares float64 }

// Numbers are of a size near 1, so that their squares lose nothing.
func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

func (m *moments) mean() float64 { return m.sum / m.n }

// The error is that of the mean, with the number of schedules as it is.
func (m *moments) String() string {
	variance := max(0, m.squares/m.n-m.mean()*m.mean())
	return fmt.Sprintf("%+.1f (%.1f)", m.mean(), math.Sqrt(variance/m.n))
}

// Report prints a row for each noise and interval: gains with their standard errors, and how far the last
// setting is ahead of each other on the same schedules.
func (c *Contest) Report(w, stderr io.Writer) error {
	fmt.Fprintf(w, "%s, readings every %v: by how many percent the time to 95 %% of the improvement is\nshorter than under %s, with its standard error.\n", c.Title, Every, c.Than)
	tick := command.Progress(stderr, c.Schedules*(len(Noises())-1)*len(c.Intervals), "simulating")
	table := command.NewTable(w)
	last := len(c.Settings) - 1
	table.Row("noise\tinterval", 2*last+1, func(i int) string {
		if i <= last {
			return c.Settings[i]
		}
		return fmt.Sprintf("%s ahead of %s", c.Settings[last], c.Settings[i-last-1])
	})
	for _, noise := range Noises() {
		// A restart is an event of the job, not of its readings: the simulator has none.
		for _, interval := range c.Intervals {
			if noise.Restart {
				continue
			}
			if err := c.row(table, noise, interval, tick); err != nil {
				return err
			}
		}
	}
	table.End()
	return nil
}

// row plays all schedules of one row.
// The difference between two settings is taken schedule by schedule, which makes its error much smaller
// than that of either.
func (c *Contest) row(table command.Table, noise Noise, interval time.Duration, tick func()) error {
	last := len(c.Settings) - 1
	all := make([]moments, 2*last+1) // gains, and how far the last is ahead of each other
	for seed := range c.Schedules {
		gains, err := c.gains(noise, interval, uint64(seed+1))
		if err != nil {
			return err
		}
		for k, gain := range gains {
			all[k].add(gain)
			if k < last {
				all[last+1+k].add(gains[last] - gain)
			}
		}
		tick()
	}
	table.Row(fmt.Sprintf("%s\t%v", noise.Name, interval), len(all), func(k int) string { return all[k].String() })
	return nil
}
