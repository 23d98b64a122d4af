// This file implements Scheduler: the state machine of jobs, slots and capacity.

package deadline

import (
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// mostHorizon is the most slots from now that a deadline is planned for; a later one counts as that. mostSlot is the last first slot.
const mostHorizon, mostSlot = 4096, math.MaxInt32

// Options are how a scheduler makes promises; nil and the zero value: it makes none.
type Options struct {
	Promise Strength `json:"promise,omitzero"`
	// Stay: a job that is refused a promise may stay and run without one, in what the others leave.
	Stay bool `json:"stay,omitzero"`
	// ChangeLoss is the part of a slot that a job loses in a slot in which it has another number of workers than in the one before; in
	// [0, 1). Where it is positive, jobs are planned with the loss of their start, and keep their workers where that can be.
	ChangeLoss float64 `json:"change_loss,omitzero"`
}

// held is a job that is there.
type held struct {
	Job
	// Left is the work left in worker-slots, Promise the deadline that the job was promised, Workers what the current slot gives it,
	// Before what the slot before gave it.
	Left    int64     `json:"left"`
	Promise *Deadline `json:"promise,omitempty"`
	Workers int64     `json:"workers,omitzero"`
	Before  int64     `json:"before,omitzero"`
}

// Scheduler decides slot by slot. It is made by [New] or [Restore] and is not safe for concurrent use.
type Scheduler struct {
	kinds    apportion.Kinds
	options  Options
	pool     pool
	start    int
	slot     int
	jobs     []*held // in the order of their offers
	arrivals []arrival
}

// New returns a scheduler of a cluster with a total capacity whose first slot is slot.
//
// Errors: faults of kinds, a capacity that is negative, of the wrong length or above 2^51, and a slot beyond 2^31 (ErrRange).
func New(kinds apportion.Kinds, capacity apportion.Resources, slot int, options *Options) (*Scheduler, error) {
	if err := kinds.Validate(); err != nil {
		return nil, err
	}
	if err := checkCapacity(kinds, capacity); err != nil {
		return nil, err
	}
	if slot < -mostSlot || slot > mostSlot {
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "cluster"}, Field: "slot", Err: apportion.ErrRange, Detail: fmt.Sprint(slot)}
	}
	s := &Scheduler{kinds: slices.Clone(kinds), pool: newPool(capacity.Clone()), start: slot, slot: slot}
	if options == nil {
		return s, nil
	}
	if !(options.ChangeLoss >= 0 && options.ChangeLoss < 1) {
		detail := fmt.Sprint(options.ChangeLoss, " is not in [0, 1)")
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "options"}, Field: "ChangeLoss", Err: apportion.ErrRange, Detail: detail}
	}
	if options.Promise > OnAdmission {
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "options"}, Field: "Promise", Err: apportion.ErrUnknown, Detail: options.Promise.String()}
	}
	s.options = *options
	return s, nil
}

// Decision answers an offer.
type Decision struct {
	// Admitted: the job is there and may run.
	Admitted bool `json:"admitted"`
	// Promise is the deadline that it is promised, nil where it is promised none yet.
	Promise *Deadline `json:"promise,omitempty"`
	// Reason says why the job was refused, or admitted without the promise that the options ask for.
	Reason string `json:"reason,omitempty"`
}

// The reasons of a decision.
const (
	ReasonLate  = "it cannot end before its last deadline, even alone"
	ReasonFull  = "it cannot end in time beside the promises that were made"
	ReasonPrice = "it is worth less than what is expected to come, and not small"
)

