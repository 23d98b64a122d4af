// This file implements decisions by what containers are worth: speeds, proportional fairness, attained service and the
// price of a restart, [Kelly98], [Gu19], [Qiao21].

package schedulers

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/placement/sim"
)

// Price says what a restart costs a job that runs, in what its speeds are worth.
type Price string

// The prices.
const (
	// Flat multiplies the speeds of a job placed anew by 1 - AdjustCost/Horizon: it will run for about so long before the
	// next change.
	Flat Price = ""
	// Age multiplies them by worth.Restart: young jobs, and those moved often, are dear to move.
	Age Price = "age"
	// Free asks nothing.
	Free Price = "free"
)

// defaultHorizon is how long Flat expects a job to run before its next change.
const defaultHorizon = 300 * time.Second

// Worth maximizes the sum of what the containers of all jobs are worth, by their speeds.
type Worth struct {
	// Utility is what a speed is worth; nil means worth.Fair.
	Utility worth.Utility
	// Power weighs a job by (1 + service/7,200 container seconds)^-Power; 0: all weigh alike.
	Power float64
	// Price is what a restart costs; Horizon is for Flat, 0 means 300 s.
	Price   Price
	Horizon time.Duration
	// Any lets a job have any number of containers; without it one that needs more than a server gets whole servers.
	Any bool
	// Place is what worths know of servers. InBlocks has its own numbers, powers of two up to a server and whole servers.
	Place Place
	// Preempt lets a job that runs be suspended for others that gain more; without it each one that runs keeps its least
	// number of containers, and who comes waits until he finds room for his.
	Preempt bool
	// Linear takes every container for worth the same, up to Job.Fixed: no curve.
	Linear bool
	// Weigh, if not nil, is a further factor of a job's weight; positive.
	Weigh func(*sim.JobState) float64
	// Theta1 and Theta2 are the budgets (15) and (16); 0 means 1: none. The smallest is a number just above 0.
	Theta1, Theta2 float64
	// ChargeGrowth counts the first growth of a job against Theta2 as well. Without it changes cost a job nothing until it has
	// grown once: those that begin with few containers would wait for their turn as long as others are adjusted.
	ChargeGrowth bool
	// Loss is what Theta1 bounds: losses in shares, or of speed.
	Loss alloc.LossMeasure
	// Observe, if not nil, sees every problem and its decision.
	Observe func(*alloc.Problem, *alloc.Decision)

	book      book
	optimizer optimizer
}

// scale is the service, in container seconds, that halves the weight of a job at power 1.
const scale = 7200

// Name returns "worth".
func (*Worth) Name() string { return "worth" }

// Decide states the worths of all jobs and asks the optimizer, which decides on types and numbers at once.
func (p *Worth) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	if err := p.book.open(state); err != nil || len(state.Jobs) == 0 {
		return sim.Orders{}, err
	}
	problem := state.Problem()
	problem.Theta1, problem.Theta2, problem.Options.Loss = cmp.Or(p.Theta1, 1), cmp.Or(p.Theta2, 1), p.Loss
	for i := range problem.Applications {
		if p.Theta2 > 0 && !p.ChargeGrowth && !p.book.jobs[state.Jobs[i].ID].grown {
			problem.Applications[i].AdjustCost = new(int64)
		}
		if err := p.state(state, i, &problem.Applications[i]); err != nil {
			return sim.Orders{}, err
		}
		if p.Place == InBlocks {
			hold(&problem.Applications[i], problem.Previous[state.Jobs[i].ID])
		}
	}
	p.optimizer.observe = p.Observe
	orders, err := p.optimizer.decide(ctx, state, problem)
	p.book.close(state, &orders)
	return orders, err
}

// way is a job on one type, which holds so many of its containers: the numbers of blocks that it may have there, and its speeds with
// them. A block is one container but for InBlocks.
type way struct {
	kind   int
	block  int64
	holds  int64
	counts []int64
	speeds []float64
}

// ways returns those types that hold a job, and its fair speed: the mean over them, by size, of its speed with an equal
// part of the cluster.
func (p *Worth) ways(state *sim.State, job *sim.JobState) (ways []way, fair float64) {
	var total int64
	for k, speeds := range p.book.jobs[job.ID].speeds {
		least := max(1, job.Min)
		all, one := p.book.kinds[k].holds(state.Scenario.Servers, job.Demand)
		if p.Linear {
			speeds = speeds[:min(int64(len(speeds)), job.Fixed)]
		}
		if int64(len(speeds)) < least {
			continue
		}
		w := way{kind: k, block: 1, holds: all, counts: p.counts(int64(len(speeds)), least, one)}
		up := rising(speeds)
		for _, n := range w.counts {
			speed := up[n-1]
			if p.Linear {
				speed = up[0] * float64(n)
			}
			w.speeds = append(w.speeds, speed)
		}
		ways, total = append(ways, w), total+all
	}
	part := float64(total) / float64(len(state.Jobs))
	for _, w := range ways {
		fair += float64(w.holds) / float64(total) * worth.FairSpeed(w.counts, w.speeds, part)
	}
	if p.Place == InBlocks && len(ways) > 0 {
		_, one := p.book.kinds[0].holds(state.Scenario.Servers, job.Demand)
		ways = inBlocks(&ways[0], rising(p.book.jobs[job.ID].speeds[0]), one)
	}
	return ways, fair
}

