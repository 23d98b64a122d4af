// This file implements changes of the cluster while jobs run: servers come and go, capacities change. [OASiS] has a
// fixed cluster.
// Each change makes a new cluster, checks it as a whole, and then refits the ledger: there is one
// rule for what a valid cluster is, whether it is new or changed. None of them moves a job that
// still fits.

package primaldual

import (
	"fmt"
	"slices"

	"github.com/apportion/apportion"
)

// AddServer adds a server to a side, after those that are there, in the current slot and all later ones. Jobs stay
// where they are. A server that is on the other list already is from then on open to both
// sides. Errors are those of Cluster.Validate, and ErrTooLarge.
func (s *Scheduler) AddServer(side Side, server apportion.Server) error {
	// All checks are made on a copy: an error must leave the scheduler as it is.
	cluster := s.ledger.cluster.clone()
	// The capacity and the labels are copies, as the caller may use his again for the next server.
	added := cloneServers([]apportion.Server{server})
	switch side {
	case Workers:
		cluster.WorkerServers = append(cluster.WorkerServers, added...)
	case ParameterServers:
		cluster.PSServers = append(cluster.PSServers, added...)
	default:
		return &apportion.FieldError{Field: "side", Err: apportion.ErrUnknown, Detail: side.String()}
	}
	if err := cluster.Validate(); err != nil {
		return err
	}
	if err := s.ledger.checkSize(cluster); err != nil {
		return err
	}
	s.ledger.refit(cluster)
	s.check()
	return nil
}

// SetCapacity changes what a server has, in the current slot and all later ones. Where more is taken than it has then, jobs
// lose what they have reserved from the current slot on, on all servers, the one admitted last first, until the
// rest fits; what is left of each is offered again as in Fail. An unknown server is ErrUnknown; other errors are those
// of Cluster.Validate.
func (s *Scheduler) SetCapacity(server string, capacity apportion.Resources) ([]Displacement, error) {
	machine, err := s.find(server)
	if err != nil {
		return nil, err
	}
	cluster := s.ledger.cluster.clone()
	// A machine on both lists has an entry in each, which Validate wants equal: both change
	// together.
	for side, machines := range s.ledger.on {
		if i := slices.Index(machines, machine); i >= 0 {
			cluster.servers(Side(side))[i].Capacity = capacity.Clone()
		}
	}
	if err := cluster.Validate(); err != nil {
		return nil, err
	}
	// First the jobs that must go give everything back, so that what is left fits the new capacity; then the tables
	// change; then the jobs are offered again, in the order in which they were admitted.
	// A capacity that grows crowds nobody out, so that the same steps do for both directions.
	displaced := s.crowdedOut(machine, capacity)
	s.release(displaced, s.First())
	s.ledger.refit(cluster)
	out := s.replan(displaced, s.First())
	s.check()
	return out, nil
}

// crowdedOut returns the jobs that must leave a machine so that the others fit a capacity, in order of admission: as few of
// the oldest as can be.
// It takes O(jobs x slots of each) and leaves the ledger as it was.
func (s *Scheduler) crowdedOut(machine int, capacity apportion.Resources) []*running {
	crowded := func(r *running) bool {
		for i := r.schedule.before(s.First()); i < len(r.schedule); i++ {
			plan := &r.schedule[i]
			if s.ledger.inPlan(plan, machine) && s.ledger.exceeds(s.ledger.slot(plan.Slot), machine, capacity) {
				return true
			}
		}
		return false
	}
	// Newest first: an older promise is the stronger one. A job that shares no overfull slot stays, however new.
	var out []*running
	jobs := s.byNumber()
	for i := len(jobs) - 1; i >= 0; i-- {
		if crowded(jobs[i]) {
			s.ledger.move(&jobs[i].job, jobs[i].schedule, s.First(), -1)
			out = append(out, jobs[i])
		}
	}
	// The caller releases them; here they were taken out only to see what the rest takes.
	for _, r := range out {
		s.ledger.move(&r.job, r.schedule, s.First(), 1)
	}
	slices.Reverse(out)
	return out
}

// Drain takes a server out of the cluster by plan, in a slot that lies ahead and all later ones, until Repair. What runs
// there before counts; what is left of the jobs that have containers there is offered again as in Fail. A slot that is not after
// the current one or after the horizon is ErrRange, an unknown server ErrUnknown.
func (s *Scheduler) Drain(server string, from int) ([]Displacement, error) {
	// In the current slot something may run already: taking a server away from it is a failure and
	// not a plan.
	if from <= s.First() {
		detail := fmt.Sprintf("%d is not after %d", from, s.First())
		return nil, &apportion.FieldError{Field: "slot", Err: apportion.ErrRange, Detail: detail}
	}
	return s.Fail(server, from)
}
