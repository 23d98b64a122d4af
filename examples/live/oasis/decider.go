// This file implements OASiS on real processes, [OASiS] Algorithm 1: at the beginning of a slot jobs are
// offered to the scheduler, and every admitted job gets the workers and parameter servers that its
// schedule has in that slot.

package oasis

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/primaldual"
)

// Decider is OASiS as a [master.Decider].
// The scheduler's state is in the book as well, after each slot.
type Decider struct {
	config    Config
	book      *Book
	scheduler *primaldual.Scheduler
}

// New goes on from the book if there is one.
// A book of another cluster is an error of the scheduler's.
func New(config Config) (*Decider, error) {
	book, err := OpenBook(config.Book)
	if err != nil {
		return nil, err
	}
	d := &Decider{config: config, book: book}
	if len(book.Scheduler) > 0 {
		d.scheduler, err = primaldual.RestoreScheduler(config.Cluster, &config.Bounds, nil, book.Scheduler)
	} else {
		d.scheduler, err = primaldual.NewScheduler(config.Cluster, &config.Bounds, nil)
	}
	return d, err
}

// Decide implements [master.Decider].
// Within a slot it repeats what was decided, for whoever has not got it yet.
func (d *Decider) Decide(_ context.Context, s *master.State) (*master.Verdict, error) {
	slot, next := d.book.begin(d.config.now(), d.config.Slot, len(s.Jobs))
	if slot > d.book.Slot {
		if err := d.plan(slot, s); err != nil {
			return nil, err
		}
	}
	return d.book.verdict(s, next, d.explain()), nil
}

// plan decides a slot: what has ended gives back what it had reserved, what has come is offered.
// Jobs are offered in the order of submission.
func (d *Decider) plan(slot int, s *master.State) error {
	if _, err := d.scheduler.Advance(slot); err != nil {
		return err
	}
	if err := d.retire(slot, s); err != nil {
		return err
	}
	for i := range s.Jobs {
		if err := d.schedule(slot, &s.Jobs[i]); err != nil {
			return err
		}
	}
	var err error
	if d.book.Scheduler, err = d.scheduler.Snapshot(); err != nil {
		return err
	}
	d.book.Slot = slot
	return d.book.write() // before anybody acts on it
}

// retire tells the scheduler of jobs that have ended before their schedules.
// Their room is free from this slot on.
func (d *Decider) retire(slot int, s *master.State) error {
	for id := range d.book.Jobs {
		if slices.ContainsFunc(s.Jobs, func(j master.JobState) bool { return j.Application.ID == id }) {
			continue
		}
		if _, reserved := d.scheduler.Schedule(id); reserved {
			if _, err := d.scheduler.Complete(id, slot); err != nil {
				return err
			}
		}
	}
	return nil
}

// late is what a job counts as that was admitted and is not done by the end of its schedule, in multiples
// of its worth: more than it can cost, so that it gets the next slots that are free.
const late = 100

// schedule sets what a job has in a slot. One without a schedule is offered: a new one, or one that was
// slower than it said.
// Progress counts from the newest checkpoint, or from what the job says where that is more.
func (d *Decider) schedule(slot int, job *master.JobState) error {
	id := job.Application.ID
	entry := d.book.Jobs[id]
	if entry == nil {
		entry = &Entry{Arrival: slot}
		d.book.Jobs[id] = entry
	}
	if entry.Refused != "" {
		return nil
	}
	plan, reserved := d.scheduler.Schedule(id)
	if !reserved {
		terms, err := read(id, job.Policy)
		if err != nil {
			return err
		}
		offer := terms.Job(id, job.Application.Demand, slot, max(job.Progress.Step, job.Job.Newest().Step))
		if entry.Offers > 0 {
			offer.Utility = primaldual.Sigmoid{Gamma1: late * terms.Worth.Gamma1, Gamma2: 1} // the sooner, the better
		}
		decision, err := d.scheduler.Offer(offer)
		if err != nil {
			return err
		}
		if !decision.Admitted && entry.Offers == 0 {
			entry.Refused = fmt.Sprintf("%v: it is worth %.3g, and that takes %.3g at least", decision.Verdict, decision.Utility, decision.Cost)
		}
		entry.Offers++
		plan = decision.Schedule
	}
	entry.Containers = containers(d.config.Cluster, plan, slot)
	return nil
}

// containers returns the servers of a schedule's containers in a slot, one entry a container, ascending.
// A job without a plan for the slot has none, and is suspended.
func containers(cluster *primaldual.Cluster, schedule primaldual.Schedule, slot int) []string {
	var all []string
	for i := range schedule {
		if schedule[i].Slot == slot {
			all = append(on(cluster.WorkerServers, schedule[i].Workers), on(cluster.PSServers, schedule[i].PS)...)
		}
	}
	slices.Sort(all)
	return all
}

// on names the servers of placements.
// The order is that of the placements.
func on(servers []apportion.Server, placements []apportion.Placement) []string {
	var all []string
	for _, p := range placements {
		all = append(all, slices.Repeat([]string{servers[p.Server].ID}, int(p.Count))...)
	}
	return all
}

func (d *Decider) explain() string {
	var text strings.Builder
	fmt.Fprintf(&text, "slot %d\n", d.book.Slot)
	for _, id := range sortedJobs(d.book) {
		entry := d.book.Jobs[id]
		plan, reserved := d.scheduler.Schedule(id)
		switch {
		case entry.Refused != "":
			fmt.Fprintf(&text, "%s: refused, %s\n", id, entry.Refused)
		case reserved:
			fmt.Fprintf(&text, "%s:", id)
			for i := range plan {
				fmt.Fprintf(&text, " slot %d: %d workers", plan[i].Slot, plan[i].Total())
			}
			text.WriteByte('\n')
		}
	}
	return text.String()
}
