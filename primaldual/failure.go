// This file implements Fail and Repair: a server goes, and what ran there is offered again.
// A promise cannot be kept on a server that is gone. What the job has done stays done, and the rest
// of it is a new offer at the prices of today, but with the utility of its first arrival: the delay
// is the job's loss, and the caller is told of it.

package primaldual

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Displacement is a job whose slots a change of the cluster has changed: servers were taken from it. Displacements come in order of
// admission.
type Displacement struct {
	ID string `json:"id"`
	// Decision is about what is left of the job from the slot of the failure on, and its Schedule is all that the job runs
	// from there on. If it is refused, the job has lost its place, gives back all slots from the current one on, and is
	// forgotten.
	Decision Decision `json:"decision"`
}

// Fail takes a server out of the cluster in slot from and all later ones, until Repair. Jobs with
// containers there in these slots lose what they have reserved from slot from on, on all servers, and
// what is left of each is offered again, in order of admission: the work of earlier slots counts as
// done, that of slot from is lost, and utility still counts from the arrival. Every job whose slots change is in the result.
//
// An unknown server is ErrUnknown, a past slot or one after the horizon ErrRange. There is no other
// error, as a failure that has happened must be recorded: a utility that breaks its rules beyond what
// Offer has checked is tolerated (see [Utility]), and a job for which the search would exceed the limit
// on memory loses its place with the verdict [TooLarge].
func (s *Scheduler) Fail(server string, from int) ([]Displacement, error) {
	// Everything that can be wrong is found before the first change: the rest of Fail has no error.
	machine, err := s.find(server)
	if err != nil {
		return nil, err
	}
	if err := s.ledger.setDown(machine, from, true); err != nil {
		return nil, err
	}
	// Jobs are planned anew in the order in which they were admitted, so that an earlier promise is the first
	// to find room.
	var displaced []*running
	for _, r := range s.byNumber() {
		if s.ledger.holds(r.schedule, machine, from) {
			displaced = append(displaced, r)
		}
	}
	s.release(displaced, from)
	out := s.replan(displaced, from)
	s.check()
	return out, nil
}

// Repair puts a failed server back in slot from and all later ones. Jobs stay where they are.
func (s *Scheduler) Repair(server string, from int) error {
	machine, err := s.find(server)
	if err != nil {
		return err
	}
	return s.ledger.setDown(machine, from, false)
}

// find returns the machine with an ID.
// It walks both lists, O(H+K): changes of servers are rare, and an index would have to follow each
// of them.
func (s *Scheduler) find(id string) (int, error) {
	for _, side := range []Side{Workers, ParameterServers} {
		for i, server := range s.ledger.cluster.servers(side) {
			if server.ID == id {
				return s.ledger.machine(side, i), nil
			}
		}
	}
	return 0, &apportion.FieldError{Item: check.Item("server", id, 0), Field: "ID", Err: apportion.ErrUnknown}
}

// release takes all slots from slot from on from jobs.
func (s *Scheduler) release(jobs []*running, from int) {
	for _, r := range jobs {
		s.ledger.move(&r.job, r.schedule, from, -1)
		r.schedule = r.schedule[:r.schedule.before(from)]
	}
}

// replan decides one by one about what is left of jobs that have no slots from slot from on, and returns how they go on.
func (s *Scheduler) replan(jobs []*running, from int) []Displacement {
	out := make([]Displacement, 0, len(jobs))
	for _, r := range jobs {
		// Each job is settled before the next is decided, which then sees the room and the prices
		// that are left.
		d, err := s.planner.decide(&s.ledger.market, &r.job, r.left(from))
		if err != nil { // only ErrTooLarge: the utility is not checked again
			d = Decision{Verdict: TooLarge, Reason: apportion.Reason{Constraint: string(TooLarge), Text: err.Error()}}
		} else if !d.Admitted {
			d.Reason = s.planner.explain(&s.ledger.market, &d)
		}
		s.settle(r, &d, from)
		out = append(out, Displacement{r.job.ID, d})
	}
	s.planner.request.job = nil
	return out
}

// settle carries out a decision about what is left of a job from slot from on.
func (s *Scheduler) settle(r *running, d *Decision, from int) {
	if d.Admitted {
		s.ledger.move(&r.job, d.Schedule, from, 1)
		// The capacity ends with the length, so that append copies: it must not write over the
		// released tail, which the caller may still want to put back.
		r.schedule = append(r.schedule[:len(r.schedule):len(r.schedule)], d.Schedule.clone()...)
		r.utility = d.Utility
		return
	}
	// Its slots before the failure would be work for nothing.
	// move skips slots before First, which are no longer in the ledger.
	s.ledger.move(&r.job, r.schedule, s.First(), -1)
	r.schedule = nil
	delete(s.jobs, r.job.ID)
}

// left returns what is left of a job that keeps its schedule before slot from only.
// A past that did more than was asked in some slot, as whole chunks may, leaves less.
func (r *running) left(from int) remainder {
	kept := r.schedule[:r.schedule.before(from)]
	left := remainder{first: max(from, r.job.Arrival), admitted: true}
	// A schedule in whole chunks may have used all worker-slots and still lack chunks.
	left.work = max(1, r.job.WorkerSlots()-kept.WorkerSlots())
	// ChunkDP counts E_i N_i chunk trainings and not worker-slots; whole adds the product up first
	// and finds an overflow.
	left.chunks = r.job.Epochs*r.job.Chunks - chunksDone(&r.job, kept)
	return left
}

// byNumber returns the jobs in order of admission.
func (s *Scheduler) byNumber() []*running { return ordered(maps.Values(s.jobs)) }

// ordered returns jobs in order of admission. O(jobs log jobs).
// Maps have no order. Numbers rise with each admission, so that all walks, and all sums of floats on them, are alike in every
// run.
func ordered(jobs iter.Seq[*running]) []*running {
	return slices.SortedFunc(jobs, func(a, b *running) int { return cmp.Compare(a.number, b.number) })
}

// holds reports whether a schedule has containers on a machine in slot from or later.
func (p *park) holds(s Schedule, machine, from int) bool {
	// What a job had on the machine before slot from has run or will run: it is no reason to
	// displace it.
	for i := s.before(from); i < len(s); i++ {
		if p.inPlan(&s[i], machine) {
			return true
		}
	}
	return false
}

// inPlan reports whether a slot of a schedule has containers of either side on a machine.
func (p *park) inPlan(plan *SlotPlan, machine int) bool {
	for _, side := range []Side{Workers, ParameterServers} {
		for _, placement := range plan.on(side) {
			if p.machine(side, placement.Server) == machine {
				return true
			}
		}
	}
	return false
}

// completion returns the last slot with a worker; 0 where there is none.
func (s Schedule) completion() int {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].Slot
}
