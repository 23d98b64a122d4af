// This file measures a run: completion times, restarts, containers' time and finish-time fairness, [Mahajan20] §3.

package schedulers

import (
	"slices"
	"time"

	"github.com/apportion/apportion/placement/sim"
)

// Measures are what is compared between policies.
type Measures struct {
	// Completed is how many jobs completed; the times are of those.
	Completed int
	// Mean, Median and P99 are of the times from submission to completion; Makespan is the last completion.
	Mean     time.Duration
	Median   time.Duration
	P99      time.Duration
	Makespan time.Duration
	// Restarts is how often a job's containers were changed.
	Restarts int
	// ContainerHours is what all jobs held.
	ContainerHours float64
	// Rho is the mean, and WorstRho the largest, of the time that a job took in parts of what it would have taken with an
	// equal part of the cluster, [Mahajan20] (1). Unfair is the part of the jobs with more than 1.
	Rho      float64
	WorstRho float64
	Unfair   float64
}

// Measure returns the measures of a run. The equal part of a job is that of all containers of its size that the servers
// hold, divided by the mean number of jobs from its submission to its completion, at least 1, and on several types of
// servers on each for as much of the time as it has of all containers. The error is that of a job's speed.
// O(jobs x (samples + containers x servers)).
func Measure(s *sim.Scenario, r *sim.Result) (*Measures, error) {
	m := &Measures{Makespan: r.Makespan(), Mean: r.MeanResponse()}
	var times []time.Duration
	for i := range r.Jobs {
		o := &r.Jobs[i]
		m.Restarts += o.Adjusted
		for k := range o.Spans {
			n := int64(0)
			for _, p := range o.Spans[k].Places {
				n += p.Count
			}
			m.ContainerHours += float64((o.Spans[k].Until - o.Spans[k].From).Hours() * float64(n))
		}
		if !o.Completed {
			continue
		}
		times = append(times, o.Response())
		rho, err := rho(s, r, i)
		if err != nil {
			return nil, err
		}
		m.Rho += rho
		m.WorstRho = max(m.WorstRho, rho)
		if rho > 1 {
			m.Unfair++
		}
	}
	if m.Completed = len(times); m.Completed == 0 {
		return m, nil
	}
	slices.Sort(times)
	// The least time that a half, or 99 of a hundred, of the jobs do not exceed: ranks rounded up, counted from 0.
	m.Median, m.P99 = times[(len(times)-1)/2], times[(len(times)*99+99)/100-1]
	m.Rho /= float64(len(times))
	m.Unfair /= float64(len(times))
	return m, nil
}

// rho returns the time of a job that has completed in parts of its time alone on an equal part of the cluster.
func rho(s *sim.Scenario, r *sim.Result, i int) (float64, error) {
	o, job := &r.Jobs[i], &s.Jobs[i]
	others := max(1, r.Mean(o.Arrival, o.Completion, func(s *sim.Sample) float64 { return float64(s.Running + s.Waiting) }))
	types, total, alone := kinds(s.Servers), 0.0, 0.0
	for k := range types {
		all, _ := types[k].holds(s.Servers, job.Demand)
		total += float64(all)
	}
	for k := range types {
		speeds, err := types[k].speeds(s.Servers, job)
		if err != nil {
			return 0, err
		}
		all, _ := types[k].holds(s.Servers, job.Demand)
		alone += float64(all) / total * share(rising(speeds), total/others)
	}
	// Work is at speed 1, so that work/alone is the time that it would have taken.
	return o.Response().Seconds() * alone / job.Work.Seconds(), nil
}

// share returns the speed with a number of containers that need not be whole: a part of the time of one below 1, on the
// line between two numbers, and that of the most beyond it.
// 0 for a type that does not hold the job.
func share(speeds []float64, n float64) float64 {
	last := float64(len(speeds))
	switch {
	case len(speeds) == 0:
		return 0
	case n <= 1:
		return n * speeds[0]
	case n >= last:
		return speeds[len(speeds)-1]
	}
	at := int(n)
	return speeds[at-1] + (speeds[at]-speeds[at-1])*(n-float64(at))
}
