// This file implements admission by learnt prices: a job is admitted if it finds room, by itself or after others have
// been planned again, and is worth its price. It takes the place of [OASiS] Algorithm 1, line 6.
// Where the paper's line 6 asks whether utility exceeds the sum of prices of a schedule, this one
// asks for room first and then for one price of the window that the job needs.

package primaldual

import "sort"

// consider decides about a job at learnt prices. The plan belongs to a decision that admits.
func (s *Scheduler) consider(job *Job) (Decision, plan, error) {
	r := &s.planner.request
	if verdict, err := s.planner.state(&s.ledger.market, job, remainder{work: job.WorkerSlots(), first: job.Arrival}); err != nil || verdict != Admitted {
		return Decision{Verdict: verdict}, plan{}, err
	}
	w := &wish{job: job, left: remainder{work: r.work, first: r.first}, number: s.next}
	// displace comes after place: nobody loses his place to a job that fits beside him.
	p, ok := s.place(w, r.values)
	if !ok {
		p, ok = s.displace(w, r.values)
	}
	if !ok {
		// The reason counts room, which needs the demands of the job in the request.
		r.set(&s.ledger.market)
		return Decision{Verdict: NoRoom}, plan{}, nil
	}
	last := p.schedule.completion()
	d := Decision{Verdict: Admitted, Admitted: true, Completion: last, Utility: r.values[last-r.first], Schedule: p.schedule}
	// Who takes the place of others has been weighed against them already; a price of the window
	// would count the same load twice.
	if len(p.gone) == 0 {
		d.Cost = s.windowPrice(job, d.Utility, promised(r.values, int(r.shortest())-1, d.Utility))
	}
	// A job that must not be refused by the account is admitted without profit: it pays no more than it is worth.
	// Both must hold: a price alone rests on a forecast, and the account limits what wrong
	// forecasts can cost.
	if d.Cost >= d.Utility && s.learn.mayRefuse(d.Utility) {
		return Decision{Verdict: TooExpensive, Completion: last, Utility: d.Utility, Cost: d.Cost}, plan{}, nil
	}
	d.Cost = min(d.Cost, d.Utility)
	d.Payoff = d.Utility - d.Cost
	d.Revised = p.revisions(r.first)
	s.offerAgain(&p, w)
	for i, gone := range p.gone {
		again := p.again[i]
		again.Schedule = again.Schedule.clone() // the plan's own goes to the job
		d.Displaced = append(d.Displaced, Displacement{ID: gone.job.ID, Decision: again})
	}
	return d, p, nil
}

// readmit decides about what is left of an admitted job from slot from on. It pays no price: what it was admitted for
// is due to it as far as there is room.
// The account of the safeguard does not change: the job was counted when it was admitted.
func (s *Scheduler) readmit(r *running, from int) (Decision, plan, error) {
	left := r.left(from)
	verdict, err := s.planner.state(&s.ledger.market, &r.job, left)
	if err != nil || verdict != Admitted {
		return Decision{Verdict: verdict}, plan{}, err
	}
	q := &s.planner.request
	p, ok := s.place(&wish{job: &r.job, left: left, number: r.number, owner: r}, q.values)
	if !ok {
		q.set(&s.ledger.market)
		return Decision{Verdict: NoRoom}, plan{}, nil
	}
	last := p.schedule.completion()
	d := Decision{Verdict: Admitted, Admitted: true, Completion: last, Utility: q.values[last-q.first], Schedule: p.schedule}
	d.Payoff, d.Revised = d.Utility, p.revisions(q.first)
	return d, p, nil
}

// windowPrice returns the price of a job's window, which ends with the last slot in which it is worth as much.
// Later slots are of no use to the job, so that load offered there does not compete with it.
func (s *Scheduler) windowPrice(job *Job, worth float64, slots int) float64 {
	// Load and length are in slots of the whole cluster, so that their ratio is the part of the window that the job takes.
	unit := s.ledger.share(job)
	w := window{load: unit * float64(job.WorkerSlots()), length: float64(slots)}
	w.committed = s.committed(job.Arrival, job.Arrival+slots-1)
	return s.learn.price(job.Arrival, w, worth)
}

// committed returns how many slots of the whole cluster admitted jobs need from slot from to slot to: all that is left of
// those promised by then, and of the others an even part; no less of it must run by then if they are to be in time.
func (s *Scheduler) committed(from, to int) float64 {
	// In order of admission, since sums of floats depend on the order and maps have none.
	sum := 0.0
	for _, r := range s.byNumber() {
		unit, left := s.ledger.share(&r.job), float64(r.job.done(r.schedule[r.schedule.before(from):]))
		if r.promise > to {
			// An even pace takes so many of the slots until r.promise; a job that runs less by slot
			// to must run more after it.
			left *= float64(to-from+1) / float64(r.promise-from+1)
		}
		sum += float64(unit * left)
	}
	return sum
}

// place finds the earliest completion that pays as much as any: directly, or by planning others again where that is worth
// more.
func (s *Scheduler) place(w *wish, values []float64) (plan, bool) {
	// soonest is the offset of the earliest completion that any room allows: ceil(work / most a
	// slot) - 1.
	first, soonest := w.left.first, int(ceilDiv(w.left.work, w.job.perSlot()))-1
	ends := levels(values, soonest)
	// By itself first, up to the last slot in which the job is worth anything: that moves nobody.
	w.until = first + ends[len(ends)-1]
	best, ok := s.direct(w)
	if ok {
		// Of the levels only those are of interest that are worth more than what was found.
		at := best.schedule.completion() - first
		ends = ends[:sort.SearchInts(ends, at)]
	}
	if s.learn.Revise < 0 || len(ends) == 0 {
		return best, ok
	}
	// Room for a level is room for all later ones, so that halving finds the first. Where servers differ that need not
	// hold; then a later one is found.
	low, high := 0, len(ends)
	for low < high {
		middle := (low + high) / 2
		w.until = first + ends[middle]
		if p, fits := s.makeRoom(w); fits {
			best, ok, high = p, true, middle
		} else {
			low = middle + 1
		}
	}
	return best, ok
}

// levels returns the offsets of the last slots of equal worth, from the earliest completion on, as long as it is worth
// something. There is at least one.
// Within a level an earlier end earns nothing more, so that only its last slot is worth an attempt;
// a constant utility has one level, however long the horizon.
func levels(values []float64, soonest int) []int {
	var ends []int
	for at := soonest; at < len(values) && values[at] > 0; at++ {
		if at+1 == len(values) || values[at+1] < values[at] {
			ends = append(ends, at)
		}
	}
	return ends
}

// promised returns how many slots a job has that is to be worth so much and cannot end before soonest.
// The window is as long as the job may take without loss: a price that looked at a shorter one
// would take a patient job for a large one.
func promised(values []float64, soonest int, worth float64) int {
	slots := soonest
	for slots < len(values) && values[slots] >= worth {
		slots++
	}
	return slots
}
