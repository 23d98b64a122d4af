// This file holds the answer to an offered job: Decision, Reason and Schedule, [OASiS] §4.

package primaldual

import (
	"strconv"

	"github.com/apportion/apportion"
)

// Reason says why a job was admitted or refused.
type Reason int

// The reasons, in the order in which they are tested.
const (
	// Admitted: the payoff of the best schedule is positive.
	Admitted Reason = iota
	// BandwidthTooSmall: one parameter server reserves less bandwidth than one worker, so no number
	// of parameter servers satisfies both constraints (6) and (7).
	BandwidthTooSmall
	// FitsNoWorkerServer and FitsNoPSServer: one worker (parameter server) demands more than any
	// server of its side has when empty.
	FitsNoWorkerServer
	FitsNoPSServer
	// TooFewSlots: even with the most workers in every slot the work does not end within the horizon.
	TooFewSlots
	// Worthless: the utility is 0 at the earliest possible completion.
	Worthless
	// NoRoom: the servers have too little left before the horizon ends.
	NoRoom
	// TooExpensive: there is room, but every schedule costs at least what it is worth.
	TooExpensive
)

var reasonNames = [...]string{
	"admitted", "bandwidth too small", "fits no worker server", "fits no ps server",
	"too few slots", "worthless", "no room", "too expensive",
}

// String returns the reason in words.
func (r Reason) String() string {
	if r < 0 || int(r) >= len(reasonNames) {
		return "reason " + strconv.Itoa(int(r))
	}
	return reasonNames[r]
}

// Decision is the answer to one offered job.
type Decision struct {
	// Admitted says that Schedule is reserved (by Offer; Quote reserves nothing). Otherwise Reason says
	// why not, and everything below is zero, but for Utility, Cost and Completion when TooExpensive.
	Admitted bool
	Reason   Reason
	// Payoff is mu_i = Utility - Cost. (eq. 21)
	Payoff float64
	// Utility is f_i at the completion, Cost is what the schedule costs at the prices in force. When
	// TooExpensive, they belong to the completion that comes closest to a positive payoff, and Cost is
	// a lower bound on the cost of ending by then.
	Utility, Cost float64
	// Completion is the last slot with a worker.
	Completion int
	// Schedule says where the job runs.
	Schedule Schedule
}

// Schedule lists the slots in which a job has workers, ascending.
type Schedule []SlotPlan

// SlotPlan is what a job runs in one slot.
type SlotPlan struct {
	Slot int
	// Workers and PS list the servers used, ascending, each with a positive count.
	Workers, PS []apportion.Placement
	// Price is what these containers cost at the prices in force when they were chosen.
	Price float64
}

// on returns the placements of a side.
func (p *SlotPlan) on(side Side) []apportion.Placement {
	if side == ParameterServers {
		return p.PS
	}
	return p.Workers
}

// Total returns the number of workers in the slot.
func (p *SlotPlan) Total() int64 {
	sum := int64(0)
	for _, placement := range p.Workers {
		sum += placement.Count
	}
	return sum
}

// WorkerSlots returns the workers of all slots added up.
func (s Schedule) WorkerSlots() int64 {
	sum := int64(0)
	for i := range s {
		sum += s[i].Total()
	}
	return sum
}

// before returns the number of slots of s that lie before slot.
func (s Schedule) before(slot int) int {
	n := len(s)
	for n > 0 && s[n-1].Slot >= slot {
		n--
	}
	return n
}

// clone returns a copy that shares nothing with s.
func (s Schedule) clone() Schedule {
	out := make(Schedule, len(s))
	for i, plan := range s {
		plan.Workers = append([]apportion.Placement(nil), plan.Workers...)
		plan.PS = append([]apportion.Placement(nil), plan.PS...)
		out[i] = plan
	}
	return out
}

// misfit returns why the job cannot run on the empty cluster in any number of slots, or Admitted.
func (j *Job) misfit(cluster *Cluster) Reason {
	switch {
	case j.WorkerBandwidth > j.PSBandwidth:
		return BandwidthTooSmall
	case !fitsAny(cluster, Workers, j):
		return FitsNoWorkerServer
	case !fitsAny(cluster, ParameterServers, j):
		return FitsNoPSServer
	}
	return Admitted
}

// fitsAny reports whether one container fits some empty server of a side.
func fitsAny(cluster *Cluster, side Side, j *Job) bool {
	for _, server := range cluster.servers(side) {
		if j.demand(side).FitsIn(server.Capacity) {
			return true
		}
	}
	return false
}
