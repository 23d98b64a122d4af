// This file lets the decisions of package alloc schedule in a simulation, [Dorm §III-C1]: those of a problem, with its queues, and with
// what is known then of when jobs end.

package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/placement"
	"github.com/apportion/apportion/placement/sim"
)

// Decisions is the policy of alloc.Reallocate, as a scheduler asks it through an alloc.Decider. A value serves one run.
type Decisions struct {
	// Problem says all but what the simulation says: queues, thresholds, options, and by their IDs the order of jobs and their queues.
	// Jobs that it does not name come behind. What it says to be running counts in the first decision.
	Problem *alloc.Problem
	// Effort is that of each decision; 0 means embedded.Quick.
	Effort embedded.Effort
	// Seed chooses the random numbers of the solver.
	Seed uint64
	// Most bounds the decisions: they are taken densely at first, and then each time that a further part of the jobs has ended. In between
	// room that is free is filled in the order of submission. 0: a decision at every arrival and completion that may change anything.
	Most int
	// Taken counts the decisions.
	Taken int
	// Observe, if not nil, sees every decision.
	Observe func(*alloc.Decision)

	decider alloc.Decider
	// first is the first decision, where several runs share it.
	first *opening
	// index has the positions of the problem's applications, servers those of the servers, begun when jobs started.
	index, servers map[string]int
	begun          map[string]time.Duration
	// ended counts the jobs that have ended, due is how many must have for the next decision, and growth by how much due grows.
	ended, due, growth float64
	// reserved is what the last decision keeps for others.
	reserved []alloc.Reservation
}

// opening is a first decision, and what its Decider has learned.
type opening struct {
	decider  alloc.Decider
	decision *alloc.Decision
}

// Name returns "decisions".
func (*Decisions) Name() string { return "decisions" }

// open makes the policy ready at the first decision.
func (d *Decisions) open(state *sim.State) {
	if d.index != nil {
		return
	}
	d.index, d.servers, d.begun = make(map[string]int), make(map[string]int), make(map[string]time.Duration)
	for i := range d.Problem.Applications {
		d.index[d.Problem.Applications[i].ID] = i
	}
	for j := range d.Problem.Servers {
		d.servers[d.Problem.Servers[j].ID] = j
	}
	d.decider = alloc.Decider{Effort: cmp.Or(d.Effort, embedded.Quick), Seed: d.Seed}
	if d.Most > 0 {
		// All jobs have ended after so many decisions, each of which waits for a constant part more.
		d.growth = math.Pow(float64(len(state.Scenario.Jobs)+1), 1/float64(d.Most))
	}
}

// Decide asks alloc.Reallocate, where something may come of it. The errors are those of alloc.Reallocate.
func (d *Decisions) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	d.open(state)
	d.ended += float64(len(state.Ended))
	switch {
	case d.Taken > 0 && d.idle(state):
		return sim.Orders{}, nil
	case d.Taken > 0 && d.early(state):
		return sim.Orders{Places: d.fill(state)}, nil
	}
	decision, err := d.decide(ctx, state)
	if err != nil {
		return sim.Orders{}, err
	}
	d.Taken++
	if d.Observe != nil {
		d.Observe(decision)
	}
	d.due, d.reserved = max(d.due*d.growth, d.ended+1), decision.Reservations
	return sim.Orders{Places: d.changes(state, decision.Allocation)}, nil
}

// decide takes a decision, one that several runs share once.
func (d *Decisions) decide(ctx context.Context, state *sim.State) (*alloc.Decision, error) {
	if d.Taken == 0 && d.first != nil && d.first.decision != nil {
		d.decider = d.first.decider
		return d.first.decision, nil
	}
	decision, err := d.decider.Reallocate(ctx, d.problem(state))
	if err == nil && d.Taken == 0 && d.first != nil {
		*d.first = opening{d.decider, decision}
	}
	return decision, err
}

// early reports whether the next decision is not due yet. When nothing runs there is nothing to wait for.
func (d *Decisions) early(state *sim.State) bool {
	running := slices.ContainsFunc(state.Jobs, func(j sim.JobState) bool { return j.Containers > 0 })
	return d.growth > 0 && d.ended < d.due && running
}

// idle reports whether no decision could start or change anything: nobody can grow, be suspended or leave a cordoned server, and of those
// that wait nobody's fewest containers fit beside those of all that run, wherever these are.
func (d *Decisions) idle(state *sim.State) bool {
	if d.Problem.Options.Preempt {
		return false
	}
	room := make(apportion.Resources, len(d.Problem.Kinds))
	for j := range d.Problem.Servers {
		if d.Problem.Servers[j].Cordoned {
			return false // what is there leaves, some with each decision
		}
		for k, q := range d.Problem.Servers[j].Capacity {
			room[k] += q
		}
	}
	for i := range state.Jobs {
		job := &state.Jobs[i]
		if job.Containers == 0 {
			continue
		}
		if job.Min != job.Max {
			return false
		}
		for k, q := range job.Demand {
			room[k] -= job.Containers * q
		}
	}
	return !slices.ContainsFunc(state.Jobs, func(job sim.JobState) bool {
		return job.Containers == 0 && job.Demand.CountIn(room) >= job.Fixed
	})
}

