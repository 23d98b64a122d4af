// This file lets a scheduler with learnt prices schedule. With prices off it is earliest deadline first with
// admission: a job is admitted if it and all that were admitted before end in time in the order of their deadlines.

package main

import (
	"context"
	"math"
	"time"

	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
)

// learned offers each job at its arrival to a scheduler that knows nothing of the jobs to come. A value serves one run.
// Its schedules are what the scheduler has promised, from the slot on that comes next; nil for a job that
// has no place any more.
type learned struct {
	label    string
	learning primaldual.Learning
	// rigid: a job never has more workers than a static scheduler gives it.
	rigid bool
	// believes says how a job is offered; nil: as it is, with linear speed.
	believes func(*sim.JobState) primaldual.Job
	// corrects: where jobs turn out slower or faster than believed, what is left of them is planned again.
	corrects bool
	// lost are by ID the jobs of which the rest was refused.
	lost map[string]bool

	scheduler *primaldual.Scheduler
	schedules map[string]primaldual.Schedule
}

// Name returns the label.
func (l *learned) Name() string { return l.label }

// Decide offers the new jobs and orders what is scheduled for this slot.
// It is called at each arrival and at the beginning of each slot in which anything is scheduled.
func (l *learned) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	if l.scheduler == nil {
		l.schedules, l.lost = make(map[string]primaldual.Schedule), make(map[string]bool)
		l.scheduler, err = primaldual.NewScheduler(state.Scenario.Cluster(), nil, &primaldual.SchedulerOptions{Learn: &l.learning})
		if err != nil {
			return orders, err
		}
	}
	// Slots count from 1.
	slot := int(state.Now/state.Scenario.Slot) + 1
	// Before anybody new is offered, so that new jobs see what is really free.
	if l.corrects {
		if err := l.correct(state, slot); err != nil {
			return orders, err
		}
	}
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
			// It asks to be called again with the next slot.
			orders.Next = state.Now + state.Scenario.Slot
		}
	}
	return orders, nil
}

// offer offers a job and notes its schedule, and those of the jobs that move for it.
// The two ways in which a job may be stated otherwise than it is exclude one another in the tables.
func (l *learned) offer(state *sim.JobState) (admitted bool, err error) {
	job := *state.Training
	if l.rigid {
		job = narrowed(job, state.Fixed)
	}
	if l.believes != nil {
		job = l.believes(state)
	}
	return l.take(job)
}

