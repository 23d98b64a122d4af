// This file holds what a simulation is given: jobs and workers, [Zheng] §6.1 and §6.2.

package nodesim

import (
	"math"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// MaxWork is the most work a job may have: two hours of a whole worker, which is close to what an
// int64 of Work can count.
const MaxWork = 2 * time.Hour

// maxJobs bounds the jobs of a scenario, so that every job on a worker gets at least a millionth
// of it whatever the interference.
const maxJobs = 1000

// Job is a training job. It is one container.
type Job struct {
	// ID names the job; not empty, unique. Model is for reports only.
	ID, Model string
	// Arrival is when it is submitted; not negative.
	Arrival time.Duration
	// Work is how long it takes with a whole worker to itself; positive, at most MaxWork.
	Work time.Duration
	// Demand is the most CPU it can use, in [1, Whole].
	Demand Share
	// Request is what its user says it needs, which Default adds up; any unit, not negative.
	Request float64
	// Curve gives its evaluation function by the part of Work that is done.
	Curve *Curve
}

// Scenario is what happens whatever the policy.
type Scenario struct {
	// Workers is the number of equal workers; positive.
	Workers int
	Jobs    []Job
	// MoveCost is how long a job pauses when it is moved; not negative.
	MoveCost time.Duration
	// Interference is the loss of capacity for each job beside the first: k jobs share
	// 1/(1 + Interference (k-1)) of a worker. In [0, 1].
	Interference float64
}

// Validate returns every fault as apportion.Faults, or nil.
func (s *Scenario) Validate() error {
	var faults apportion.Faults
	outside := func(item apportion.Item, field, value string) { faults.Add(item, field, apportion.ErrRange, value) }
	if s.Workers < 1 {
		outside(apportion.Item{}, "Workers", strconv.Itoa(s.Workers))
	}
	if len(s.Jobs) > maxJobs {
		outside(apportion.Item{}, "Jobs", strconv.Itoa(len(s.Jobs)))
	}
	if s.MoveCost < 0 || s.MoveCost > MaxWork {
		outside(apportion.Item{}, "MoveCost", s.MoveCost.String())
	}
	if !(s.Interference >= 0 && s.Interference <= 1) {
		outside(apportion.Item{}, "Interference", strconv.FormatFloat(s.Interference, 'g', -1, 64))
	}
	seen := make(map[string]bool, len(s.Jobs))
	for i := range s.Jobs {
		job := &s.Jobs[i]
		item := check.Item("job", job.ID, i)
		check.ID(&faults, seen, job.ID, item)
		if job.Arrival < 0 {
			faults.Add(item, "Arrival", apportion.ErrNegative, job.Arrival.String())
		}
		if job.Work <= 0 || job.Work > MaxWork {
			outside(item, "Work", job.Work.String())
		}
		if job.Demand < 1 || job.Demand > Whole {
			outside(item, "Demand", strconv.FormatInt(int64(job.Demand), 10))
		}
		if !(job.Request >= 0 && job.Request <= math.MaxFloat32) {
			outside(item, "Request", strconv.FormatFloat(job.Request, 'g', -1, 64))
		}
		if job.Curve == nil {
			faults.Add(item, "Curve", apportion.ErrEmpty, "")
		}
	}
	return faults.Err()
}

// capacity returns what jobs can share on a worker with n of them.
func (s *Scenario) capacity(n int) Share {
	if n < 2 {
		return Whole
	}
	return Share(float64(Whole) / (1 + float64(s.Interference*float64(n-1))))
}
