// This file implements Sia: one configuration of type and number for every job by a program in 0 and 1,
// [Jayaram23] §3.3.

package schedulers

import (
	"context"
	"fmt"
	"math"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/placement/sim"
)

const (
	// siaPower is p, siaIdle is lambda, [Jayaram23] §5.1: fairness, and what a job without containers costs.
	siaPower, siaIdle = -0.5, 1.1
	// siaNodes and siaGap bound the search for a configuration of all jobs.
	// Decisions are many and are made anew at every arrival: none is worth the time of a proof.
	siaNodes, siaGap = 40, 0.005
)

// Sia minimizes the sum over all jobs of g^-1/2, where g is the speed of a job in parts of the least that it has in any
// configuration, less for one that has to be restarted; it knows the speeds of all configurations. Configurations
// are powers of two up to a server, and whole servers, of one type.
type Sia struct {
	book book
}

// Name returns "sia".
func (*Sia) Name() string { return "sia" }

// configuration is what a job may have: n containers on a type, and what that costs.
type configuration struct {
	want
	cost float64
	x    milp.Var
}

// Decide solves the program and seats the jobs.
func (p *Sia) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	if err := p.book.open(state); err != nil || len(state.Jobs) == 0 {
		return sim.Orders{}, err
	}
	// What fits the pooled capacities fits the servers as well: powers of two up to a server, and whole servers,
	// pack without gaps where servers of a type are alike.
	wants, err := p.solve(ctx, state)
	if err != nil {
		return sim.Orders{}, err
	}
	orders := settle(&p.book, state, wants)
	p.book.close(state, &orders)
	return orders, nil
}

// configurations returns what a job may have, with costs.
// Costs are relative to the least speed of the job itself, so that a large job does not outweigh a
// small one. A type that holds none of its containers offers no configuration.
func (p *Sia) configurations(state *sim.State, at int) []configuration {
	job := &state.Jobs[at]
	r := p.book.jobs[job.ID]
	least := math.Inf(1)
	var all []configuration
	for k, speeds := range r.speeds {
		_, one := p.book.kinds[k].holds(state.Scenario.Servers, job.Demand)
		for n := max(1, job.Min); n <= int64(len(speeds)); n++ {
			if n < one && n&(n-1) != 0 || n > one && n%one != 0 {
				continue
			}
			least = min(least, speeds[n-1])
			all = append(all, configuration{want: want{at, n, k}, cost: speeds[n-1]})
		}
	}
	// Moving costs a job what restarts take of its life so far, see worth.Restart.
	restart := worth.Restart(state.Now-job.Arrival, state.Scenario.AdjustCost, r.restarts)
	held := p.book.kind(job)
	for i := range all {
		c := &all[i]
		gain := c.cost / least
		if held >= 0 && (c.n != job.Containers || c.kind != held) {
			gain *= restart
		}
		c.cost = math.Pow(gain, siaPower)
	}
	return all
}

// solve returns the configurations that cost least together; where the search finds none, what everybody has.
func (p *Sia) solve(ctx context.Context, state *sim.State) ([]want, error) {
	b := milp.NewBuilder("sia")
	var goal []milp.Term
	var all []configuration
	rows := newRows(&p.book, state)
	for i := range state.Jobs {
		var one []milp.Term
		for _, c := range p.configurations(state, i) {
			c.x = b.Binary(fmt.Sprintf("a[%d,%d,%d]", i, c.kind, c.n))
			one = append(one, milp.Term{Var: c.x, Coef: 1})
			// A job without a configuration costs siaIdle, so that each one in it counts for what it saves.
			goal = append(goal, milp.Term{Var: c.x, Coef: c.cost - siaIdle})
			rows.add(c.kind, &state.Jobs[i], c.n, c.x)
			all = append(all, c)
		}
		if len(one) > 0 {
			b.AtMost(fmt.Sprintf("one[%d]", i), one, 1)
		}
	}
	rows.build(b)
	b.Minimize(goal, 0)
	model, err := b.Build()
	if err != nil {
		return nil, err
	}
	// What everybody has is a solution to begin with: the search can only improve on it.
	hint := make([]float64, len(all))
	for i := range all {
		if held := p.book.kind(&state.Jobs[all[i].job]); held == all[i].kind && state.Jobs[all[i].job].Containers == all[i].n {
			hint[i] = 1
		}
	}
	solution, err := milp.Solve(ctx, bb.Solver{}, model, &milp.Options{NodeLimit: siaNodes, RelativeGap: siaGap, Hint: hint})
	if err != nil {
		return nil, err
	}
	var wants []want
	for i := range all {
		if solution.HasSolution() && solution.Value(all[i].x) > 0.5 || !solution.HasSolution() && hint[i] == 1 {
			wants = append(wants, all[i].want)
		}
	}
	return wants, nil
}
