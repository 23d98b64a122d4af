// This file implements Scheduler: online admission, [OASiS] Algorithm 1, as a state machine.
// It keeps two things that must agree: the jobs with their schedules, and the ledger as the sum of
// these. Every change goes through the ledger's move or Commit, and recount finds where they do not.

package primaldual

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/invariant"
)

// Scheduler decides at its arrival whether a job is admitted, and on which schedule, and keeps what
// is reserved. It covers Cluster.Slots slots from the current one, First. Where time is never
// advanced it is the paper's algorithm over a fixed span; a service advances it slot by slot.
//
// Every method either does all that it says, or returns an error and changes nothing. Equal calls in
// equal order give equal answers. A Scheduler belongs to one goroutine.
type Scheduler struct {
	ledger  *Ledger
	planner planner
	jobs    map[string]*running
	arrival int    // of the job offered last
	next    uint64 // number of the next job admitted
}

// running is an admitted job.
// number and not ID decides every tie: IDs are the caller's, and a name must not change a decision.
type running struct {
	number   uint64 // in order of admission
	job      Job
	schedule Schedule
	utility  float64
}

// SchedulerOptions choose how a scheduler computes. nil and the zero value are the defaults.
type SchedulerOptions struct {
	// Method finds the best schedule; BoundsFirst is the default.
	Method Method
	// MaxCells is the most cells of any one table; 0 means 2^27, a negative
	// limit is ErrNegative.
	MaxCells int64
}

// NewScheduler returns a scheduler of an empty cluster in slot 1. Its errors are those of NewLedger and of the options,
// and ErrUnknown for a method that is none.
func NewScheduler(cluster *Cluster, bounds *Bounds, options *SchedulerOptions) (*Scheduler, error) {
	options = cmp.Or(options, &SchedulerOptions{})
	if options.Method > ChunkDP {
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "options"}, Field: "Method", Err: apportion.ErrUnknown, Detail: options.Method.String()}
	}
	if bounds == nil {
		return nil, &apportion.FieldError{Field: "bounds", Err: apportion.ErrMissing}
	}
	limit, err := cellLimit(options.MaxCells)
	if err != nil {
		return nil, err
	}
	ledger, err := newLedger(cluster, bounds, limit)
	if err != nil {
		return nil, err
	}
	s := &Scheduler{ledger: ledger, jobs: make(map[string]*running), arrival: 1}
	s.planner.method, s.planner.search.Limit = options.Method, limit
	return s, nil
}

// First returns the current slot, the first of the horizon.
func (s *Scheduler) First() int { return s.ledger.First() }

// Last returns the last slot of the horizon.
func (s *Scheduler) Last() int { return s.ledger.Last() }

// Ledger returns a copy of what is reserved, and of the prices. O(cells in use).
func (s *Scheduler) Ledger() *Ledger {
	l := &Ledger{market: s.ledger.market}
	l.slots = slices.Clone(l.slots)
	for i := range l.slots {
		slot := &l.slots[i]
		slot.price, slot.used = slices.Clone(slot.price), slices.Clone(slot.used) // outages are never written
	}
	return l
}

// Schedule returns a copy of the schedule of an admitted job, past slots included, and whether there
// is such a job.
func (s *Scheduler) Schedule(id string) (Schedule, bool) {
	r, ok := s.jobs[id]
	if !ok {
		return nil, false
	}
	return r.schedule.clone(), true
}

// Offer decides about one job and reserves its schedule if it is admitted. Jobs come in order of
// arrival; a refused job is forgotten and may be offered again with a later arrival.
//
// Errors: [apportion.Faults] for a bad job; an [*apportion.FieldError] for a job that runs already
// (ErrDuplicate), an arrival before the last one, before First or after Last (ErrRange), a utility
// that is not finite, negative or increasing at a possible completion, and ErrTooLarge.
//
// Of schedules with the greatest payoff it takes one with the earliest completion; in each slot it
// takes the cheapest servers, those with the lowest index where costs are equal. Payoffs closer than
// 1e-10 of the job's best utility count as equal, and as 0 when so close to it.
//
// With S slots, R kinds, N = N_i, and tables of used slots only: O(S ((H+K) R + N log N)) and the
// search, which is rarely more than the tables.
//
// Source: [OASiS] Algorithm 1.
func (s *Scheduler) Offer(job Job) (Decision, error) {
	decision, err := s.quote(&job)
	if err != nil {
		return Decision{}, err
	}
	// quote has found every fault: from here on nothing fails, and Offer changes all or nothing.
	s.arrival = job.Arrival
	if decision.Admitted {
		s.admit(&job, decision)
	}
	s.check()
	return decision, nil
}

// Quote returns the decision that Offer would make, and reserves nothing.
func (s *Scheduler) Quote(job Job) (Decision, error) {
	return s.quote(&job)
}

