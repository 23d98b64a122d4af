// This file implements the paper's Dorm for jobs whose speed does not grow with their containers for ever: as submitted,
// and with a threshold on n_max, [Dorm] §III-C.

package schedulers

import (
	"context"
	"slices"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/placement/sim"
)

// Dorm maximizes utilization between fairness loss and adjustments. On several types of servers a job asks for the one on
// which it is fastest, and for the next one where others already want more than there is.
type Dorm struct {
	// Threshold, in [0, 1], takes for n_max the largest number of containers whose mean speed is at least this part of the
	// speed of one; 0: n_max is what the user asked for, Job.Fixed.
	Threshold float64
	// Theta1 and Theta2 are the budgets (15) and (16).
	Theta1, Theta2 float64
	// Observe, if not nil, sees every problem and its decision.
	Observe func(*alloc.Problem, *alloc.Decision)

	book      book
	optimizer optimizer
}

// Name returns "dorm".
func (*Dorm) Name() string { return "dorm" }

// Decide asks the optimizer for the utilization.
func (p *Dorm) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	if err := p.book.open(state); err != nil {
		return sim.Orders{}, err
	}
	problem := state.Problem()
	problem.Theta1, problem.Theta2 = p.Theta1, p.Theta2
	// The optimizer knows requirements and no speeds, so that types are chosen before it is asked.
	types := chooseTypes(&p.book, state, func(job int, kind int) int64 { return p.most(state, job, kind) })
	for i := range problem.Applications {
		app := &problem.Applications[i]
		app.Max = max(app.Min, 1, p.most(state, i, types[i]))
		app.Requires = slices.Concat(app.Requires, p.book.requires(types[i]))
	}
	p.optimizer.observe = p.Observe
	return p.optimizer.decide(ctx, state, problem)
}

// most returns n_max of a job on a type.
// It may be more than the type holds, as what a user asks for may be: package alloc takes it for a
// bound and no promise.
func (p *Dorm) most(state *sim.State, job, kind int) int64 {
	j := &state.Jobs[job]
	speeds := p.book.jobs[j.ID].speeds[kind]
	if p.Threshold == 0 {
		return j.Fixed
	}
	most := int64(1)
	// All numbers are looked at, also beyond one that fails: a second server may cost more than its first
	// container brings, and pay off with the next ones.
	for i, s := range speeds {
		if n := int64(i + 1); s >= p.Threshold*float64(n)*speeds[0] {
			most = n
		}
	}
	return most
}

// gap is what a decision may leave on the table: simulated decisions are many, and a part in a thousand is less than
// the speeds are known by.
const gap = 0.001

// optimizer is package alloc with what it remembers, and who looks on.
type optimizer struct {
	decider alloc.Decider
	observe func(*alloc.Problem, *alloc.Decision)
}

// decide asks the optimizer and orders what has changed.
func (o *optimizer) decide(ctx context.Context, state *sim.State, problem *alloc.Problem) (sim.Orders, error) {
	var orders sim.Orders
	if len(state.Jobs) == 0 {
		return orders, nil
	}
	o.decider.Effort, o.decider.Gap = embedded.Quick, gap
	decision, err := o.decider.Reallocate(ctx, problem)
	if err != nil {
		return orders, err
	}
	if o.observe != nil {
		o.observe(problem, decision)
	}
	orders.Places = state.Changes(unblocked(decision))
	return orders, nil
}
