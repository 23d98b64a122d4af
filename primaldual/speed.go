// This file implements Speed: what numbers of workers and parameter servers do in a slot, where that is not linear as in
// [OASiS] (2), or where there are no parameter servers.
// A way replaces the linear law y workers, ceil(y b/B) parameter servers, y units. C_t(d) becomes
// the cost of the cheapest way that does d units or more, which starts at 0 and never falls, as the
// search asks for.

package primaldual

import (
	"fmt"

	"github.com/apportion/apportion"
)

// Speed is one way to run a job in a slot: so many workers and parameter servers do so many units of its work. A job that
// reduces gradients among its workers has ways without parameter servers.
type Speed struct {
	// Workers is at least 1, PS 0 or more, Units at least 1.
	Workers int64 `json:"workers"`
	PS      int64 `json:"ps"`
	Units   int64 `json:"units"`
}

// checkSpeeds adds the faults of a job with Speeds. What else speaks of speed must be absent.
func (j *Job) checkSpeeds(faults *apportion.Faults) {
	// Ascending order makes a way that is there twice impossible, and ties the same in every run.
	for i, s := range j.Speeds {
		field := fmt.Sprintf("Speeds[%d]", i)
		// A way without workers would have a slot in the schedule that the completion (8) does not
		// see.
		if s.Workers < 1 || s.PS < 0 || s.Units < 1 || s.Units > maxWorkerSlots {
			detail := fmt.Sprintf("%d workers, %d parameter servers, %d units", s.Workers, s.PS, s.Units)
			faults.Add(apportion.Item{}, field, apportion.ErrRange, detail)
		}
		if i > 0 && !j.Speeds[i-1].less(s) {
			faults.Add(apportion.Item{}, field, apportion.ErrDuplicate, "workers, then parameter servers must ascend")
		}
	}
	// Units are also float64 in prices and tables, which are exact up to 2^53.
	if j.Units < 1 || j.Units > maxWorkerSlots {
		faults.Add(apportion.Item{}, "Units", apportion.ErrRange, fmt.Sprint(j.Units, " is not in [1, 2^53]"))
	}
	// Both laws in one job could contradict each other, and half of the code would follow either.
	if j.Epochs != 0 || j.Chunks != 0 || j.Minibatches != 0 || j.MinibatchSlots != 0 || j.CommSlots != 0 || j.WorkerBandwidth != 0 || j.PSBandwidth != 0 {
		detail := "with Speeds, Epochs, Chunks, Minibatches, MinibatchSlots, CommSlots and bandwidths are 0"
		faults.Add(apportion.Item{}, "Speeds", apportion.ErrConflict, detail)
	}
}

// less orders ways by workers, then parameter servers.
func (s Speed) less(other Speed) bool {
	return s.Workers < other.Workers || s.Workers == other.Workers && s.PS < other.PS
}

// perSlot returns the most work that a job can do in a slot: N_i, or the Units of its fastest way.
// One of the two is 0 in a valid job.
func (j *Job) perSlot() int64 {
	most := j.Chunks
	for _, s := range j.Speeds {
		most = max(most, s.Units)
	}
	return most
}

// rate returns the work that a plan does: its workers, or the Units of the way that it is; 0 if it is none.
// A plan that is between two ways does nothing for sure: nobody has measured it. O(placements +
// ways).
func (j *Job) rate(plan *SlotPlan) int64 {
	workers := plan.Total()
	if len(j.Speeds) == 0 {
		return workers
	}
	ps := plan.servers()
	for _, s := range j.Speeds {
		if s.Workers == workers && s.PS == ps {
			return s.Units
		}
	}
	return 0
}

// servers returns the number of parameter servers in the slot.
func (p *SlotPlan) servers() int64 {
	sum := int64(0)
	for _, placement := range p.PS {
		sum += placement.Count
	}
	return sum
}

// done returns the work that a schedule does.
// It is the left-hand side of (2), with Speeds in units.
func (j *Job) done(schedule Schedule) int64 {
	sum := int64(0)
	for i := range schedule {
		sum += j.rate(&schedule[i])
	}
	return sum
}

// needsPS reports whether no way of the job does without parameter servers.
// A linear job always does, as ceil(y b/B) is at least 1.
func (j *Job) needsPS() bool {
	for _, s := range j.Speeds {
		if s.PS == 0 {
			return false
		}
	}
	return true
}

// uses reports whether any way of the job has containers of a side.
func (j *Job) uses(side Side) bool {
	// Every way has a worker, so that only the parameter servers are in question.
	_, ps := j.widest()
	return side == Workers || len(j.Speeds) == 0 || ps > 0
}

// widest returns the most workers and the most parameter servers of any way.
func (j *Job) widest() (workers, ps int64) {
	for _, s := range j.Speeds {
		workers, ps = max(workers, s.Workers), max(ps, s.PS)
	}
	return workers, ps
}

// least returns the least of a cost over the ways of a job, per unit of work.
// A schedule that does all the work costs no less than the work times this, if cost bounds each way
// from below: no mixture of ways is thriftier than the thriftiest.
func (j *Job) least(cost func(Speed) float64) float64 {
	best := inf
	for _, s := range j.Speeds {
		best = min(best, cost(s)/float64(s.Units))
	}
	return best
}

// fewest returns the fewest containers of one side per unit of work, over the ways that have any there; 0 if none has. A
// way that has none must not hide that others do: L answers for those too.
func (j *Job) fewest(count func(Speed) int64) float64 {
	best := j.least(func(s Speed) float64 {
		if n := count(s); n > 0 {
			return float64(n)
		}
		return inf
	})
	if best == inf {
		return 0
	}
	return best
}

// cheapest returns the way that does at least so many units at the least cost, given what each costs: of equal ones the first,
// thus that with the fewest workers. One at least must do so many at a finite cost.
// The least cost is the one that the table of the slot holds for so many units, so that a schedule costs
// what the search has found.
func cheapest(units int64, ways []Speed, costs []float64) Speed {
	// ways ascend by workers, and strict < keeps the first of equal costs.
	best := -1
	for i, w := range ways {
		if w.Units >= units && costs[i] < inf && (best < 0 || costs[i] < costs[best]) {
			best = i
		}
	}
	return ways[best]
}

// couplesOf returns the containers of each way.
// The order is that of ways, by which callers read the costs.
func couplesOf(ways []Speed) []couple {
	out := make([]couple, len(ways))
	for i, w := range ways {
		out[i] = couple{w.Workers, w.PS}
	}
	return out
}

// noServers is where costs do not jump with parameter servers in a way that is known.
type noServers struct{}

// PSFor returns 0.
func (noServers) PSFor(int64) int64 { return 0 }
