// This file holds what a simulation returns, and the measures of [Zheng] §6.1.2 and §6.2.1.

package nodesim

import "time"

// Outcome is what became of a job.
type Outcome struct {
	ID                  string
	Arrival, Completion time.Duration
}

// Time returns the completion time as the thesis counts it: from the job's submission.
func (o Outcome) Time() time.Duration { return o.Completion - o.Arrival }

// Running is a job on a worker.
type Running struct {
	// Job is a position in Scenario.Jobs.
	Job, Worker int
	// Share is what the job uses; 0 while it is moved.
	Share, Limit Share
}

// Sample is the cluster from a time on until the next sample.
type Sample struct {
	At      time.Duration
	Running []Running
}

// Migration is a job that was moved.
type Migration struct {
	At            time.Duration
	Job, From, To int
	Why           Why
}

// Result is what happened. Outcomes are in the order of Scenario.Jobs, the others in order of time.
type Result struct {
	Outcomes   []Outcome
	Samples    []Sample
	Migrations []Migration
}

// Makespan returns the time from 0 to the last completion.
func (r *Result) Makespan() time.Duration {
	var last time.Duration
	for _, o := range r.Outcomes {
		last = max(last, o.Completion)
	}
	return last
}

// Mean returns the mean completion time; 0 without jobs.
func (r *Result) Mean() time.Duration {
	var sum time.Duration
	for _, o := range r.Outcomes {
		sum += o.Time()
	}
	return sum / time.Duration(max(1, len(r.Outcomes)))
}

// noticeable is the least reduction that counts as a gain: times are rounded up to nanoseconds, so
// the last job of a worker that is never idle ends a few of them sooner or later for no reason.
const noticeable = 0.001

// Gains returns the reduction of the completion time of each job as a share of what it was in
// another result of the same scenario, positive is sooner; and how many of them are 0.1 % or more.
func (r *Result) Gains(base *Result) (sooner int, reductions []float64) {
	for i, o := range r.Outcomes {
		was := base.Outcomes[i].Time()
		reduction := float64(was-o.Time()) / float64(was)
		if reduction >= noticeable {
			sooner++
		}
		reductions = append(reductions, reduction)
	}
	return sooner, reductions
}
