// This file lets OASiS schedule, [OASiS] Algorithm 1.

package policies

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
)

// OASiS offers each job at its arrival to a primaldual.Scheduler and runs it as scheduled. Every job
// must have Training, and the scenario a horizon.
type OASiS struct {
	// Label is its name; empty: "OASiS".
	Label string
	// Bounds are those of its prices; nil: those of all jobs of the scenario, which nobody knows who
	// does not know the future.
	Bounds *primaldual.Bounds

	// schedules are by job the plans of this slot and of later ones.
	scheduler *primaldual.Scheduler
	schedules map[string]primaldual.Schedule
}

// Name returns the label.
func (o *OASiS) Name() string { return cmp.Or(o.Label, "OASiS") }

// Decide offers the new jobs and orders what is scheduled for this slot.
func (o *OASiS) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	if o.scheduler == nil {
		if err := o.start(state.Scenario); err != nil {
			return orders, err
		}
	}
	// Slots count from 1, [OASiS] §3.1, and time 0 begins the first one.
	slot := int(state.Now/state.Scenario.Slot) + 1
	for i := range state.Jobs {
		job := &state.Jobs[i]
		if job.New {
			decision, err := o.scheduler.Offer(*job.Training)
			if err != nil {
				return orders, err
			}
			if !decision.Admitted {
				orders.Refused = append(orders.Refused, job.ID)
				continue
			}
			o.schedules[job.ID] = decision.Schedule
		}
		// A plan may leave slots out and may change from slot to slot, so every slot is a decision as
		// long as there is a job.
		orders.Places = append(orders.Places, o.order(job.ID, slot))
		orders.Next = state.Now + state.Scenario.Slot
	}
	return orders, nil
}

// start makes the scheduler, at the first decision.
func (o *OASiS) start(s *sim.Scenario) error {
	var jobs []primaldual.Job
	for i := range s.Jobs {
		if s.Jobs[i].Training == nil {
			return &apportion.FieldError{Item: check.Item("job", s.Jobs[i].ID, i), Field: "Training", Err: apportion.ErrEmpty}
		}
		// All jobs are looked at, for their bounds; the scheduler itself sees each at its arrival.
		jobs = append(jobs, *s.Jobs[i].Training)
	}
	cluster, bounds := s.Cluster(), o.Bounds
	// The true U and L, (23)-(26): the assumption under which Theorem 4 holds.
	if bounds == nil {
		own, err := primaldual.BoundsOf(cluster, jobs, nil)
		if err != nil {
			return fmt.Errorf("bounds: %w", err)
		}
		bounds = &own
	}
	scheduler, err := primaldual.NewScheduler(cluster, bounds, nil)
	if err != nil {
		return fmt.Errorf("making the scheduler: %w", err)
	}
	o.scheduler, o.schedules = scheduler, make(map[string]primaldual.Schedule)
	return nil
}

// order is what a job runs in a slot, the plans of the slots before being forgotten.
func (o *OASiS) order(id string, slot int) sim.Place {
	schedule := o.schedules[id]
	for len(schedule) > 0 && schedule[0].Slot < slot {
		schedule = schedule[1:]
	}
	o.schedules[id] = schedule
	// Nothing in this slot: the job gives its containers up, and keeps its place in later ones.
	if len(schedule) == 0 || schedule[0].Slot > slot {
		return sim.Place{Job: id}
	}
	return sim.Place{Job: id, On: schedule[0].Workers, PS: schedule[0].PS}
}
