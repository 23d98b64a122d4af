// This file lets package deadline schedule: it plans by totals, and the containers are placed one after the other, [Jain15].

package policies

import (
	"cmp"
	"context"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual/deadline"
)

// Deadline plans each slot by package deadline, out of the total capacity of both sides, and places the workers with their
// parameter servers; workers that do not fit on any server are left out, which a promise does not know of. Every job
// must have Training, whose utility is the value by its end, and a demand, and the scenario a horizon. A job that can no longer earn anything
// holds nothing until the end of the run.
type Deadline struct {
	// Label is its name; empty: "Deadline".
	Label string
	// Options are those of the scheduler; the zero value makes no promises.
	Options deadline.Options
	// Unplaced counts the worker-slots that were planned and found no server, Planned all that were planned.
	Unplaced, Planned int64
	// Broken counts the promises that were taken back.
	Broken int

	scheduler *deadline.Scheduler
	desk      desk
}

// Name returns the label.
func (d *Deadline) Name() string { return cmp.Or(d.Label, "Deadline") }

// Decide ends the slot before, offers the new jobs and places what the scheduler gives. O(jobs x (slots + servers)).
func (d *Deadline) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	orders.Refused = d.desk.open(state)
	problem := state.Problem()
	slot := int(state.Now/state.Scenario.Slot) + 1
	if d.scheduler == nil {
		total, err := check.Total(problem.Servers, len(problem.Kinds))
		if err != nil {
			return orders, err
		}
		if d.scheduler, err = deadline.New(problem.Kinds, total, slot, &d.Options); err != nil {
			return orders, err
		}
	}
	if err := d.end(state, slot); err != nil {
		return orders, err
	}
	for i := range state.Jobs {
		job := &state.Jobs[i]
		if !job.New || slices.Contains(orders.Refused, job.ID) {
			continue
		}
		if admitted, err := d.offer(state.Scenario, job, problem.Applications[i].Demand); err != nil {
			return orders, err
		} else if !admitted {
			orders.Refused = append(orders.Refused, job.ID)
		}
	}
	orders.Places = d.place(state, orders.Refused)
	if len(orders.Places) > 0 {
		orders.Next = state.Now + state.Scenario.Slot
	}
	return orders, nil
}

// end tells the scheduler what was really done until a slot.
func (d *Deadline) end(state *sim.State, slot int) error {
	left := make(map[string]int64)
	// Jobs that have ended had at least the workers that their work asked for, and the scheduler knows it.
	for i := range state.Jobs {
		if job := &state.Jobs[i]; d.scheduler.Has(job.ID) {
			left[job.ID] = slotsLeft(state.Scenario.Slot, job)
		}
	}
	// Where slots have passed without a decision, nothing was there that could run.
	for d.scheduler.Slot() < slot {
		outcome, err := d.scheduler.Advance(left)
		if err != nil {
			return err
		}
		d.Broken += len(outcome.Broken)
		left = nil
	}
	return nil
}

// offer offers a new job with what one worker and its part of a parameter server take.
func (d *Deadline) offer(s *sim.Scenario, job *sim.JobState, worker apportion.Resources) (admitted bool, err error) {
	training := job.Training
	if training == nil {
		return false, &apportion.FieldError{Item: check.Item("job", job.ID, job.Index), Field: "Training", Err: apportion.ErrEmpty}
	}
	steps := deadline.Deadlines(training.Utility.Value, training.Arrival, int(s.Horizon/s.Slot))
	if len(steps) == 0 {
		return false, nil
	}
	decision, err := d.scheduler.Offer(deadline.Job{ID: job.ID, Work: slotsLeft(s.Slot, job), Width: job.Max, Worker: worker, Deadlines: steps})
	return decision.Admitted, err
}

// place places what the scheduler gives in this slot, in the order of the offers; what does not fit is left out, worker by worker.
func (d *Deadline) place(state *sim.State, refused []string) (places []sim.Place) {
	given := make(map[string]int64)
	for _, share := range d.scheduler.Run() {
		given[share.ID] = share.Workers
	}
	for i := range state.Jobs {
		d.desk.release(state.Jobs[i].ID)
	}
	for i := range state.Jobs {
		job := &state.Jobs[i]
		if slices.Contains(refused, job.ID) {
			continue
		}
		n := given[job.ID]
		d.Planned += n
		for n > 0 && !d.desk.grow(job.Job, 0, n) {
			d.Unplaced++
			n--
		}
		places = append(places, d.desk.order(job.ID))
	}
	return places
}