// take offers a job and notes what comes of it.
// A displaced job may have found another place, or none.
func (l *learned) take(job primaldual.Job) (admitted bool, err error) {
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

// later is a utility of a job that is offered so many slots after its arrival.
// Time goes on for the job, whoever offers it again.
type later struct {
	primaldual.Utility
	slots int
}

// Value returns what the job is worth d slots after the later arrival.
func (u later) Value(d int) float64 { return u.Utility.Value(d + u.slots) }

// correct tells the scheduler, as a slot begins, who has ended early and who has more to do than is planned for him. A job
// that finds no room for that is given up: it would end when it is worth nothing.
// Advance comes first: the scheduler then takes the slots before this one for past.
func (l *learned) correct(state *sim.State, slot int) error {
	if _, err := l.scheduler.Advance(slot); err != nil {
		return err
	}
	for _, id := range state.Ended {
		// It ended before its schedule did: what was left of it is free again.
		if _, runs := l.scheduler.Schedule(id); runs {
			if _, err := l.scheduler.Complete(id, slot-1); err != nil {
				return err
			}
		}
		delete(l.schedules, id)
	}
	for i := range state.Jobs {
		job := &state.Jobs[i]
		schedule, runs := l.scheduler.Schedule(job.ID)
		if !runs {
			if err := l.offerRest(job, slot, state.Scenario.Slot); err != nil {
				return err
			}
			continue
		}
		if missing := l.missing(job, schedule); missing > 0 {
			if err := l.extend(job.ID, missing); err != nil {
				return err
			}
		}
	}
	return nil
}

// offerRest offers what is left of a job whose schedule is over though it is not done. One that is refused then is given up: it
// gets nothing more.
// The job was promised and is behind: it is no worse off than one that comes new.
func (l *learned) offerRest(job *sim.JobState, slot int, length time.Duration) error {
	if _, admitted := l.schedules[job.ID]; !admitted || l.lost[job.ID] {
		return nil
	}
	l.schedules[job.ID] = nil
	rest := l.restOf(job, slot, length)
	l.lost[job.ID] = rest.Utility.Value(0) <= 0
	if l.lost[job.ID] {
		return nil
	}
	admitted, err := l.take(rest)
	l.lost[job.ID] = !admitted
	return err
}

// restOf returns what is left of a job as one that arrives in a slot and is worth what it was when it came.
// The rest has the shape of the whole, with as much less work as has been done.
func (l *learned) restOf(job *sim.JobState, slot int, length time.Duration) primaldual.Job {
	var rest primaldual.Job
	if l.believes != nil {
		rest = l.believes(job)
		rest.Units = int64(math.Ceil(job.Left.Seconds() / job.Work.Seconds() * float64(rest.Units)))
	} else {
		rest = narrowed(*job.Training, job.Training.Chunks)
		rest.MinibatchSlots = job.Left.Seconds() / length.Seconds() / float64(rest.Chunks)
	}
	rest.Arrival, rest.Utility = slot, later{rest.Utility, slot - job.Training.Arrival}
	return rest
}

// missing returns by how much the work that is left of a job, in the units that it was offered in, exceeds what is left of its
// schedule.
// A negative result says that the job is ahead of its plan.
func (l *learned) missing(job *sim.JobState, schedule primaldual.Schedule) int64 {
	offered := *job.Training
	if l.believes != nil {
		offered = l.believes(job)
	}
	// Work is the time at speed 1: its ratio to the units of the whole job converts.
	left := int64(math.Ceil(job.Left.Seconds() / job.Work.Seconds() * float64(offered.WorkerSlots())))
	for i := range schedule {
		// Slots that are past are done already.
		if schedule[i].Slot >= l.scheduler.First() {
			left -= does(&offered, &schedule[i])
		}
	}
	return left
}

// does returns the work that a job is believed to do in a slot of its schedule.
// A number of workers that the job has not stated does nothing, which cannot be scheduled.
func does(job *primaldual.Job, plan *primaldual.SlotPlan) int64 {
	workers := plan.Total()
	if len(job.Speeds) == 0 {
		return workers
	}
	for _, way := range job.Speeds {
		if way.Workers == workers {
			return way.Units
		}
	}
	return 0
}

// extend asks for more slots for a job, and notes who moves for it.
// One that finds no room is cancelled: what it had is more use to others.
func (l *learned) extend(id string, work int64) error {
	extension, err := l.scheduler.Extend(id, work)
	if err != nil {
		return err
	}
	if !extension.Decision.Admitted {
		l.schedules[id] = nil
		return l.scheduler.Cancel(id)
	}
	l.schedules[id] = extension.Decision.Schedule
	for _, r := range extension.Decision.Revised {
		l.schedules[r.ID] = r.Schedule
	}
	return nil
}

// narrowed returns a job with the same work of which at most so many workers run at a time.
// Chunks bound the workers that can run at a time, so that they are what is narrowed; time for
// communication is already within the work.
func narrowed(job primaldual.Job, workers int64) primaldual.Job {
	work := job.WorkerSlots()
	job.Chunks = min(job.Chunks, workers)
	job.Epochs, job.Minibatches, job.CommSlots = 1, 1, 0
	job.MinibatchSlots = float64(work) / float64(job.Chunks)
	return job
}

// order is what a job runs in a slot, the plans of the slots before being forgotten.
// An empty place is an order to run on nothing in this slot.
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
