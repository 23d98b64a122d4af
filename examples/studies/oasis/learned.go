// This file lets a scheduler with learnt prices schedule. With prices off it is earliest deadline first with
// admission: a job is admitted if it and all that were admitted before end in time in the order of their deadlines.

package main

import (
	"context"

	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
)

// learned offers each job at its arrival to a scheduler that knows nothing of the jobs to come. A value serves one run.
type learned struct {
	label    string
	learning primaldual.Learning
	// rigid: a job never has more workers than a static scheduler gives it.
	rigid bool

	scheduler *primaldual.Scheduler
	schedules map[string]primaldual.Schedule
}

// Name returns the label.
func (l *learned) Name() string { return l.label }

// Decide offers the new jobs and orders what is scheduled for this slot.
func (l *learned) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	if l.scheduler == nil {
		l.schedules = make(map[string]primaldual.Schedule)
		l.scheduler, err = primaldual.NewScheduler(state.Scenario.Cluster(), nil, &primaldual.SchedulerOptions{Learn: &l.learning})
		if err != nil {
			return orders, err
		}
	}
	slot := int(state.Now/state.Scenario.Slot) + 1
	for i := range state.Jobs {
		if job := &state.Jobs[i]; job.New {
			admitted, err := l.offer(job)
			if err != nil {
				return orders, err
			}
			if !admitted {
				orders.Refused = append(orders.Refused, job.ID)
			}
		}
	}
	for i := range state.Jobs {
		if _, ok := l.schedules[state.Jobs[i].ID]; ok {
			orders.Places = append(orders.Places, l.order(state.Jobs[i].ID, slot))
			orders.Next = state.Now + state.Scenario.Slot
		}
	}
	return orders, nil
}

// offer offers a job and notes its schedule, and those of the jobs that move for it.
func (l *learned) offer(state *sim.JobState) (admitted bool, err error) {
	job := *state.Training
	if l.rigid {
		job = narrowed(job, state.Fixed)
	}
	decision, err := l.scheduler.Offer(job)
	if err != nil || !decision.Admitted {
		return false, err
	}
	l.schedules[job.ID] = decision.Schedule
	for _, r := range decision.Revised {
		l.schedules[r.ID] = r.Schedule
	}
	for _, gone := range decision.Displaced {
		l.schedules[gone.ID] = gone.Decision.Schedule // none where it found no other place
	}
	return true, nil
}

// narrowed returns a job with the same work of which at most so many workers run at a time.
func narrowed(job primaldual.Job, workers int64) primaldual.Job {
	work := job.WorkerSlots()
	job.Chunks = min(job.Chunks, workers)
	job.Epochs, job.Minibatches, job.CommSlots = 1, 1, 0
	job.MinibatchSlots = float64(work) / float64(job.Chunks)
	return job
}

// order is what a job runs in a slot, the plans of the slots before being forgotten.
func (l *learned) order(id string, slot int) sim.Place {
	schedule := l.schedules[id]
	for len(schedule) > 0 && schedule[0].Slot < slot {
		schedule = schedule[1:]
	}
	l.schedules[id] = schedule
	if len(schedule) == 0 || schedule[0].Slot > slot {
		return sim.Place{Job: id}
	}
	return sim.Place{Job: id, On: schedule[0].Workers, PS: schedule[0].PS}
}
