// This file implements Run: it lets a policy schedule, checks and measures, [OASiS] §5.

package slotsim

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/primaldual"
)

// Policy is one of the policies of this package.
type Policy interface {
	// Name is a short name for tables and figures.
	Name() string
	// schedules returns what each job runs, nil for one that never runs.
	schedules(ctx context.Context, s *Scenario, bounds *primaldual.Bounds) ([]primaldual.Schedule, error)
}

// Result is what became of the jobs. Slices by job have the order of Scenario.Jobs.
type Result struct {
	Policy string
	// Total is the total utility, Utility that of each job.
	Total   float64
	Utility []float64
	// Completion is the slot in which a job ended; 0: it did not.
	Completion []int
	Schedules  []primaldual.Schedule
	// Usage is by side and kind: the part of the capacity of all slots and servers that was taken, in
	// [0, 1]; 0 for a kind without capacity.
	Usage [2][]float64
	// Ledger holds all the schedules, with prices from the bounds given to Run.
	Ledger *primaldual.Ledger
}

// Run lets a policy schedule the jobs of a scenario. bounds set the prices of the ledger, and those of
// OASiS. Errors: [apportion.Faults] for a bad scenario or bad bounds, what the policy or its
// solver returns, and that of ctx.
func Run(ctx context.Context, s *Scenario, bounds *primaldual.Bounds, policy Policy) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	ledger, err := primaldual.NewLedger(s.Cluster, bounds, nil)
	if err != nil {
		return nil, err
	}
	schedules, err := policy.schedules(ctx, s, bounds)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", policy.Name(), err)
	}
	r := &Result{
		Policy: policy.Name(), Ledger: ledger, Schedules: schedules,
		Utility: make([]float64, len(s.Jobs)), Completion: make([]int, len(s.Jobs)),
	}
	for i := range s.Jobs {
		job, schedule := &s.Jobs[i], schedules[i]
		if err := ledger.Commit(job, schedule); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Policy, err)
		}
		if schedule.WorkerSlots() >= job.WorkerSlots() {
			r.Completion[i] = schedule[len(schedule)-1].Slot
			r.Utility[i] = job.Utility.Value(r.Completion[i] - job.Arrival)
			r.Total += r.Utility[i]
		}
	}
	return r, r.measure(s)
}

// measure sets Usage.
func (r *Result) measure(s *Scenario) error {
	for side, servers := range [2][]apportion.Server{s.Cluster.WorkerServers, s.Cluster.PSServers} {
		total, err := check.Total(servers, len(s.Cluster.Kinds))
		if err != nil {
			return err
		}
		r.Usage[side] = make([]float64, len(total))
		for i := range s.Jobs {
			demand := [2]apportion.Resources{s.Jobs[i].Worker, s.Jobs[i].PS}[side]
			slots := float64(containerSlots(r.Schedules[i], sides[side])) / float64(s.Cluster.Slots)
			for k, q := range demand {
				if q > 0 && total[k] > 0 {
					r.Usage[side][k] += float64(slots * float64(q) / float64(total[k]))
				}
			}
		}
	}
	return nil
}

// containerSlots returns the containers of a side, added up over the slots.
func containerSlots(schedule primaldual.Schedule, side primaldual.Side) int64 {
	if side == primaldual.Workers {
		return schedule.WorkerSlots()
	}
	sum := int64(0)
	for i := range schedule {
		for _, p := range schedule[i].PS {
			sum += p.Count
		}
	}
	return sum
}
