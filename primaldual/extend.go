// This file implements Extend: a job turns out to need more work than planned. [OASiS] knows the work of every job.

package primaldual

import (
	"strconv"

	"github.com/apportion/apportion"
)

// Extension is the answer to Extend.
type Extension struct {
	// Decision is about all that is left of the job from the current slot on. Its Cost is what that costs at the
	// prices in force, and Revised who moves for it where prices are learnt. Refused, the job keeps the
	// slots that it had, and its work will not be done in them.
	Decision Decision `json:"decision"`
	// Lost is what the job was worth by its last promise less what it is worth now; 0 if it still ends in time, and 0
	// if refused.
	Lost float64 `json:"lost"`
}

// Extend says that an admitted job needs so many worker-slots more than planned. What is left of it is planned again from
// the current slot on, whose work counts as still to do: by prices, if that is worth more than it costs; else as early as
// there is room, at whatever price, as long as it is worth anything. A job is thus never offered among strangers: it loses its
// plan only for one that does all the work. An unknown job is ErrUnknown, work that is not positive or too much ErrRange.
func (s *Scheduler) Extend(id string, work int64) (Extension, error) {
	r, err := s.running(id)
	if err != nil {
		return Extension{}, err
	}
	// W_i with all extensions stays at most 2^53, above which the tables' float64 no longer tells
	// one worker-slot from the next.
	if most := int64(maxWorkerSlots) - r.job.WorkerSlots() - r.extra; work < 1 || work > most {
		detail := strconv.FormatInt(work, 10) + " is not in [1, " + strconv.FormatInt(most, 10) + "]"
		return Extension{}, &apportion.FieldError{Item: r.job.item(), Field: "work", Err: apportion.ErrRange, Detail: detail}
	}
	// What ran before the current slot is done. All that lies ahead is planned anew, since the best place for the work that
	// is added may be beside, between or after what was reserved.
	from, old := max(s.First(), r.job.Arrival), r.schedule
	s.release([]*running{r}, from)
	r.extra += work
	// The released slots count as room, so that the job competes with others and not with itself.
	d, p, err := s.prolong(r, from)
	if err != nil || !d.Admitted {
		// The job gets back just what it gave: nothing else has moved in between.
		r.extra -= work
		s.ledger.move(&r.job, old, from, 1)
		r.schedule = old
		s.check()
		return Extension{Decision: d}, err
	}
	// settle puts the new utility in the place of the old one, which Lost compares with.
	before := r.utility
	s.apply(&p, from)
	s.settle(r, &d, from)
	s.check()
	return Extension{Decision: d, Lost: max(0, before-d.Utility)}, nil
}

// prolong decides about what is left of a job that has no slots from slot from on.
func (s *Scheduler) prolong(r *running, from int) (Decision, plan, error) {
	defer func() { s.planner.request.job = nil }()
	d, p, err := s.reconsider(r, from)
	if err != nil || d.Admitted {
		return d, p, err
	}
	d.Reason = s.planner.explain(&s.ledger.market, &d)
	if d.Verdict != TooExpensive {
		return d, plan{}, nil
	}
	// There is room, but at today's prices a stranger would be turned away: this job is none.
	out := s.soonest(&r.job, r.left(from))
	if !out.Admitted {
		return d, plan{}, nil
	}
	for i := range out.Schedule {
		out.Cost += s.ledger.priceOf(&r.job, &out.Schedule[i])
	}
	// Payoff is 0 or less here: the search has found nothing that pays. Cost is stated all the
	// same, as it is what the extension takes from others.
	out.Payoff = out.Utility - out.Cost
	return out, plan{}, nil
}

// soonest places what is left of a job, whose values the planner has, into the room that there is, as long as it is worth
// anything, whatever the price.
func (s *Scheduler) soonest(job *Job, left remainder) Decision {
	// The last slot of any worth ends the search for room; values never grow again after a 0.
	values := s.planner.request.values
	worthwhile := len(values)
	for worthwhile > 0 && values[worthwhile-1] <= 0 {
		worthwhile--
	}
	// pack asks for no prices and ends as early as can be, which is worth the most, since values
	// never increase.
	schedule, ok := s.packer.pack(&s.ledger.market, job, left, left.first+worthwhile-1)
	if !ok {
		return Decision{Verdict: NoRoom}
	}
	last := schedule.completion()
	return Decision{Verdict: Admitted, Admitted: true, Completion: last, Utility: values[last-left.first], Schedule: schedule}
}

// priceOf sets what the containers of a slot cost at the prices in force, and returns it.
func (l *Ledger) priceOf(job *Job, plan *SlotPlan) float64 {
	plan.Price = 0
	// The price of a slot is sum_h,r p_h[r](t) w_i[r] y_ih(t) + sum_k,r q_k[r](t) s_i[r] z_ik(t),
	// its part of the sums in (20).
	prices := l.prices(l.slot(plan.Slot))
	for _, side := range []Side{Workers, ParameterServers} {
		l.scratch.set(&l.market, side, job.demand(side))
		for _, p := range plan.on(side) {
			plan.Price += float64(float64(p.Count) * l.scratch.unit(prices, l.on[side][p.Server]*l.kinds))
		}
	}
	return plan.Price
}
