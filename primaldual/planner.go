// This file implements planner: from a job, or what is left of it, to a decision at given prices.

package primaldual

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// planner finds decisions; it keeps its storage from one job to the next.
type planner struct {
	search  bestSchedule
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
	r := &p.request
	r.job, r.first, r.work, r.chunks, r.values = job, left.first, left.work, left.chunks, r.values[:0]
	if verdict := job.misfit(m.cluster); verdict != Admitted {
		return Decision{Verdict: verdict}, nil
	}
	slots := m.last() - left.first + 1
	if r.shortest() > int64(slots) {
		return Decision{Verdict: TooFewSlots}, nil
	}
	// The job cannot end in the first slots: their values are never read.
	soonest := int(r.shortest()) - 1
	r.values = filled(r.values, soonest, 0)
	since := left.first - job.Arrival
	if left.admitted {
		r.values = job.tolerated(r.values, since+soonest, since+slots-1)
	} else {
		var err error
		if r.values, err = job.values(r.values, since+soonest, since+slots-1); err != nil {
			return Decision{}, err
		}
	}
	// The search sees slots by their offset from left.first, and utilities by the slot of the completion.
	found, err := p.search.find(m, r)
	if err != nil {
		return Decision{}, err
	}
	return p.describe(m, found), nil
}

// describe turns an answer of the search into a decision, placing the containers.
func (p *planner) describe(m *market, found answer) Decision {
	r := &p.request
	d := Decision{Verdict: found.verdict, Admitted: found.verdict == Admitted}
	switch found.verdict {
	case TooExpensive:
		d.Completion, d.Utility, d.Cost = r.first+found.last, found.value, found.cost
	case Admitted:
		d.Completion, d.Utility = r.first+found.last, found.value
		// The search knows how many workers each slot has; where they stand is found again here, for the
		// few slots that are used.
		for slot, workers := range found.workers {
			if workers > 0 {
				plan := p.search.costs.plan(m, r, slot, workers)
				d.Cost += plan.Price
				d.Schedule = append(d.Schedule, plan)
			}
		}
		d.Payoff = d.Utility - d.Cost
	}
	return d
}

// whole returns all the work of a job.
func (p *planner) whole(job *Job) (remainder, error) {
	work := remainder{work: job.WorkerSlots(), first: job.Arrival}
	if p.search.method != ChunkDP {
		return work, nil
	}
	var ok bool
	if work.chunks, ok = exact.Mul(job.Epochs, job.Chunks); !ok {
		return work, &apportion.FieldError{Item: job.item(), Field: "Epochs x Chunks", Err: apportion.ErrOverflow}
	}
	return work, nil
}
