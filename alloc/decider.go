// This file holds the Decider: decisions one after the other, each from where the last one ended.

package alloc

import (
	"context"
	"maps"
	"slices"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/internal/event"
	"github.com/apportion/apportion/alloc/solver"
)

// Decider takes the decisions of one scheduler with the embedded solver. It remembers from one decision to the
// next what the solver had learned, so that a cluster in which little has changed is decided sooner; what it
// remembers changes where the search begins, and never what is legal or which bound holds. The zero value is
// ready to use. It is not safe for concurrent use.
//
// It also carries on what a decision hands to the next: how much was let in past the applications that wait, and what is reserved
// ([Program §8]), and which question it has answered ([Program §11]). So a gang among small ones starts, whatever a caller keeps, and
// what is asked again with nothing new restarts nothing.
//
// Most of the time of a long decision is spent on proof: the best answer is there long before it is shown that there is
// no better one. So a scheduler in a hurry sets Gap to what it does not care for (0.01 is one part in a hundred of the
// utilization), or ends the context: the answer is the best one until then, with its bound, marked
// Interrupted. A lower Effort answers sooner on large clusters, with a wider gap.
type Decider struct {
	// Effort bounds the work of a decision; 0 means embedded.Default. What more of it is never worse for stands with embedded.Quick.
	Effort embedded.Effort
	// Gap is the gap at which a decision is good enough, in [0, 1]; 0: only a proof ends the search early.
	Gap float64
	// Seed chooses the random numbers of the search.
	Seed uint64

	warm *embedded.Warm
	// passed and reservations are what the last decision handed on; passed is nil before the first.
	passed       map[string]float64
	reservations []Reservation
	settled      *Settled
	// left is what the last whole decision left, with the prices that it proved; nil before the first. state is made of that when an event
	// comes: a caller that tells of none does not pay for it.
	left   *Problem
	prices *event.Prices
	state  *running
}

// Reallocate decides like the function Reallocate, with the embedded solver and what it has learned. p may be any problem:
// another cluster makes what was learned useless, and not wrong. From the second decision on p.Reservations, p.Settled, and Passed of
// p.Applications, are set to what the last one said: in a copy of that slice, so that p is the problem that the decision answers, for
// Verify, Explain and a Record, and nothing that p shares is written to. For Apply the Decider keeps the vectors of p, which must not be
// written to. The errors are those of the function; after one of them
// the Decider is what it was. A decision whose certificate says Warm depends on the decisions before it, and Replay may find
// another of several equally good answers.
func (d *Decider) Reallocate(ctx context.Context, p *Problem) (*Decision, error) {
	// The solver is made anew for each decision, so that a caller may change the fields between two of them.
	s := &remembering{by: embedded.New(&embedded.Options{Effort: d.Effort, Gap: d.Gap, Seed: d.Seed, Warm: d.warm})}
	if d.state != nil && d.state.cluster != nil {
		d.passed, d.reservations = d.state.passed(), d.state.reservations()
	}
	if d.passed != nil {
		takeOver(p, d.passed, d.reservations)
		p.Settled = d.settled
	}
	decision, err := Reallocate(ctx, p, s)
	// Nothing is learned from a decision that had no need of a solver, or had no answer.
	if err == nil && s.last != nil {
		d.warm = s.last
	}
	if err == nil {
		d.passed, d.reservations = decision.handOn()
		d.settled = decision.settledCopy()
		d.left, d.prices, d.state = decision.leaves(p), decision.prices(p), nil
	}
	return decision, err
}

// handOn returns what a decision says of the applications that wait, for the next problem: it shares nothing with d.
func (d *Decision) handOn() (passed map[string]float64, reservations []Reservation) {
	passed = make(map[string]float64, len(d.Waiting)+len(d.Suspended))
	for _, list := range [...][]Waiting{d.Waiting, d.Suspended} {
		for _, w := range list {
			passed[w.ID] = w.Passed
		}
	}
	reservations = slices.Clone(d.Reservations)
	for v := range reservations {
		reservations[v].Servers, reservations[v].For = maps.Clone(reservations[v].Servers), slices.Clone(reservations[v].For)
	}
	return passed, reservations
}

// HandOn writes into the next problem what d says of those that wait: Passed of its Applications, in a copy of the slice, by their IDs,
// Reservations and Settled. A caller without a Decider hands on each decision so, and gets what Options.Patience promises.
func (d *Decision) HandOn(next *Problem) {
	passed, reservations := d.handOn()
	takeOver(next, passed, reservations)
	next.Settled = d.settledCopy()
}

// leaves returns the problem that d leaves of p, whose answer it is: what is handed on, and what runs. Its lists are its own.
func (d *Decision) leaves(p *Problem) *Problem {
	next := *p
	d.HandOn(&next) // in a copy of the applications
	next.Servers, next.Previous = slices.Clone(p.Servers), d.Allocation.Clone()
	for i := range next.Applications {
		next.Applications[i].Option = d.Shares[i].Option
	}
	return &next
}

// settledCopy returns Settled of a decision, which shares nothing with it.
func (d *Decision) settledCopy() *Settled {
	if d.Settled == nil {
		return nil
	}
	s := *d.Settled
	return &s
}

// takeOver writes into p what an earlier decision has handed on.
func takeOver(p *Problem, passed map[string]float64, reservations []Reservation) {
	p.Applications, p.Reservations = slices.Clone(p.Applications), reservations
	for i := range p.Applications {
		p.Applications[i].Passed = passed[p.Applications[i].ID]
	}
}

// remembering is a solver that keeps what its last solution leaves for the next instance. One decision may ask it several
// times; the last answer is that of the P2 that the decision is about.
type remembering struct {
	by   *embedded.Solver
	last *embedded.Warm
}

func (r *remembering) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	s, err := r.by.Solve(ctx, inst)
	if err == nil && s.Status.HasSolution() {
		r.last = embedded.WarmFrom(inst, s)
	}
	return s, err
}