func (s *Scheduler) quote(job *Job) (decision Decision, err error) {
	if err := s.checkOffer(job); err != nil {
		return Decision{}, err
	}
	defer func() { s.planner.request.job = nil }() // nothing of the caller's is kept
	work, err := s.planner.whole(job)
	if err == nil {
		decision, err = s.planner.decide(&s.ledger.market, job, work)
	}
	if err == nil && !decision.Admitted {
		decision.Reason = s.planner.explain(&s.ledger.market, &decision)
	}
	return decision, err
}

// checkOffer refuses bad jobs, jobs that run already, and arrivals out of order.
func (s *Scheduler) checkOffer(job *Job) error {
	if err := job.Validate(s.ledger.cluster.Kinds); err != nil {
		return err
	}
	if s.jobs[job.ID] != nil {
		return &apportion.FieldError{Item: job.item(), Field: "ID", Err: apportion.ErrDuplicate, Detail: "it is running"}
	}
	if from := max(s.arrival, s.First()); job.Arrival < from || job.Arrival > s.Last() {
		detail := fmt.Sprintf("%d is not in [%d, %d]", job.Arrival, from, s.Last())
		return &apportion.FieldError{Item: job.item(), Field: "Arrival", Err: apportion.ErrRange, Detail: detail}
	}
	return nil
}

func (s *Scheduler) admit(job *Job, d Decision) {
	// The caller may write into his job later; the work and the utility that are promised must not
	// change with it.
	own := job.clone()
	// A fault here is a bug of ours: the search has seen the same room a moment ago, and nothing
	// has moved since but by its plan.
	if err := s.ledger.Commit(&own, d.Schedule); err != nil {
		panic(fmt.Sprintf("primaldual: the best schedule does not fit: %v", err))
	}
	// From here on prices of the slots taken are higher, by lines 10 and 12 of Algorithm 1, also for jobs
	// that come in the same slot.
	s.jobs[job.ID] = &running{number: s.next, job: own, schedule: d.Schedule.clone(), utility: d.Utility}
	s.next++
}

// Finish is the end of a job.
type Finish struct {
	ID string `json:"id"`
	// Slot is the last slot with a worker, Utility is what the job earned by ending there: at least
	// what its decision said, as it ends no later.
	Slot    int     `json:"slot"`
	Utility float64 `json:"utility"`
}

// Complete says that a job has ended in slot, sooner than planned, and gives back all that it had
// reserved from the current slot on. The slot lies between the job's arrival and its planned
// completion and is not after First; else ErrRange. An unknown job is ErrUnknown: it may have ended in
// Advance.
func (s *Scheduler) Complete(id string, slot int) (Finish, error) {
	r, err := s.running(id)
	if err != nil {
		return Finish{}, err
	}
	// A job cannot have ended in a slot that has not begun, nor later than planned: its work is
	// done by then.
	if last := min(r.schedule.completion(), s.First()); slot < r.job.Arrival || slot > last {
		detail := fmt.Sprintf("%d is not in [%d, %d]", slot, r.job.Arrival, last)
		return Finish{}, &apportion.FieldError{Item: r.job.item(), Field: "slot", Err: apportion.ErrRange, Detail: detail}
	}
	utility := r.job.earned(slot-r.job.Arrival, r.utility)
	s.drop(r)
	return Finish{ID: id, Slot: slot, Utility: utility}, nil
}

// Cancel ends a job without utility and gives back all that it had reserved from the current slot on.
// An unknown job is ErrUnknown.
func (s *Scheduler) Cancel(id string) error {
	r, err := s.running(id)
	if err != nil {
		return err
	}
	s.drop(r)
	return nil
}

func (s *Scheduler) running(id string) (*running, error) {
	r := s.jobs[id]
	if r == nil {
		return nil, &apportion.FieldError{Item: check.Item("job", id, 0), Field: "ID", Err: apportion.ErrUnknown}
	}
	return r, nil
}

// drop forgets a job and gives back what it has from the current slot on.
func (s *Scheduler) drop(r *running) {
	if err := s.ledger.Release(&r.job, r.schedule, s.First()); err != nil {
		panic(fmt.Sprintf("primaldual: the ledger does not hold a job's schedule: %v", err))
	}
	delete(s.jobs, r.job.ID)
	s.check()
}

// Advance makes slot the current one and appends as many slots to the horizon as passed. It returns
// the jobs whose schedule has ended, in order of admission. Going back is ErrRange.
func (s *Scheduler) Advance(slot int) ([]Finish, error) {
	if err := s.ledger.Advance(slot); err != nil {
		return nil, err
	}
	var ended []Finish
	for _, r := range s.byNumber() {
		// The ledger has dropped these slots with their usage, so that nothing is to be given back.
		if last := r.schedule.completion(); last < slot {
			ended = append(ended, Finish{ID: r.job.ID, Slot: last, Utility: r.utility})
			delete(s.jobs, r.job.ID)
		}
	}
	s.check()
	return ended, nil
}

// check compares the ledger with a recount, in builds that check invariants.
func (s *Scheduler) check() {
	// A recount takes as long as admitting all jobs again, so that ordinary builds leave it out.
	if invariant.Enabled {
		err := s.recount()
		invariant.Check(err == nil, "%v", err)
	}
}
