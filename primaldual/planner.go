// This file implements planner: from a job, or what is left of it, to a decision at given prices.
// Two steps: state finds out whether any schedule can be of worth and fills in the values, find
// searches.

package primaldual

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/primaldual/internal/schedule"
)

// planner finds decisions; it keeps its storage from one job to the next.
type planner struct {
	method  Method
	search  schedule.Search
	costs   slotCosts
	request request
}

// remainder is what is left of a job to do, from slot first on.
type remainder struct {
	work, chunks int64
	first        int
	// admitted says that the job was admitted before, so that its utility is not checked again.
	admitted bool
}

// decide finds the best schedule for what is left of a job, at the prices and the room in force.
func (p *planner) decide(m *market, job *Job, left remainder) (Decision, error) {
	if verdict, err := p.state(m, job, left); err != nil || verdict != Admitted {
		return Decision{Verdict: verdict}, err
	}
	return p.find(m)
}

// state states the request for what is left of a job, with its values, or says why no schedule can be of any worth.
func (p *planner) state(m *market, job *Job, left remainder) (Verdict, error) {
	r := &p.request
	r.job, r.first, r.work, r.chunks, r.values = job, left.first, left.work, left.chunks, r.values[:0]
	// The cheapest test comes first: misfit looks at empty servers only, and no slot.
	if verdict := job.misfit(m.cluster); verdict != Admitted {
		return verdict, nil
	}
	slots := m.last() - left.first + 1
	if r.shortest() > int64(slots) {
		return TooFewSlots, nil
	}
	// The job cannot end in the first slots: their values are never read.
	soonest := int(r.shortest()) - 1
	r.values = append(r.values, make([]float64, soonest)...)
	// f_i counts from the arrival, the request from left.first: since is the offset between the
	// two.
	since := left.first - job.Arrival
	// A job that is in already was checked when it was offered. Its values may reach beyond the
	// horizon of that day, and an event that has happened must not fail for them.
	if left.admitted {
		r.values = job.tolerated(r.values, since+soonest, since+slots-1)
	} else {
		var err error
		if r.values, err = job.values(r.values, since+soonest, since+slots-1); err != nil {
			return Worthless, err
		}
	}
	// Values never increase, so that 0 at the earliest completion is 0 at all of them.
	if r.values[soonest] <= 0 {
		return Worthless, nil
	}
	return Admitted, nil
}

// find returns the best schedule of the request, whose values are known.
func (p *planner) find(m *market) (Decision, error) {
	r := &p.request
	r.whole = p.method == ChunkDP
	r.set(m)
	if fits, err := p.checkSize(m); err != nil || !fits {
		return Decision{Verdict: NoRoom}, err // not even on empty servers
	}
	// The search sees slots by their offset from the first one, and utilities by the slot of the completion.
	p.costs.reset(m, r)
	// CappedDP and ChunkDP are one dynamic program over different units.
	p.search.Plain = p.method != BoundsFirst
	problem := r.problem()
	found, err := p.search.Find(&problem, &p.costs)
	if err != nil {
		return Decision{}, err
	}
	return p.describe(m, &found), nil
}

// checkSize refuses tables above the limit, and reports whether empty servers hold the work at all.
func (p *planner) checkSize(m *market) (fits bool, err error) {
	// The tables have a column for each number of workers: a job with very many chunks is limited by
	// what the servers hold.
	r, limit := &p.request, p.search.Limit
	slots, most := int64(len(r.values)), min(r.job.Chunks, r.work)
	// The tighter bound looks at all servers, so that it is asked for only where the cheap one is
	// too large.
	if most >= limit/slots {
		most = r.mostWorkers(m)
	}
	if err := schedule.CheckCells(most+1, slots, limit, r.job.item(), "slots x workers"); err != nil {
		return false, err
	}
	// CheckCells has found (most+1) x slots within the limit, so that the product does not
	// overflow.
	if r.work > most*slots || !r.whole {
		return r.work <= most*slots, nil
	}
	return true, schedule.CheckCells(r.chunks+1, slots, limit, r.job.item(), "slots x chunk trainings")
}

// describe turns an answer of the search into a decision, placing the containers.
func (p *planner) describe(m *market, found *schedule.Answer) Decision {
	r, last := &p.request, p.request.first+found.Last
	switch {
	case found.Status == schedule.Best:
		return p.placed(found)
	// Bounds first ends its tables at the budget. Unreached then means no room or no room at a
	// price that pays; counting the room tells the two apart.
	case found.Status == schedule.Unreached && (p.method != BoundsFirst || r.roomFor(m, len(r.values)-1) < r.work):
		return Decision{Verdict: NoRoom}
	}
	return Decision{Verdict: TooExpensive, Completion: last, Utility: found.Value, Cost: found.Cost}
}

// placed returns the decision that admits the schedule found. The search knows how many workers each slot has;
// where they stand is found again here, for the few slots that are used.
func (p *planner) placed(found *schedule.Answer) Decision {
	d := Decision{Verdict: Admitted, Admitted: true, Completion: p.request.first + found.Last, Utility: found.Value}
	for slot, units := range found.Units {
		if units > 0 {
			plan := p.costs.plan(slot, units, p.search.Tables.Of(slot)[units])
			d.Cost += plan.Price
			d.Schedule = append(d.Schedule, plan)
		}
	}
	// mu_i = f_i - cost of the schedule at the prices in force. (eq. 21)
	d.Payoff = d.Utility - d.Cost
	return d
}

// slack returns the payoff that counted as nothing in the last search.
func (p *planner) slack() float64 {
	problem := p.request.problem()
	return problem.Slack()
}

// whole returns all the work of a job.
// Only ChunkDP counts chunk trainings, so that E_i N_i may overflow where nobody asks for it.
func (p *planner) whole(job *Job) (remainder, error) {
	work := remainder{work: job.WorkerSlots(), first: job.Arrival}
	if p.method != ChunkDP {
		return work, nil
	}
	var ok bool
	if work.chunks, ok = exact.Mul(job.Epochs, job.Chunks); !ok {
		return work, &apportion.FieldError{Item: job.item(), Field: "Epochs x Chunks", Err: apportion.ErrOverflow}
	}
	return work, nil
}
