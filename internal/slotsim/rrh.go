// This file implements RRH, the risk-reward heuristic FirstReward with admission by slack, [Irwin04];
// [OASiS] §5.

package slotsim

import (
	"context"
	"slices"

	"github.com/apportion/apportion/primaldual"
)

// RRH lets in the jobs whose worth outweighs what they cost the others by delay, and runs those with
// the most reward per slot first, each on its fixed number of workers. The zero value has the
// defaults.
type RRH struct {
	// Alpha, from 0 to 1, weighs a job's own worth against the loss of others; 0 means 0.5.
	Alpha float64
	// Rate discounts worth per slot of processing time; 0 means 0.01.
	Rate float64
	// Threshold is the worth beyond the cost below which a job is refused.
	Threshold float64
}

// Defaults of RRH.
const (
	defaultAlpha = 0.5
	defaultRate  = 0.01
)

// Name returns the name of the policy.
func (RRH) Name() string { return "RRH" }

func (h RRH) schedules(ctx context.Context, s *Scenario, _ *primaldual.Bounds) ([]primaldual.Schedule, error) {
	if h.Alpha == 0 {
		h.Alpha = defaultAlpha
	}
	if h.Rate == 0 {
		h.Rate = defaultRate
	}
	return play(ctx, s, h)
}

// admit lets a job in where PV_i - cost_i exceeds the threshold. O(active jobs).
func (h RRH) admit(st *state, i int) bool {
	return h.present(st, i)-st.delayCost(i) > h.Threshold
}

// decide gives the cluster to the active jobs by reward, greatest first, earlier ones on a tie; those
// that do not fit pause. O(jobs^2).
func (h RRH) decide(_ context.Context, st *state) error {
	type ranked struct {
		job    int
		reward float64
	}
	order := make([]ranked, len(st.active))
	for k, i := range st.active {
		st.release(i)
		order[k] = ranked{i, h.reward(st, i)}
	}
	slices.SortStableFunc(order, func(a, b ranked) int {
		switch {
		case a.reward > b.reward:
			return -1
		case a.reward < b.reward:
			return 1
		}
		return 0
	})
	for _, r := range order {
		st.start(r.job, st.fixed[r.job])
	}
	return nil
}

// reward returns (alpha PV_i - (1 - alpha) cost_i) / RPT_i.
func (h RRH) reward(st *state, i int) float64 {
	gain := float64(h.Alpha*h.present(st, i)) - float64((1-h.Alpha)*st.delayCost(i))
	return gain / float64(st.remaining(i))
}

// present returns PV_i, the worth of the job if it runs from now on, discounted.
func (h RRH) present(st *state, i int) float64 {
	return st.worth(i, 0) / (1 + float64(h.Rate*float64(st.remaining(i))))
}

// remaining returns RPT_i, the slots that the job needs on its fixed number of workers.
func (st *state) remaining(i int) int64 {
	return (st.left[i]-1)/st.fixed[i] + 1
}

// worth returns V_i: the worth of the job if it runs to its end after a delay of some slots.
func (st *state) worth(i int, delay int64) float64 {
	end := int64(st.slot) + delay + st.remaining(i) - 1
	if end > int64(st.Cluster.Slots) {
		return 0
	}
	return st.Jobs[i].Utility.Value(int(end) - st.Jobs[i].Arrival)
}

// delayCost returns what the other active jobs lose if each of them waits until job i has run.
func (st *state) delayCost(i int) float64 {
	cost := 0.0
	for _, j := range st.active {
		if j != i {
			cost += st.worth(j, 0) - st.worth(j, st.remaining(i))
		}
	}
	return cost
}
