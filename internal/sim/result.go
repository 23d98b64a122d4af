// This file holds what a simulation returns: Result, Sample, Outcome and averages over time.

package sim

import "time"

// Result is one run of a policy.
type Result struct {
	// Samples has one entry for each decision, ascending in time, no two at one instant.
	Samples []Sample
	// Outcomes has one entry for each application, in the order of Scenario.Apps.
	Outcomes []Outcome
	// End is the instant of the last event, or the horizon if it came first.
	End time.Duration
}

// Sample is the cluster from one decision to the next.
type Sample struct {
	At time.Duration
	// Utilization[k] is u_k; Total is their sum, [Dorm eq. (1)].
	Utilization []float64
	Total       float64
	// FairnessLoss is [Dorm eq. (2)] over the applications that hold containers or wait, whoever
	// the policy: an application that waits loses its whole theoretical share.
	FairnessLoss float64
	// RunningLoss is the same over the applications that hold containers only, as if the others
	// had not been submitted.
	RunningLoss float64
	// Adjusted is how many running applications this decision killed and resumed, [Dorm eq. (4)].
	Adjusted int
	// Running and Waiting count the applications with and without containers.
	Running, Waiting int
}

// Outcome is what became of one application.
type Outcome struct {
	ID      string
	Arrival time.Duration
	// Started and Completed say whether it got that far; Start and Completion when.
	Started, Completed bool
	Start, Completion  time.Duration
	// Adjusted is how often it was killed and resumed; Paused how long it held containers without
	// progress because of it.
	Adjusted int
	Paused   time.Duration
}

// Queueing returns how long a started application waited for its first containers.
func (o *Outcome) Queueing() time.Duration { return o.Start - o.Arrival }

// Running returns the time from the first containers to the completion of an application.
func (o *Outcome) Running() time.Duration { return o.Completion - o.Start }

// Response returns the time from submission to completion of an application.
func (o *Outcome) Response() time.Duration { return o.Completion - o.Arrival }

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

// Adjusted returns how many applications were killed and resumed before the given instant, an
// application counting once for each time.
func (r *Result) Adjusted(before time.Duration) int {
	sum := 0
	for i := range r.Samples {
		if r.Samples[i].At < before {
			sum += r.Samples[i].Adjusted
		}
	}
	return sum
}
