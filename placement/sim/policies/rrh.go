// This file implements RRH, the risk-reward heuristic FirstReward with admission by slack, [Irwin04];
// [OASiS] §5.

package policies

import (
	"cmp"
	"context"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/placement/sim"
)

// RRH lets in the jobs whose worth outweighs what they cost the others by delay, and runs those with
// the most reward per slot first, each on its fixed number of workers. Every job must have Training.
type RRH struct{ desk desk }

// ownWorth weighs a job's own worth against the loss of others, discount is what a slot of processing time takes of worth.
const ownWorth, discount = 0.5, 0.01

// Name returns "RRH".
func (*RRH) Name() string { return "RRH" }

// Decide lets a new job in where PV_i exceeds cost_i, and gives the cluster to the jobs
// by reward, greatest first, earlier ones on a tie; those that do not fit pause. O(jobs^2).
func (h *RRH) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	refused := h.desk.open(state)
	r, err := h.rewards(state)
	if err != nil {
		return sim.Orders{}, err
	}
	// New jobs are looked at one after the other: one that is let in counts among the active ones for
	// the next.
	changed := len(state.Ended) > 0
	for _, job := range h.desk.taking(state, 0) {
		if job.New && !(r.present(&job) > r.delayCost(&job)) {
			refused = append(refused, job.ID)
			delete(h.desk.fixed, job.ID)
			continue
		}
		changed = changed || job.New
		r.active = append(r.active, job)
	}
	orders := sim.Orders{Refused: refused}
	if changed {
		orders.Places = h.run(r)
	}
	return orders, nil
}

// run places the active jobs by reward. A job that had containers and does not get them again pauses, and
// keeps what it has earned.
func (h *RRH) run(r *rewards) []sim.Place {
	type ranked struct {
		job    *sim.JobState
		reward float64
	}
	order := make([]ranked, len(r.active))
	for i := range r.active {
		// Everybody hands back everything before the first is served.
		h.desk.release(r.active[i].ID)
		order[i] = ranked{&r.active[i], r.reward(&r.active[i])}
	}
	slices.SortStableFunc(order, func(a, b ranked) int { return cmp.Compare(b.reward, a.reward) })
	var places []sim.Place
	for _, next := range order {
		h.desk.grow(next.job.Job, 0, h.desk.fixed[next.job.ID])
		places = append(places, h.desk.order(next.job.ID))
	}
	return places
}

// rewards are the formulas of [Irwin04] at one decision.
type rewards struct {
	state *sim.State
	// fixed is by job the number of workers on which it would run.
	fixed map[string]int64
	// active are the jobs that were let in.
	active []sim.JobState
}

// rewards returns the formulas. The error names a job without a utility.
func (h *RRH) rewards(state *sim.State) (*rewards, error) {
	for i := range state.Jobs {
		if job := &state.Jobs[i]; job.Training == nil {
			return nil, &apportion.FieldError{Item: check.Item("job", job.ID, job.Index), Field: "Training", Err: apportion.ErrEmpty}
		}
	}
	return &rewards{state: state, fixed: h.desk.fixed}, nil
}

// reward returns (alpha PV_i - (1 - alpha) cost_i) / RPT_i, the gain of a slot given to the job. [Irwin04]
func (r *rewards) reward(job *sim.JobState) float64 {
	gain := float64(ownWorth*r.present(job)) - float64((1-ownWorth)*r.delayCost(job))
	return gain / float64(r.remaining(job))
}

// present returns PV_i, the worth of the job if it runs from now on, discounted.
func (r *rewards) present(job *sim.JobState) float64 {
	return r.worth(job, 0) / (1 + float64(discount*float64(r.remaining(job))))
}

// delayCost returns cost_i: what the other active jobs lose if each of them waits until the job has run.
func (r *rewards) delayCost(job *sim.JobState) float64 {
	cost := 0.0
	for i := range r.active {
		if other := &r.active[i]; other.Index != job.Index {
			cost += r.worth(other, 0) - r.worth(other, r.remaining(job))
		}
	}
	return cost
}

// worth returns V_i: the worth of the job if it runs to its end after a delay of some slots.
func (r *rewards) worth(job *sim.JobState, delay int64) float64 {
	s := r.state.Scenario
	end := int64(r.state.Now/s.Slot) + delay + r.remaining(job) // the slot in which it ends
	if end > int64(s.Horizon/s.Slot) {
		// A job that ends after the last slot is worth nothing, [OASiS] (8).
		return 0
	}
	return job.Training.Utility.Value(int(end) - job.Training.Arrival)
}

// remaining returns RPT_i, the slots that the job needs on its fixed number of workers.
func (r *rewards) remaining(job *sim.JobState) int64 {
	return (slotsLeft(r.state.Scenario.Slot, job)-1)/r.fixed[job.ID] + 1
}