// fill starts the jobs that fit what is free and not reserved, in the order of submission, as a decision does before it asks anybody to make
// room. Jobs that may not be anywhere wait for the next decision, and so do all below ceilings.
func (d *Decisions) fill(state *sim.State) (places []sim.Place) {
	packer, err := state.Packer(placement.BestFit)
	if err != nil || slices.ContainsFunc(d.Problem.Applications, func(a alloc.Application) bool { return len(a.Requires) > 0 }) {
		return nil
	}
	for q := range d.Problem.Queues {
		if d.Problem.Queues[q].Ceiling != nil {
			return nil
		}
	}
	d.keep(packer)
	var short []*sim.JobState
	for _, i := range d.order(state) {
		job := &state.Jobs[i]
		equal := func(s *sim.JobState) bool { return s.Demand.Equal(job.Demand) && s.Fixed <= job.Fixed }
		if job.Containers > 0 || job.PerServer > 0 || job.MaxServers > 0 || slices.ContainsFunc(short, equal) {
			continue
		}
		on, fits := packer.Place(job.Demand, job.Fixed, nil)
		if !fits {
			short = append(short, job)
			continue
		}
		places = append(places, sim.Place{Job: job.ID, On: on})
		d.begin(job, state.Now)
	}
	return places
}

// keep takes what is reserved from the room.
func (d *Decisions) keep(packer *placement.Packer) {
	for _, r := range d.reserved {
		i, there := d.index[r.ID]
		if _, begun := d.begun[r.ID]; !there || begun {
			continue
		}
		for server, count := range r.Servers {
			_ = packer.Take(d.servers[server], d.Problem.Applications[i].Demand, count) // what is not free yet leaves less than nothing
		}
	}
}

// order returns the positions of the jobs in the order of submission: that of the problem, behind which comes what arrives. In the
// simulation what ran comes first.
func (d *Decisions) order(state *sim.State) []int {
	rank := func(i int) int {
		if at, there := d.index[state.Jobs[i].ID]; there {
			return at
		}
		return len(d.index) + i
	}
	order := make([]int, len(state.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	return order
}

// problem returns the state as the problem that the scheduler would see then.
func (d *Decisions) problem(state *sim.State) *alloc.Problem {
	p := *d.Problem
	p.Applications, p.Previous = make([]alloc.Application, 0, len(state.Jobs)), make(alloc.Allocation, len(state.Jobs))
	for _, i := range d.order(state) {
		job := &state.Jobs[i]
		app := job.Application
		if at, there := d.index[job.ID]; there {
			app = d.Problem.Applications[at]
		}
		if app.Ends != nil && job.Containers > 0 {
			left := max(0, *app.Ends-(state.Now-d.begun[job.ID]).Seconds())
			app.Ends = &left
		}
		p.Applications = append(p.Applications, app)
		if len(job.Places) == 0 {
			continue
		}
		p.Previous[job.ID] = make(map[string]int64, len(job.Places))
		for _, place := range job.Places {
			p.Previous[job.ID][p.Servers[place.Server].ID] = place.Count
		}
	}
	if d.Taken == 0 && d.Problem.Previous != nil {
		// What the simulation cannot hold runs all the same, and is for the first decision to move.
		p.Previous = d.Problem.Previous
	}
	return &p
}

// changes returns the jobs whose containers are others in an allocation, and notes which of them start.
func (d *Decisions) changes(state *sim.State, allocation alloc.Allocation) (places []sim.Place) {
	for i := range state.Jobs {
		job := &state.Jobs[i]
		var on []apportion.Placement
		for server, count := range allocation[job.ID] {
			if count > 0 {
				on = append(on, apportion.Placement{Server: d.servers[server], Count: count})
			}
		}
		slices.SortFunc(on, func(a, b apportion.Placement) int { return a.Server - b.Server })
		if !slices.Equal(on, job.Places) {
			places = append(places, sim.Place{Job: job.ID, On: on})
			d.begin(job, state.Now)
		}
	}
	return places
}

func (d *Decisions) begin(job *sim.JobState, now time.Duration) {
	if _, begun := d.begun[job.ID]; !begun && job.Containers == 0 {
		d.begun[job.ID] = now
	}
}
