// This file holds the answer to an offered job: Decision and Schedule, [OASiS] §4.

package primaldual

import (
	"github.com/apportion/apportion"
)

// Decision is the answer to one offered job. All its numbers are finite; it survives JSON unchanged.
type Decision struct {
	// Admitted says that Schedule is reserved (by Offer; Quote reserves nothing). Otherwise Verdict says
	// why not, and everything below Reason is zero, but for Utility, Cost and Completion when
	// TooExpensive.
	Admitted bool    `json:"admitted"`
	Verdict  Verdict `json:"verdict"`
	// Reason says why a job was refused, with the numbers; it is zero for a job that is admitted.
	Reason apportion.Reason `json:"reason,omitzero"`
	// Payoff is mu_i = Utility - Cost. (eq. 21)
	Payoff float64 `json:"payoff"`
	// Utility is f_i at the completion, Cost is what the schedule costs at the prices in force. When
	// TooExpensive, they belong to the completion that comes closest to a positive payoff, and Cost is
	// a lower bound on the cost of ending by then.
	Utility float64 `json:"utility"`
	Cost    float64 `json:"cost"`
	// Completion is the last slot with a worker.
	Completion int `json:"completion"`
	// Schedule says where the job runs.
	Schedule Schedule `json:"schedule"`
}

// Schedule lists the slots in which a job has workers, ascending.
// Every slot in it has a worker, as (7) allows no parameter server alone; completion, before and
// the release of what lies ahead rely on the order.
type Schedule []SlotPlan

// SlotPlan is what a job runs in one slot.
type SlotPlan struct {
	Slot int `json:"slot"`
	// Workers and PS list the servers used, ascending, each with a positive count.
	Workers []apportion.Placement `json:"workers"`
	PS      []apportion.Placement `json:"ps"`
	// Price is what these containers cost at the prices in force when they were chosen.
	Price float64 `json:"price"`
}

func (p *SlotPlan) on(side Side) []apportion.Placement {
	if side == ParameterServers {
		return p.PS
	}
	return p.Workers
}

// Total returns the number of workers in the slot.
// It is sum_h y_ih(t), at most N_i by (3), so that the sum does not overflow.
func (p *SlotPlan) Total() int64 {
	sum := int64(0)
	for _, placement := range p.Workers {
		sum += placement.Count
	}
	return sum
}

// WorkerSlots returns the workers of all slots added up.
// That is the left-hand side of (2).
func (s Schedule) WorkerSlots() int64 {
	sum := int64(0)
	for i := range s {
		sum += s[i].Total()
	}
	return sum
}

// before returns the number of slots of s that lie before slot.
// It walks from the end, as callers ask about the current slot of a job that mostly lies ahead.
// O(len(s)).
func (s Schedule) before(slot int) int {
	n := len(s)
	for n > 0 && s[n-1].Slot >= slot {
		n--
	}
	return n
}

// clone returns a copy that shares nothing with s.
// Schedules are handed to callers, who may write into them: the ledger is released by the
// scheduler's own.
func (s Schedule) clone() Schedule {
	out := make(Schedule, len(s))
	for i, plan := range s {
		// Empty lists are copied as empty and not as nil, so that a copy has the same JSON.
		plan.Workers = append([]apportion.Placement{}, plan.Workers...)
		plan.PS = append([]apportion.Placement{}, plan.PS...)
		out[i] = plan
	}
	return out
}
