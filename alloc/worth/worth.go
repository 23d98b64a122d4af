// This file makes worths of speeds: Job, Worths and Of.

package worth

import (
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

// defaultFloor is the speed of a job without containers, in parts of its fair one, where Job.Floor is 0.
const defaultFloor = 0.01

// Job is what the worths of one job are made of.
type Job struct {
	// Speeds are how fast it runs, in any unit, with each number of containers above 0 that it may have, ascending; all
	// positive and finite.
	Speeds []float64
	// Fair is how fast it would run with its fair number of containers, in the same unit; positive and finite.
	Fair float64
	// Weight is how much it counts; positive and finite. 0 means 1.
	Weight float64
	// Floor is the speed, in parts of Fair, that having no container is valued as, in (0, 1): a logarithm has no other
	// worth for it. 0 means 0.01.
	Floor float64
	// Held is how fast it runs with what it has now; 0: it does not run.
	Held float64
	// Restart is what is left of its speeds if it is stopped and placed anew, in (0, 1], see Restart. 0 means 1: a
	// restart costs nothing.
	Restart float64
}

// Worths are what alloc.Application takes: Worth, IdleWorth, and StayWorth of one that runs.
type Worths struct {
	Worth []float64 `json:"worth"`
	Idle  float64   `json:"idle_worth"`
	Stay  *float64  `json:"stay_worth,omitempty"`
}

// Of returns the worths of a job by a utility:
//
//	W(n) = w u(r speed(n)/fair),  W(0) = w u(floor),  K = w u(held/fair)
//
// The error is apportion.Faults: ErrEmpty without speeds, ErrNotFinite and ErrRange for numbers that are none of those
// that the fields say. O(speeds).
func Of(job *Job, u Utility) (*Worths, error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	weight, floor, restart := orDefault(job.Weight, 1), orDefault(job.Floor, defaultFloor), orDefault(job.Restart, 1)
	w := &Worths{Worth: make([]float64, len(job.Speeds)), Idle: weight * u(floor)}
	for n, speed := range job.Speeds {
		part := speed / job.Fair
		if job.Held > 0 {
			// One that does not run starts in any case, and has nothing to lose.
			part *= restart
		}
		w.Worth[n] = weight * u(part)
	}
	if job.Held > 0 {
		stay := weight * u(job.Held/job.Fair)
		w.Stay = &stay
	}
	return w, nil
}

// orDefault returns x, or what 0 means.
func orDefault(x, zero float64) float64 {
	if x == 0 {
		return zero
	}
	return x
}

func (j *Job) check() error {
	var faults apportion.Faults
	if len(j.Speeds) == 0 {
		faults.Add(apportion.Item{}, "Speeds", apportion.ErrEmpty, "")
	}
	for n, speed := range j.Speeds {
		within(&faults, "Speeds["+strconv.Itoa(n)+"]", speed, math.Inf(1), false)
	}
	within(&faults, "Fair", j.Fair, math.Inf(1), false)
	within(&faults, "Weight", j.Weight, math.Inf(1), true)
	within(&faults, "Floor", j.Floor, 1, true)
	within(&faults, "Held", j.Held, math.Inf(1), true)
	within(&faults, "Restart", j.Restart, 1, true)
	return faults.Err()
}

// within adds a number that is not in (0, most], or 0 where that is legal.
func within(faults *apportion.Faults, field string, x, most float64, zero bool) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		faults.Add(apportion.Item{}, field, apportion.ErrNotFinite, strconv.FormatFloat(x, 'g', -1, 64))
	case x < 0 || x > most || x == 0 && !zero:
		faults.Add(apportion.Item{}, field, apportion.ErrRange, strconv.FormatFloat(x, 'g', -1, 64))
	}
}

// FairSpeed returns the speed with a fair number of containers, which need not be whole: on the line between the numbers
// next to it, from no speed with none, and beyond the largest number that of the largest. counts ascend from 1 or more
// and have one speed each; it returns 0 without counts. O(counts).
func FairSpeed(counts []int64, speeds []float64, fair float64) float64 {
	before, below := 0.0, 0.0
	for c, n := range counts {
		if at := float64(n); fair <= at {
			return below + (speeds[c]-below)*(fair-before)/(at-before)
		}
		before, below = float64(n), speeds[c]
	}
	return below
}
