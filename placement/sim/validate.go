// This file implements the checks of a scenario.

package sim

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Validate returns every fault that a simulation would stumble over as apportion.Faults, or nil.
// Faults of the embedded applications are those that alloc.Problem.Validate finds, so that a scenario
// that is valid here is a valid problem at every decision. O(jobs x servers x kinds).
func (s *Scenario) Validate() error {
	var faults apportion.Faults
	s.checkCluster(&faults)
	if len(faults) > 0 {
		return faults
	}
	// The view is made for its errors: capacities of parameter servers may overflow in it.
	v, err := newView(s)
	collect(&faults, err)
	if len(s.Jobs) > 0 && err == nil {
		everyone := make([]int, len(s.Jobs))
		for i := range everyone {
			everyone[i] = i
		}
		// All jobs at once are the largest problem that a policy can be shown.
		collect(&faults, v.problem(everyone).Validate())
	}
	for i := range s.Jobs {
		s.checkJob(&faults, i)
	}
	if len(faults) == 0 {
		s.law().faults(s, &faults)
	}
	return faults.Err()
}

// checkCluster checks all but the jobs: the servers of both sides, and times.
func (s *Scenario) checkCluster(faults *apportion.Faults) {
	check.Servers(faults, s.Kinds, s.Servers)
	if len(s.ParameterServers) > 0 {
		check.Servers(faults, s.Kinds, s.ParameterServers)
	}
	checkTime(faults, s.AdjustCost, apportion.Item{}, "AdjustCost")
	checkTime(faults, s.Slot, apportion.Item{}, "Slot")
	checkTime(faults, s.Horizon, apportion.Item{}, "Horizon")
	// A slot that the horizon cuts in two has no completion in it.
	if s.Slot > 0 && s.Horizon%s.Slot != 0 {
		faults.Add(apportion.Item{}, "Horizon", apportion.ErrRange, s.Horizon.String()+" is no multiple of a slot")
	}
	if len(*faults) > 0 {
		return
	}
	_, err := check.Total(s.Servers, len(s.Kinds))
	collect(faults, err)
}

func collect(faults *apportion.Faults, err error) {
	var several apportion.Faults
	var one *apportion.FieldError
	// Several are asked for first: errors.As would find the first of several as a single one.
	if errors.As(err, &several) {
		*faults = append(*faults, several...)
	} else if errors.As(err, &one) {
		*faults = append(*faults, one)
	}
}

// checkJob checks what is no part of the job's application.
func (s *Scenario) checkJob(faults *apportion.Faults, i int) {
	job := &s.Jobs[i]
	item := check.Item("job", job.ID, i)
	checkTime(faults, job.Arrival, item, "Arrival")
	// A job without work would complete before anybody could place it.
	if job.Work <= 0 {
		faults.Add(item, "Work", apportion.ErrRange, job.Work.String())
	}
	if job.Fixed < max(1, job.Min) || job.Fixed > job.Max {
		detail := strconv.FormatInt(job.Fixed, 10) + " is not in [" + strconv.FormatInt(max(1, job.Min), 10) + ", " + strconv.FormatInt(job.Max, 10) + "]"
		faults.Add(item, "Fixed", apportion.ErrRange, detail)
	}
	if job.Request < 0 {
		faults.Add(item, "Request", apportion.ErrNegative, strconv.FormatInt(job.Request, 10))
	}
	// In slots jobs come at the beginning of one; who comes at the horizon would never be seen.
	if s.Slot > 0 && (job.Arrival%s.Slot != 0 || s.Horizon > 0 && job.Arrival >= s.Horizon) {
		faults.Add(item, "Arrival", apportion.ErrRange, job.Arrival.String()+" does not begin a slot before the horizon")
	}
	if job.Training != nil {
		s.checkTraining(faults, job, item)
	}
	if len(job.Held) == 0 {
		return
	}
	_, n, fault := merge(job.Held, len(s.Servers))
	switch {
	case fault != "" || n < job.Min || n > job.Max:
		faults.Add(item, "Held", apportion.ErrRange, fmt.Sprintf("%d containers on %d servers %s", n, len(job.Held), fault))
	case job.Training != nil:
		faults.Add(item, "Held", apportion.ErrConflict, "a job with Training begins in the simulation")
	}
}

// checkTraining holds the job to what it trains: both say how much work there is, and when, and policies
// read one or the other.
func (s *Scenario) checkTraining(faults *apportion.Faults, job *Job, item apportion.Item) {
	if s.Slot == 0 || len(s.ParameterServers) == 0 {
		faults.Add(item, "Training", apportion.ErrRange, "there are no slots or no parameter servers")
		return
	}
	if err := job.Training.Validate(s.Kinds); err != nil {
		collect(faults, err)
		return
	}
	want, ok := slotJob(job.Training, job.Fixed, s.Slot)
	if !ok || job.ID != want.ID || job.Arrival != want.Arrival || job.Work != want.Work || job.Max != want.Max || !job.Demand.Equal(want.Demand) {
		faults.Add(item, "Training", apportion.ErrRange, "it does not agree with the job")
	}
}

// checkTime refuses times before 0.
func checkTime(faults *apportion.Faults, d time.Duration, item apportion.Item, field string) {
	if d < 0 {
		faults.Add(item, field, apportion.ErrNegative, d.String())
	}
}
