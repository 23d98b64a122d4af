// This file holds what a simulation is given: Scenario, Job and Law.

package sim

import (
	"errors"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/primaldual"
)

// AdjustCost is what one kill-and-resume costs on Dorm's testbed: an application of three hours
// that is adjusted twice takes about 5 % longer, [Dorm §V-B5], so half of 9 minutes.
const AdjustCost = 270 * time.Second

// Scenario is a cluster and the jobs that will be submitted to it: what happens whatever the policy.
// Runs only read it.
type Scenario struct {
	// Kinds names the kinds of resources.
	Kinds apportion.Kinds
	// Servers hold containers; at least one. Positions in this list are the Server of a Placement.
	Servers []apportion.Server
	// ParameterServers hold the parameter servers of jobs with Training; empty where no job has any.
	ParameterServers []apportion.Server
	// Jobs may be in any order; those of one arrival time are submitted in the order of this list.
	Jobs []Job
	// Law says how fast jobs run on what they hold; nil is Exclusive.
	Law Law
	// AdjustCost is how long a job makes no progress after each change of its containers; 0 is for
	// nothing. Dorm's is the constant AdjustCost.
	AdjustCost time.Duration
	// Slot is the length of a slot: a job ends with the slot in which its work is done, and decisions
	// fall between slots. 0: time is continuous.
	Slot time.Duration
	// Unmeasured leaves out Result.Samples, which take most of the time where policies decide fast: the fairness loss above all.
	Unmeasured bool
	// Horizon ends the simulation; what has completed by then counts. A multiple of Slot. 0: run
	// until nothing happens any more.
	Horizon time.Duration
}

// Job is a training job that arrives, trains, and leaves.
type Job struct {
	// Application is its name and what its containers need. Min and Max bound what a policy may
	// give it at one time, beside nothing at all.
	alloc.Application
	// Arrival is when it is submitted; not negative.
	Arrival time.Duration
	// Held are the containers that it holds from its arrival on, as one that ran before the simulation began; the policy sees it
	// with them. nil: it waits. It must have room, and it has no Training.
	Held []apportion.Placement
	// Work is how long it takes at speed 1; positive.
	Work time.Duration
	// Fixed is the number of containers that a static scheduler gives it; positive, in [Min, Max].
	Fixed int64
	// Speedup is its speed by its number of containers; nil is Linear.
	Speedup Speedup
	// SpeedOn is its speed by where its containers are, in the unit of Speedup: on how many servers, and of which
	// type; nil: Speedup of their number. It must not change its argument. It has no effect on Shared workers.
	SpeedOn func(on []apportion.Placement) float64
	// Curve gives its evaluation function by the part of Work that is done; nil: it reports nothing.
	Curve *Curve
	// Request is what its user says it needs, for placement by requests; any unit, not negative.
	Request int64
	// Model is for reports only.
	Model string
	// Training is the job as OASiS knows it, with parameter servers and a utility; nil: it has none.
	// What it says must agree with the other fields, as FromSlots sets them.
	Training *primaldual.Job
}

// Law is how fast jobs run on what they hold: Exclusive or Shared. A law is a value without a state: what
// it needs to know is in the scenario and the jobs.
type Law interface {
	// faults adds what is wrong with a scenario under this law; the scenario has no other faults.
	faults(s *Scenario, faults *apportion.Faults)
	// room returns what is wrong with what jobs hold now, and the job to blame if it is one's fault.
	room(s *Scenario, jobs []*job) (blame *job, fault string)
	// limit is the limit of a job that no policy has limited; 0 under a law without limits.
	limit(s *Scenario) int64
	// setRates sets the rate of every job from now on, until anything changes.
	setRates(s *Scenario, jobs []*job, now time.Duration)
	// used returns what a job takes of the servers that hold its containers.
	used(j *job) apportion.Resources
	// loss returns the fairness loss over all jobs, and over those that hold containers; due knows
	// what both are due.
	loss(s *Scenario, jobs []*job, due *[2]fairness) (all, running float64, err error)
}

// TimeOn returns how long the job takes on n containers by its Speedup without a pause, rounded up to nanoseconds.
// Errors: ErrRange for a speed that is none, ErrOverflow for more time than there is.
func (j *Job) TimeOn(n int64) (time.Duration, error) {
	rate, err := j.rate(n)
	if err != nil {
		return 0, err
	}
	d, ok := product(Whole, j.Work).timeAt(rate)
	if !ok {
		return 0, &apportion.FieldError{Item: check.Item("job", j.ID, 0), Field: "Work", Err: apportion.ErrOverflow}
	}
	return d, nil
}

// RateOn returns the rate of the job on containers, in millionths of speed 1; 0 on none. Errors: ErrRange for a speed
// that is none. What it costs is what SpeedOn or Speedup costs.
func (j *Job) RateOn(on []apportion.Placement) (int64, error) {
	n := count(on)
	switch {
	case n == 0:
		return 0, nil
	case j.SpeedOn == nil:
		return j.rate(n)
	}
	speed := j.SpeedOn(on)
	rate, ok := rateOf(speed)
	if !ok {
		return 0, &apportion.FieldError{Item: check.Item("job", j.ID, 0), Field: "SpeedOn",
			Detail: strconv.FormatFloat(speed, 'g', -1, 64), Err: apportion.ErrRange}
	}
	return rate, nil
}

// rate returns the rate of the job on n containers by its Speedup, n at least 1.
func (j *Job) rate(n int64) (int64, error) {
	rate, err := j.Speedup.rate(n)
	if fault := (*apportion.FieldError)(nil); errors.As(err, &fault) {
		fault.Item = check.Item("job", j.ID, 0)
	}
	return rate, err
}
