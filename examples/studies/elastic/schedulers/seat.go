// This file places jobs that have been told how many containers they get, on as few servers as possible.

package schedulers

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
)

// want is how many containers a job is to have, and on servers of which type: kind is a position in
// book.kinds.
type want struct {
	// job is a position in State.Jobs.
	job  int
	n    int64
	kind int
}

// seats are the free servers of a decision under way.
// A decision goes through keep, seat and finish, in this order; what was taken is never given back.
type seats struct {
	book  *book
	state *sim.State
	free  []apportion.Resources
	// decided are the jobs that keep what they hold, or have a place; the others hold nothing afterwards.
	decided []bool
	orders  sim.Orders
}

// newSeats returns the empty servers.
func newSeats(b *book, state *sim.State) *seats {
	s := &seats{book: b, state: state, decided: make([]bool, len(state.Jobs))}
	// Clones: taking room must not change the scenario, which all runs share.
	for h := range state.Scenario.Servers {
		s.free = append(s.free, state.Scenario.Servers[h].Capacity.Clone())
	}
	return s
}

// take gives a job places.
func (s *seats) take(job int, on []apportion.Placement) {
	s.decided[job] = true
	for _, p := range on {
		for k, q := range s.state.Jobs[job].Demand {
			s.free[p.Server][k] -= p.Count * q // cannot overflow: it has room there
		}
	}
}

// keep lets a job stay where it is.
func (s *seats) keep(job int) { s.take(job, s.state.Jobs[job].Places) }

// seat gives a job as many containers as it wants, and reports whether there is room for them.
func (s *seats) seat(w want) bool {
	job := &s.state.Jobs[w.job]
	on := pack(s.free, s.book.kinds[w.kind].servers, job.Demand, w.n)
	if on == nil {
		return false
	}
	s.take(w.job, on)
	s.orders.Places = append(s.orders.Places, sim.Place{Job: job.ID, On: on})
	return true
}

// fits reports whether there is room for what a job wants beside all that is taken.
func (s *seats) fits(w want) bool {
	return pack(s.free, s.book.kinds[w.kind].servers, s.state.Jobs[w.job].Demand, w.n) != nil
}

// stays reports whether a job holds already what it wants.
func (s *seats) stays(w want) bool {
	job := &s.state.Jobs[w.job]
	return job.Containers == w.n && s.book.kind(job) == w.kind
}

// finish returns the orders: whoever was neither kept nor given places lets go of what it has.
func (s *seats) finish() sim.Orders {
	for i := range s.state.Jobs {
		if job := &s.state.Jobs[i]; !s.decided[i] && job.Containers > 0 {
			s.orders.Places = append(s.orders.Places, sim.Place{Job: job.ID})
		}
	}
	return s.orders
}

// settle gives everybody what he wants, the first one first: those who hold it already stay, and the others are packed
// beside them. Wants fit the servers of their type together, as containers of one size do.
// Where they are not of one size, those who stay may leave room that is enough in sum and on no single
// server: then seat fails, and a job that ran is suspended until the next decision.
func settle(b *book, state *sim.State, wants []want) sim.Orders {
	s := newSeats(b, state)
	for _, w := range wants {
		if s.stays(w) {
			s.keep(w.job)
		}
	}
	for _, w := range wants {
		if !s.decided[w.job] {
			s.seat(w)
		}
	}
	return s.finish()
}
