// This file holds what a simulation returns: Result, Sample, Outcome, Span and averages over time.

package sim

import (
	"slices"
	"time"

	"github.com/apportion/apportion"
)

// Result is one run of a policy. It survives encoding/json unchanged; times are nanoseconds.
type Result struct {
	// Policy is the policy's name.
	Policy string `json:"policy"`
	// Jobs has one entry for each job, in the order of Scenario.Jobs.
	Jobs []Outcome `json:"jobs"`
	// Samples has one entry for each decision, ascending in time, no two at one instant, and one
	// where the use of resources changes without a decision.
	Samples []Sample `json:"samples"`
	// End is the instant of the last event, or the horizon if it came first.
	End time.Duration `json:"end_ns"`
}

// Sample is the cluster from one decision to the next.
type Sample struct {
	At time.Duration `json:"at_ns"`
	// Utilization[k] is u_k, first of the servers and then of the parameter servers; Total is the
	// sum, [Dorm eq. (1)].
	Utilization []float64 `json:"utilization"`
	Total       float64   `json:"total"`
	// FairnessLoss is [Dorm eq. (2)] over the jobs that hold containers or wait, whoever the policy:
	// a job that waits loses its whole theoretical share.
	FairnessLoss float64 `json:"fairness_loss"`
	// RunningLoss is the same over the jobs that hold containers only, as if the others had not been
	// submitted.
	RunningLoss float64 `json:"running_loss"`
	// Adjusted is how many running jobs this decision killed and resumed, [Dorm eq. (4)].
	Adjusted int `json:"adjusted"`
	// Running and Waiting count the jobs with and without containers.
	Running int `json:"running"`
	Waiting int `json:"waiting"`
}

// Outcome is what became of one job.
type Outcome struct {
	ID      string        `json:"id"`
	Arrival time.Duration `json:"arrival_ns"`
	// Refused, Started and Completed say how far it got; Start and Completion when.
	Refused    bool          `json:"refused,omitempty"`
	Started    bool          `json:"started,omitempty"`
	Completed  bool          `json:"completed,omitempty"`
	Start      time.Duration `json:"start_ns"`
	Completion time.Duration `json:"completion_ns"`
	// Adjusted is how often it was killed and resumed; Paused how long it held containers without
	// progress because of it.
	Adjusted int           `json:"adjusted"`
	Paused   time.Duration `json:"paused_ns"`
	// Worth is the utility of a job with Training that has completed.
	Worth float64 `json:"worth"`
	// Spans are what it held, ascending in time; none while it waited.
	Spans []Span `json:"spans,omitempty"`
}

// Span is a job that goes on without a change, holding containers. Between two spans it waits.
type Span struct {
	From  time.Duration `json:"from_ns"`
	Until time.Duration `json:"until_ns"`
	// Places are its containers and ParameterServers what serves them, ascending by server.
	Places           []apportion.Placement `json:"places"`
	ParameterServers []apportion.Placement `json:"parameter_servers,omitempty"`
	// Rate is its speed in millionths, on a Shared worker its share; 0 while it is resumed.
	Rate int64 `json:"rate"`
	// Limit is its soft limit on a Shared worker.
	Limit int64 `json:"limit,omitempty"`
	// Why is the policy's reason for Places.
	Why string `json:"why,omitempty"`
}

// Wait returns how long a started job waited for its first containers. Waiting later on, after a policy
// took all of them away, is part of Running.
func (o *Outcome) Wait() time.Duration { return o.Start - o.Arrival }

// Running returns the time from the first containers to the completion of a job.
func (o *Outcome) Running() time.Duration { return o.Completion - o.Start }

// Response returns the time from submission to completion of a job.
func (o *Outcome) Response() time.Duration { return o.Completion - o.Arrival }

// Moves returns the spans with which the job began to hold other containers than just before.
func (o *Outcome) Moves() []Span {
	var moves []Span
	// A span that begins where the one before ended is a change; after a wait it is a new start.
	for i := 1; i < len(o.Spans); i++ {
		before, span := &o.Spans[i-1], &o.Spans[i]
		if before.Until == span.From && !slices.Equal(before.Places, span.Places) {
			moves = append(moves, *span)
		}
	}
	return moves
}

// Mean returns the average over time of value in [from, to): each sample counts as long as it
// lasts, the time before the first sample counts as zero, and the last sample lasts for ever. 0
// for an empty interval.
func (r *Result) Mean(from, to time.Duration, value func(*Sample) float64) float64 {
	if to <= from {
		return 0
	}
	var sum float64
	for i := range r.Samples {
		begin, end := max(from, r.Samples[i].At), to
		if i+1 < len(r.Samples) {
			end = min(to, r.Samples[i+1].At)
		}
		if end > begin {
			sum += float64(value(&r.Samples[i]) * (end - begin).Seconds())
		}
	}
	return sum / (to - from).Seconds()
}

// Max returns the largest value of the samples that begin in [from, to), or 0.
func (r *Result) Max(from, to time.Duration, value func(*Sample) float64) float64 {
	var largest float64
	for i := range r.Samples {
		if at := r.Samples[i].At; at >= from && at < to {
			largest = max(largest, value(&r.Samples[i]))
		}
	}
	return largest
}

// Adjusted returns how many jobs were killed and resumed before the given instant, a job counting
// once for each time.
func (r *Result) Adjusted(before time.Duration) int {
	sum := 0
	for i := range r.Samples {
		if r.Samples[i].At < before {
			sum += r.Samples[i].Adjusted
		}
	}
	return sum
}

// Makespan returns the time from 0 to the last completion; 0 if nothing completed.
func (r *Result) Makespan() time.Duration {
	var last time.Duration
	for i := range r.Jobs {
		last = max(last, r.Jobs[i].Completion)
	}
	return last
}

// Worth returns what all jobs are worth together, added up in the order of the scenario. 0 for jobs
// without Training.
func (r *Result) Worth() float64 {
	sum := 0.0
	for i := range r.Jobs {
		sum += r.Jobs[i].Worth
	}
	return sum
}

// MeanResponse returns the mean time from submission to completion of the jobs that completed, cut
// to nanoseconds; 0 without such jobs.
func (r *Result) MeanResponse() time.Duration {
	var sum, n time.Duration
	for i := range r.Jobs {
		if r.Jobs[i].Completed {
			sum += r.Jobs[i].Response()
			n++
		}
	}
	return sum / max(1, n)
}

// noticeable is the least reduction that counts as a gain: times are rounded up to nanoseconds, so
// the last job of a worker that is never idle ends a few of them sooner or later for no reason.
const noticeable = 0.001

// Gains returns the reduction of the response of each job as a share of what it was in another result
// of the same scenario, positive is sooner, 0 where it did not complete in both; and how many of them
// are 0.1 % or more.
func (r *Result) Gains(base *Result) (sooner int, reductions []float64) {
	reductions = make([]float64, len(r.Jobs))
	for i := range r.Jobs {
		o, was := &r.Jobs[i], &base.Jobs[i]
		if o.Completed && was.Completed {
			reductions[i] = float64(was.Response()-o.Response()) / float64(was.Response())
		}
		if reductions[i] >= noticeable {
			sooner++
		}
	}
	return sooner, reductions
}
