// This file implements the slot-based simulation that FIFO, DRF, RRH and Dorm share, [OASiS] §5.

package slotsim

import (
	"context"
	"slices"
	"sort"

	"github.com/apportion/apportion/primaldual"
)

// stepper is a policy that decides slot by slot.
type stepper interface {
	// admit decides at its arrival whether a job is let in.
	admit(st *state, job int) bool
	// decide sets what every active job runs from this slot on. It is called in every slot in which
	// jobs arrived or before which jobs ended.
	decide(ctx context.Context, st *state) error
}

// state is the cluster in one slot.
type state struct {
	*Scenario
	slot int
	pool *pool
	// fixed is the number of workers under FIFO and RRH; 0: the job can never run.
	fixed []int64
	// left is the worker-slots that a job has still to earn.
	left []int64
	// plans is what each job runs now; without workers: nothing.
	plans []primaldual.SlotPlan
	// active are the jobs that are let in and have not ended, by arrival.
	active []int
}

func newState(s *Scenario) *state {
	st := &state{
		Scenario: s, pool: newPool(s.Cluster), plans: make([]primaldual.SlotPlan, len(s.Jobs)),
		fixed: make([]int64, len(s.Jobs)), left: make([]int64, len(s.Jobs)),
	}
	for i := range s.Jobs {
		st.left[i] = s.Jobs[i].WorkerSlots()
		st.fixed[i] = st.fitting(&s.Jobs[i], min(s.Workers[i], s.Jobs[i].Chunks))
	}
	return st
}

// fitting returns the most workers, up to limit, that the empty cluster holds; 0 for none.
func (st *state) fitting(job *primaldual.Job, limit int64) int64 {
	if job.WorkerBandwidth > job.PSBandwidth {
		return 0
	}
	n := st.pool.room(primaldual.Workers, job.Worker, limit)
	servers := st.pool.room(primaldual.ParameterServers, job.PS, n)
	return int64(sort.Search(int(n), func(fewer int) bool { return job.PSFor(int64(fewer)+1) > servers }))
}

// play simulates all slots and returns what each job ran.
func play(ctx context.Context, s *Scenario, policy stepper) ([]primaldual.Schedule, error) {
	st := newState(s)
	schedules := make([]primaldual.Schedule, len(s.Jobs))
	next, event := 0, false
	for st.slot = 1; st.slot <= s.Cluster.Slots; st.slot++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for ; next < len(s.Jobs) && s.Jobs[next].Arrival == st.slot; next++ {
			if st.fixed[next] > 0 && policy.admit(st, next) {
				st.active, event = append(st.active, next), true
			}
		}
		if event {
			if err := policy.decide(ctx, st); err != nil {
				return nil, err
			}
		}
		event = st.run(schedules)
	}
	return schedules, nil
}

// run lets the slot pass and reports whether a job has ended.
func (st *state) run(schedules []primaldual.Schedule) bool {
	before := len(st.active)
	st.active = slices.DeleteFunc(st.active, func(i int) bool {
		plan := st.plans[i]
		if len(plan.Workers) == 0 {
			return false
		}
		plan.Slot = st.slot
		schedules[i] = append(schedules[i], plan)
		if st.left[i] -= plan.Total(); st.left[i] > 0 {
			return false
		}
		st.release(i)
		return true
	})
	return len(st.active) < before
}

// release takes from a job all that it holds.
func (st *state) release(i int) {
	st.pool.giveBack(&st.Jobs[i], &st.plans[i])
	st.plans[i] = primaldual.SlotPlan{}
}

// start gives a job workers by round robin, if they fit.
func (st *state) start(i int, workers int64) bool {
	plan, ok := st.pool.place(&st.Jobs[i], workers)
	if ok {
		st.plans[i] = plan
	}
	return ok
}
