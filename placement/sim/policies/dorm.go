// This file lets Dorm schedule, [Dorm §III-C, §V-A2], also where jobs have parameter servers: a container
// is then a worker with its part of one, [OASiS] §5.

package policies

import (
	"context"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/placement/sim"
)

// Dorm asks the utilization-fairness optimizer at every decision. Parameter servers are placed by
// round robin; where they are short, a job loses workers, the last ones first.
type Dorm struct {
	// Label is its name, for instance "Dorm-1".
	Label string
	// Theta1 and Theta2 are the thresholds of (15) and (16), in [0, 1].
	Theta1, Theta2 float64
	Options        alloc.Options
	// Queue is how many waiting jobs, first come first, take part in a decision; 0 is for all.
	Queue int
	// Solver answers P2; nil: the embedded one.
	Solver solver.Solver
	// Observe, if not nil, sees every decision.
	Observe func(*alloc.Decision)

	// servers holds the parameter servers, which the optimizer knows as parts of containers only;
	// entry says who is let in.
	servers side
	entry   entry
	// last is what is handed on to the next decision.
	last *alloc.Decision
}

// paper takes decisions as the paper does, for the evaluations that are compared with it.
var paper = alloc.Options{Rule: alloc.Rule{Paper: true}}

// Dorm123 returns the three settings of the paper's evaluation.
func Dorm123(by solver.Solver) []*Dorm {
	return []*Dorm{
		{Label: "Dorm-1", Theta1: 0.2, Theta2: 0.1, Options: paper, Solver: by},
		{Label: "Dorm-2", Theta1: 0.1, Theta2: 0.2, Options: paper, Solver: by},
		{Label: "Dorm-3", Theta1: 0.1, Theta2: 0.1, Options: paper, Solver: by},
	}
}

// DormInSlots returns Dorm for scenarios of OASiS: with the thresholds of Dorm-3 and a queue of 4, of
// which the longest prefix is let in that leaves the problem solvable.
func DormInSlots(by solver.Solver) *Dorm {
	return &Dorm{Label: "Dorm", Theta1: 0.1, Theta2: 0.1, Queue: 4, Options: alloc.Options{Rule: alloc.Rule{Paper: true, AdmitPrefix: true}}, Solver: by}
}

// Name returns the label.
func (d *Dorm) Name() string { return d.Label }

// Decide orders what alloc.Reallocate decides for the jobs that take part.
func (d *Dorm) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	orders := sim.Orders{Refused: d.entry.admit(state)}
	d.servers.open(state.Scenario.Kinds, state.Scenario.ParameterServers)
	d.servers.release(state.Ended...)
	// Jobs behind the queue are not shown to the optimizer: it would have to give every newcomer its
	// least number of containers, or keep them all waiting.
	state.Jobs = d.entry.taking(state, d.Queue)
	if len(state.Jobs) == 0 || !d.entry.changed {
		return orders, nil
	}
	problem := state.Problem()
	problem.Theta1, problem.Theta2, problem.Options = d.Theta1, d.Theta2, d.Options
	if d.last != nil {
		d.last.HandOn(problem)
	}
	decision, err := alloc.Reallocate(ctx, problem, d.Solver)
	if err != nil {
		return orders, err
	}
	d.last = decision
	if d.Observe != nil {
		d.Observe(decision)
	}
	orders.Places = d.changes(state, decision.Allocation)
	return orders, nil
}

// changes returns the jobs whose containers change, each with its parameter servers. All that they held is
// free before the first of them is served, in the order of arrival.
func (d *Dorm) changes(state *sim.State, allocation alloc.Allocation) []sim.Place {
	places := state.Changes(allocation)
	for i := range places {
		d.servers.release(places[i].Job)
	}
	for i, at := 0, 0; i < len(places); at++ {
		if job := &state.Jobs[at]; job.ID == places[i].Job {
			if job.Training != nil {
				d.serve(job, &places[i])
			}
			i++
		}
	}
	return places
}

// serve places the parameter servers of a job, after leaving out the workers, from the last one on,
// that have none: the optimizer's parts of parameter servers need not add up to whole ones.
func (d *Dorm) serve(job *sim.JobState, place *sim.Place) {
	var n int64
	for _, p := range place.On {
		n += p.Count
	}
	// Without room for any parameter server all workers go, and the job waits.
	room := d.servers.room(job.Training.PS, n)
	for ; job.Training.PSFor(n) > room; n-- {
		last := len(place.On) - 1
		if place.On[last].Count--; place.On[last].Count == 0 {
			place.On = place.On[:last]
		}
	}
	place.PS = d.servers.place(job.ID, job.Training.PS, job.Training.PSFor(n))
}
