// This file implements the world of OASiS: slots, workers with parameter servers on servers of their
// own, and jobs that are worth something, [OASiS] §3.1, §5.

package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/primaldual"
)

// FromSlots returns the scenario of a cluster and jobs of OASiS, with slots of the given length. fixed
// is, for each job, how many workers a static scheduler gives it; more than Chunks counts as Chunks.
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

// checkSlots returns what is wrong with the arguments of FromSlots.
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
// than there is.
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

// Schedules returns what each job of a scenario with slots ran, slot by slot.
func Schedules(s *Scenario, r *Result) []primaldual.Schedule {
	schedules := make([]primaldual.Schedule, len(r.Jobs))
	for i := range r.Jobs {
		for _, span := range r.Jobs[i].Spans {
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
	ledger, err := primaldual.NewLedger(s.Cluster(), bounds, nil)
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

// psParts is the precision of a part of a parameter server in problem: demands and capacities of
// that side are in thousandths.
const psParts = 1000

// problem returns the jobs as applications of package alloc on the scenario's servers, with both
// thresholds zero. Where there are parameter servers, each server has an equal part of the capacity
// of them all, and a container is a worker with its part b/B of a parameter server, rounded up; the
// kinds of the workers' side come first.
func (s *Scenario) problem(jobs []*Job) *alloc.Problem {
	p := &alloc.Problem{Kinds: s.Kinds, Servers: s.Servers, Applications: make([]alloc.Application, len(jobs))}
	for i, j := range jobs {
		p.Applications[i] = j.Application
	}
	if len(s.ParameterServers) == 0 {
		return p
	}
	p.Kinds, p.Servers = nil, slices.Clone(s.Servers)
	for _, side := range []string{"worker-", "ps-"} {
		for _, kind := range s.Kinds {
			p.Kinds = append(p.Kinds, side+kind)
		}
	}
	part, _ := s.serverPart() // Validate has looked at its error
	for h := range p.Servers {
		p.Servers[h].Capacity = slices.Concat(p.Servers[h].Capacity, part)
	}
	for i, j := range jobs {
		p.Applications[i].Demand = slices.Concat(j.Demand, containerPart(j.Training, len(s.Kinds)))
	}
	return p
}

// serverPart returns what each server has of the capacity of all parameter servers, in thousandths.
// The error is ErrOverflow.
func (s *Scenario) serverPart() (apportion.Resources, error) {
	part, err := check.Total(s.ParameterServers, len(s.Kinds))
	for k, q := range part {
		thousandths, ok := exact.Mul(q, psParts)
		if !ok {
			return nil, &apportion.FieldError{Field: "ParameterServers", Err: apportion.ErrOverflow}
		}
		part[k] = thousandths / int64(len(s.Servers))
	}
	return part, err
}

// containerPart returns the part of a parameter server that one worker needs, in thousandths; of
// nothing where the job has no parameter servers.
func containerPart(training *primaldual.Job, kinds int) apportion.Resources {
	part := make(apportion.Resources, kinds)
	if training == nil {
		return part
	}
	for k, q := range training.PS {
		part[k] = int64(math.Ceil(psParts * float64(q) * float64(training.WorkerBandwidth) / float64(training.PSBandwidth)))
	}
	return part
}

// byID returns placements by the server's ID.
func (s *Scenario) byID(places []apportion.Placement) map[string]int64 {
	held := make(map[string]int64, len(places))
	for _, p := range places {
		held[s.Servers[p.Server].ID] = p.Count
	}
	return held
}
