// This file implements the world of OASiS: slots, workers with parameter servers on servers of their
// own, and jobs that are worth something, [OASiS] §3.1, §5.

package sim

import (
	"fmt"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/primaldual"
)

// FromSlots returns the scenario of a cluster and jobs of OASiS, with slots of the given length. fixed
// is, for each job, how many workers a static scheduler gives it; more than Chunks counts as Chunks. Speed is linear, as the
// jobs say, until the caller sets Job.Speedup: jobs then run at other speeds than policies that read Training believe.
//
// Errors: apportion.Faults for a bad cluster or job, ErrLength where fixed has another length than
// jobs, ErrRange for a length of a slot that is not positive, and ErrOverflow for more time than there is.
func FromSlots(cluster *primaldual.Cluster, jobs []primaldual.Job, fixed []int64, slot time.Duration) (*Scenario, error) {
	if err := checkSlots(cluster, jobs, fixed, slot); err != nil {
		return nil, err
	}
	horizon, ok := exact.Mul(int64(cluster.Slots), int64(slot))
	if !ok {
		return nil, &apportion.FieldError{Field: "Slots", Err: apportion.ErrOverflow}
	}
	s := &Scenario{
		Kinds: cluster.Kinds, Servers: cluster.WorkerServers, ParameterServers: cluster.PSServers,
		Slot: slot, Horizon: time.Duration(horizon), Jobs: make([]Job, len(jobs)),
	}
	for i := range jobs {
		if s.Jobs[i], ok = slotJob(&jobs[i], fixed[i], slot); !ok {
			return nil, &apportion.FieldError{Item: check.Item("job", jobs[i].ID, i), Field: "Work", Err: apportion.ErrOverflow}
		}
	}
	return s, nil
}

// checkSlots returns what is wrong with the arguments of FromSlots, before anything is computed from
// them: the worker-slots of a job are defined for valid jobs only.
func checkSlots(cluster *primaldual.Cluster, jobs []primaldual.Job, fixed []int64, slot time.Duration) error {
	switch {
	case cluster == nil:
		return &apportion.FieldError{Field: "Cluster", Err: apportion.ErrEmpty}
	case len(fixed) != len(jobs):
		return &apportion.FieldError{Field: "Fixed", Err: apportion.ErrLength, Detail: fmt.Sprintf("%d for %d jobs", len(fixed), len(jobs))}
	case slot <= 0:
		return &apportion.FieldError{Field: "Slot", Err: apportion.ErrRange, Detail: slot.String()}
	}
	if err := cluster.Validate(); err != nil {
		return err
	}
	for i := range jobs {
		if err := jobs[i].Validate(cluster.Kinds); err != nil {
			return err
		}
	}
	return nil
}

// slotJob returns the job of a scenario that trains a job of OASiS; false where it takes more time
// than there is. A worker does a worker-slot of work in a slot, so the job's speed is linear in its
// workers, and the first slot begins at time 0.
func slotJob(training *primaldual.Job, fixed int64, slot time.Duration) (Job, bool) {
	work, ok := exact.Mul(training.WorkerSlots(), int64(slot))
	arrival, fits := exact.Mul(int64(training.Arrival-1), int64(slot))
	j := Job{
		Arrival: time.Duration(arrival), Work: time.Duration(work),
		Fixed: min(fixed, training.Chunks), Training: training,
	}
	j.ID, j.Demand, j.Weight, j.Max, j.Min = training.ID, training.Worker, 1, training.Chunks, 1
	return j, ok && fits
}

// Cluster returns the cluster of a scenario with slots, as OASiS knows it.
func (s *Scenario) Cluster() *primaldual.Cluster {
	c := &primaldual.Cluster{Kinds: s.Kinds, WorkerServers: s.Servers, PSServers: s.ParameterServers}
	if s.Slot > 0 {
		c.Slots = int(s.Horizon / s.Slot)
	}
	return c
}

// Schedules returns what each job of a scenario with slots ran, slot by slot, in the order of
// Scenario.Jobs; nil for one that never ran. Plans have no price.
func Schedules(s *Scenario, r *Result) []primaldual.Schedule {
	schedules := make([]primaldual.Schedule, len(r.Jobs))
	for i := range r.Jobs {
		for _, span := range r.Jobs[i].Spans {
			// Spans of such a scenario begin and end with slots, and slots count from 1.
			for slot := span.From / s.Slot; slot < span.Until/s.Slot; slot++ {
				schedules[i] = append(schedules[i], primaldual.SlotPlan{Slot: int(slot) + 1, Workers: span.Places, PS: span.ParameterServers})
			}
		}
	}
	return schedules
}

// Ledger returns a ledger of the scenario's cluster that holds all schedules of a result, with prices
// from bounds: what [primaldual.Certify] bounds the optimum with. Errors are those of
// primaldual.NewLedger and of its Commit.
func Ledger(s *Scenario, r *Result, bounds *primaldual.Bounds) (*primaldual.Ledger, error) {
	ledger, err := primaldual.NewLedger(s.Cluster(), bounds)
	if err != nil {
		return nil, err
	}
	for i, schedule := range Schedules(s, r) {
		if err := ledger.Commit(s.Jobs[i].Training, schedule); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Policy, err)
		}
	}
	return ledger, nil
}
