// This file implements Gavel's max-min fairness: time on every type of accelerator by a linear program, [Narayanan20] §4.1,
// and rounds that follow it, §5.

package schedulers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/placement/sim"
)

// defaultRound is how long a round of Gavel lasts.
const defaultRound = 360 * time.Second

// leastRounds is how many times as long as a pause a round is at least.
const leastRounds = 4

// Gavel gives every job its fixed number of containers for a part of the time on every type of servers, so that the job
// that gains least in parts of what equal times would give it gains most. In every round those run first that are behind
// most. Between rounds nobody is moved; whoever comes takes what is free.
type Gavel struct {
	// round is how long nobody is moved, at least four times what a change costs: else turns would be all pause. 0 means
	// 360 s.
	round time.Duration
	book  book
	// next is when the next round begins.
	next time.Duration
	// parts is by job and type the part of the time that the program gives it.
	parts map[string][]float64
}

// Name returns "gavel".
func (*Gavel) Name() string { return "gavel" }

// Decide solves the program where jobs came or went, and begins a round where one is due.
func (p *Gavel) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	if err := p.book.open(state); err != nil || len(state.Jobs) == 0 {
		return sim.Orders{}, err
	}
	if len(state.Ended) > 0 || len(p.parts) != len(state.Jobs) || anyNew(state) {
		if err := p.solve(ctx, state); err != nil {
			return sim.Orders{}, err
		}
	}
	s := newSeats(&p.book, state)
	if state.Now < p.next {
		for i := range state.Jobs {
			if state.Jobs[i].Containers > 0 {
				s.keep(i)
			}
		}
		p.fill(s)
		orders := s.finish()
		p.ask(state, &orders)
		return orders, nil
	}
	orders := p.begin(state)
	// The round begins now, whenever it was due: nobody was there to ask for it.
	p.next = state.Now + max(cmp.Or(p.round, defaultRound), leastRounds*state.Scenario.AdjustCost)
	p.ask(state, &orders)
	return orders, nil
}

// ask asks for the next round, where anybody runs: where nobody does no round will change that.
func (p *Gavel) ask(state *sim.State, orders *sim.Orders) {
	p.book.close(state, orders)
	runs := map[string]bool{}
	for i := range state.Jobs {
		runs[state.Jobs[i].ID] = state.Jobs[i].Containers > 0
	}
	for i := range orders.Places {
		runs[orders.Places[i].Job] = len(orders.Places[i].On) > 0
	}
	for _, yes := range runs {
		if yes {
			orders.Next = p.next
		}
	}
}

// anyNew reports whether no decision has seen one of the jobs.
func anyNew(state *sim.State) bool {
	return slices.ContainsFunc(state.Jobs, func(j sim.JobState) bool { return j.New })
}

// turn is a job that may run on a type, and how far it is behind there.
// behind is the time that the program gives it, over the time that it has had: infinite at first, 1
// where both agree.
type turn struct {
	want
	behind float64
}

// turns returns who may run where, those first that are behind most; ties go to who came first, and to the first type.
func (p *Gavel) turns(state *sim.State) []turn {
	var all []turn
	for i := range state.Jobs {
		job := &state.Jobs[i]
		age := (state.Now - job.Arrival).Seconds()
		for k, part := range p.parts[job.ID] {
			if part <= 0 {
				continue
			}
			behind := math.Inf(1)
			if had := p.book.jobs[job.ID].on[k]; had > 0 {
				behind = part * age / had
			}
			all = append(all, turn{want{i, job.Fixed, k}, behind})
		}
	}
	// A job has a turn on each of its types; the first one that finds room counts.
	slices.SortStableFunc(all, func(a, b turn) int { return cmp.Compare(b.behind, a.behind) })
	return all
}

// begin returns the orders of a new round: who is behind most runs, and then whoever still fits.
func (p *Gavel) begin(state *sim.State) sim.Orders {
	chosen := newSeats(&p.book, state)
	var wants []want
	for _, t := range p.turns(state) {
		if !chosen.decided[t.job] && chosen.fits(t.want) {
			chosen.seat(t.want)
			wants = append(wants, t.want)
		}
	}
	for i := range state.Jobs {
		if !chosen.decided[i] && chosen.seatFastest(i, state.Jobs[i].Fixed) {
			last := chosen.orders.Places[len(chosen.orders.Places)-1]
			wants = append(wants, want{i, state.Jobs[i].Fixed, p.book.kindOf[last.On[0].Server]})
		}
	}
	return settle(&p.book, state, wants)
}