// state fills in what containers are worth to a job: by options where there are several types.
// A job that no type can hold has no worth: package alloc says why it waits.
func (p *Worth) state(state *sim.State, at int, app *alloc.Application) error {
	job := &state.Jobs[at]
	r := p.book.jobs[job.ID]
	ways, fair := p.ways(state, job)
	if len(ways) == 0 {
		return nil
	}
	utility := p.Utility
	if utility == nil {
		utility = worth.Fair
	}
	w := worth.Job{Weight: worth.Attained(r.service, scale, p.Power), Restart: p.restart(state, job, r), Fair: fair}
	if p.Weigh != nil {
		w.Weight *= p.Weigh(job)
	}
	w.Held = p.held(job, ways)
	for _, way := range ways {
		w.Speeds = way.speeds
		worths, err := worth.Of(&w, utility)
		if err != nil {
			return err
		}
		// StayWorth has no restart in it, which is what keeps jobs where they are.
		app.StayWorth = worths.Stay
		o := alloc.Option{ID: p.option(way.kind), Form: alloc.Form{Demand: job.Demand, Requires: p.book.requires(way.kind),
			Min: max(1, job.Min), Counts: way.counts, Worth: worths.Worth}}
		switch p.Place {
		case ByServers:
			o.Worth = nil
			if o.WorthOn, err = p.worthOn(state, job, &way, w, utility); err != nil {
				return err
			}
		case InBlocks:
			o.ID, o.Min, o.Demand = block(way.block), 1, times(job.Demand, way.block)
		}
		// With Preempt nobody is guaranteed anything, and IdleWorth says what it is worth to wait.
		if p.Preempt {
			o.Min, app.IdleWorth = 0, worths.Idle
		}
		if p.Loss == alloc.LossInWorth {
			o.Speed = way.speeds
		}
		app.Options = append(app.Options, o)
	}
	// One option is the application itself, which the optimizer decides on sooner.
	if len(app.Options) == 1 {
		o := &app.Options[0]
		app.Form, app.Options = o.Form, nil
		app.Max = slices.Max(o.Counts)
		return nil
	}
	app.Demand, app.Min, app.Max = nil, 0, 0
	if k := p.book.kind(job); k >= 0 {
		app.Option = p.option(k)
	}
	return nil
}

// option returns the ID of the option of a type.
func (p *Worth) option(kind int) string { return Accelerator + "=" + p.book.kinds[kind].name }

// held returns how fast a job runs with what it has, on whatever servers.
// A job in the pause after a restart has the rate 0. It holds what it was given all the same, or one restart would be
// followed by the next.
func (p *Worth) held(job *sim.JobState, ways []way) float64 {
	held := float64(job.Rate) / float64(sim.Whole)
	for _, w := range ways {
		if w.kind == p.book.kind(job) && job.Containers%w.block == 0 && (held == 0 || p.Linear) {
			at, _ := slices.BinarySearch(w.counts, job.Containers/w.block)
			held = w.speeds[min(at, len(w.speeds)-1)]
		}
	}
	return held
}

// counts returns the numbers of containers that a job may have, from least to most: all that fit on one server, and then
// whole servers; all of them with Any.
// perServer is at least 1: a job of which no server holds a container has been given up before.
func (p *Worth) counts(most, least, perServer int64) []int64 {
	var counts []int64
	// A job on several servers that leaves one half empty would keep others from whole ones.
	for n := least; n <= most; n++ {
		if p.Any || n <= perServer || n%perServer == 0 {
			counts = append(counts, n)
		}
	}
	return counts
}

// restart returns what is left of a job's speeds if it is placed anew.
// 1 is all of them: the restart costs nothing.
func (p *Worth) restart(state *sim.State, job *sim.JobState, r *record) float64 {
	cost := state.Scenario.AdjustCost
	switch p.Price {
	case Age:
		return worth.Restart(state.Now-job.Arrival, cost, r.restarts)
	case Free:
		return 1
	}
	// A pause of cost seconds in every horizon seconds leaves this part of a speed; a hundredth at least, as
	// nothing has no logarithm.
	return max(0.01, 1-cost.Seconds()/cmp.Or(p.Horizon, defaultHorizon).Seconds())
}