// Offer takes a job that arrives in the current slot. A refused job is forgotten, but counts in the fluid price.
//
// Errors: [apportion.Faults] for a bad job; an [*apportion.FieldError] for one that is there already (ErrDuplicate) or whose work
// cannot be added up (ErrOverflow). O(n log n + n x slots).
func (s *Scheduler) Offer(job Job) (Decision, error) {
	if err := s.checkOffer(&job); err != nil {
		return Decision{}, err
	}
	job.Worker, job.Deadlines = job.Worker.Clone(), slices.Clone(job.Deadlines)
	h := &held{Job: job, Left: job.Work}
	p := s.measure(h)
	if p.width == 0 || len(s.levels(p)) == 0 {
		return Decision{Reason: ReasonLate}, nil
	}
	s.arrivals = append(s.arrivals, arrival{Slot: s.slot, Work: p.left / p.unit, Worker: job.Worker, Value: job.Deadlines[0].Value})
	decision := Decision{Admitted: true}
	if s.options.Promise == OnAdmission {
		decision.Promise, decision.Reason = s.offered(p)
		decision.Admitted = decision.Promise != nil || s.options.Stay
		h.Promise = clone(decision.Promise)
	}
	if decision.Admitted {
		s.jobs = append(s.jobs, h)
	}
	return decision, nil
}

// offered returns the deadline that a newcomer is promised, or why it is promised none.
func (s *Scheduler) offered(p *planned) (*Deadline, string) {
	firm, d, _ := s.promised(append(s.waiting(), p))
	price, reason := s.fluidPrice(), ReasonFull
	if len(firm) > 0 {
		price *= caution
	}
	levels := s.levels(p)
	for len(levels) > 1 && levels[1].Value >= lasting*p.Deadlines[0].Value {
		levels = levels[1:]
	}
	for _, level := range levels {
		p.by = s.from(level.By)
		if !earns(p, level, d, price) {
			reason = ReasonPrice
		} else if _, fits := s.join(firm, d, p); fits {
			return &level, ""
		}
	}
	return nil, reason
}

func (s *Scheduler) checkOffer(job *Job) error {
	if err := job.Validate(s.kinds); err != nil {
		return err
	}
	fault := func(field string, err error, detail string) error {
		return &apportion.FieldError{Item: check.Item("job", job.ID, 0), Field: field, Err: err, Detail: detail}
	}
	if s.find(job.ID) != nil {
		return fault("ID", apportion.ErrDuplicate, "it is there")
	}
	if job.Work > mostWork(s.kinds, job.Worker) {
		return fault("Work", apportion.ErrOverflow, fmt.Sprint(job.Work))
	}
	return nil
}

// mostWork returns the most work that can be added up in units, whatever the capacity becomes.
func mostWork(kinds apportion.Kinds, worker apportion.Resources) int64 {
	unit := int64(mostShare) + 1
	if len(kinds) == 1 {
		unit = worker[0]
	}
	return math.MaxInt64 / 2 / unit
}

// Share is what a job gets in a slot.
type Share struct {
	ID      string `json:"id"`
	Workers int64  `json:"workers"`
	// Promise is the deadline that the job is promised, nil for none. With [OnStart] a job has it from its first slot on.
	Promise *Deadline `json:"promise,omitempty"`
}

// Run decides the current slot: the workers of every job that runs in it, in the order of their offers. Called again it
// decides anew, and keeps the promises. O(n (log n + deadlines x slots)).
func (s *Scheduler) Run() []Share {
	jobs, total := s.plan()
	firm := s.grant(jobs)
	may := func(p *planned) bool { return p.firm() || s.options.Promise != OnStart || s.options.Stay }
	room := urgent(byDeadline(jobs, (*planned).firm), firm, s.pool.capacity)
	due := byDeadline(jobs, may)
	room = urgent(due, total, room)
	if s.options.ChangeLoss > 0 {
		room = keep(due, room)
	}
	room = fill(due, room)
	for _, j := range jobs {
		// What is not planned may still end in time where planned jobs leave room.
		if j.by == 0 && may(j) && len(s.levels(j)) > 0 {
			room = fill([]*planned{j}, room)
		}
	}
	for _, h := range s.jobs {
		h.Workers = 0
	}
	for _, j := range jobs {
		j.Workers = j.given / j.unit
		if j.Workers > 0 && j.granted {
			j.Promise = clone(&j.level)
		}
	}
	var out []Share
	for _, h := range s.jobs {
		if h.Workers > 0 {
			out = append(out, Share{ID: h.ID, Workers: h.Workers, Promise: clone(h.Promise)})
		}
	}
	return out
}