// fill gives what is free to those that wait.
func (p *Gavel) fill(s *seats) {
	for _, t := range p.turns(s.state) {
		if !s.decided[t.job] {
			s.seat(t.want)
		}
	}
	for i := range s.state.Jobs {
		if !s.decided[i] {
			s.seatFastest(i, s.state.Jobs[i].Fixed)
		}
	}
}

// leftover is what the mean gain counts beside the least one: what is over goes to somebody.
const leftover = 1e-3

// solve sets the parts of the time of all jobs,
//
//	max min_m z_m throughput(m, X)/throughput(m, equal)     sum_j X_mj <= 1,  sum_m z_m X_mj <= workers_j
//
// with z_m the containers of job m.
// Jobs x types + 1 variables, two rows a job, and one for each type and kind of resource. If the solver
// ends without a solution all parts are 0, and rounds serve everybody by speed alone.
func (p *Gavel) solve(ctx context.Context, state *sim.State) error {
	b := milp.NewBuilder("gavel")
	least := b.Continuous(0, math.Inf(1), "least")
	goal := []milp.Term{{Var: least, Coef: 1}}
	x := make([][]milp.Var, len(state.Jobs))
	rows := newRows(&p.book, state)
	for i := range state.Jobs {
		job := &state.Jobs[i]
		equal := p.equal(state, job)
		var time, gain []milp.Term
		x[i] = make([]milp.Var, len(p.book.kinds))
		for k, speeds := range p.book.jobs[job.ID].speeds {
			if job.Fixed > int64(len(speeds)) {
				continue
			}
			x[i][k] = b.Continuous(0, 1, fmt.Sprintf("x[%d,%d]", i, k))
			// Time with four containers counts four times: a job that asks for more of them is due less of it.
			ratio := float64(job.Fixed) * speeds[job.Fixed-1] / equal
			time = append(time, milp.Term{Var: x[i][k], Coef: 1})
			gain = append(gain, milp.Term{Var: x[i][k], Coef: ratio})
			goal = append(goal, milp.Term{Var: x[i][k], Coef: leftover * ratio / float64(len(state.Jobs))})
			rows.add(k, job, job.Fixed, x[i][k])
		}
		if len(time) > 0 {
			b.AtMost(fmt.Sprintf("time[%d]", i), time, 1)
			b.AtLeast(fmt.Sprintf("gain[%d]", i), append(gain, milp.Term{Var: least, Coef: -1}), 0)
		}
	}
	// Parts of the time are pooled over the servers of a type: rounds find out who fits when.
	rows.build(b)
	b.Maximize(goal, 0)
	model, err := b.Build()
	if err != nil {
		return err
	}
	solution, err := milp.Solve(ctx, bb.Solver{}, model, nil)
	if err != nil {
		return err
	}
	p.parts = make(map[string][]float64, len(state.Jobs))
	for i := range state.Jobs {
		job := &state.Jobs[i]
		parts := make([]float64, len(p.book.kinds))
		for k, speeds := range p.book.jobs[job.ID].speeds {
			if job.Fixed <= int64(len(speeds)) && solution.HasSolution() {
				// A simplex may leave a variable a rounding error below its bound.
				parts[k] = math.Max(0, solution.Value(x[i][k]))
			}
		}
		p.parts[job.ID] = parts
	}
	return nil
}

// equal returns the speed of a job that spends its time on all types, on each in proportion to its containers; at least a
// millionth, where no type holds it.
func (p *Gavel) equal(state *sim.State, job *sim.JobState) float64 {
	sum, total := 1e-6, 0.0
	for k, speeds := range p.book.jobs[job.ID].speeds {
		all, _ := p.book.kinds[k].holds(state.Scenario.Servers, job.Demand)
		total += float64(all)
		if job.Fixed <= int64(len(speeds)) {
			sum += float64(all) * speeds[job.Fixed-1]
		}
	}
	return sum / max(1, total)
}
