// This file implements decisions by what containers are worth: speeds, proportional fairness, attained service and the
// price of a restart, [Kelly98], [Gu19], [Qiao21].

package elastic

import (
	"context"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/internal/enum"
	"github.com/apportion/apportion/placement/sim"
)

// Price says what a restart costs a job that runs, in what its speeds are worth.
type Price uint8

// The prices.
const (
	// Flat multiplies the speeds of a job placed anew by 1 - AdjustCost/Horizon: it will run for about so long before the
	// next change.
	Flat Price = iota
	// Age multiplies them by worth.Restart: young jobs, and those moved often, are dear to move.
	Age
	// Free asks nothing.
	Free
)

var prices = []string{"flat", "age", "free"}

// String returns the name in lower case.
func (p Price) String() string { return enum.String(p, prices) }

// MarshalText returns what String returns.
func (p Price) MarshalText() ([]byte, error) { return enum.Marshal(p, prices) }

// UnmarshalText reads what MarshalText writes.
func (p *Price) UnmarshalText(text []byte) error { return enum.Unmarshal(p, text, prices) }

// defaultHorizon is how long Flat expects a job to run before its next change.
const defaultHorizon = 300 * time.Second

// Worth maximizes the sum of what the containers of all jobs are worth, by their speeds.
type Worth struct {
	// Label is its name; empty means "worth".
	Label string
	// Utility is what a speed is worth; nil means worth.Fair.
	Utility worth.Utility
	// Power weighs a job by (1 + service/Scale)^-Power; 0: all weigh alike. Scale is in container seconds; 0 means
	// 7,200.
	Power, Scale float64
	// Floor is what having no container is valued as, in parts of the speed with a fair number of them; 0 means
	// worth.DefaultFloor.
	Floor float64
	// Price is what a restart costs; Horizon is for Flat, 0 means 300 s.
	Price   Price
	Horizon time.Duration
	// Any lets a job have any number of containers; without it one that needs more than a server gets whole servers.
	Any bool
	// Preempt lets a job that runs be suspended for others that gain more; without it each one that runs keeps its least
	// number of containers, and who comes waits until he finds room for his.
	Preempt bool
	// Linear takes every container for worth the same, up to Job.Fixed: no curve.
	Linear bool
	// Weigh, if not nil, is a further factor of a job's weight; positive.
	Weigh func(*sim.JobState) float64
	// Theta1 and Theta2 are the budgets (15) and (16); 0 means 1: none. The smallest is a number just above 0.
	Theta1, Theta2 float64
	// Loss is what Theta1 bounds: losses in shares, or of speed.
	Loss alloc.LossMeasure
	// Observe, if not nil, sees every problem and its decision.
	Observe func(*alloc.Problem, *alloc.Decision)

	book      book
	optimizer optimizer
}

// defaultScale is the service, in container seconds, that halves the weight of a job at power 1.
const defaultScale = 7200

// Name returns the label.
func (p *Worth) Name() string {
	if p.Label == "" {
		return "worth"
	}
	return p.Label
}

// Decide states the worths of all jobs and asks the optimizer.
// The order matters: the book is opened before anything asks for speeds, and closed with the state from
// before the orders. A decision costs what package alloc takes for it, and on several types one program
// of Sia more.
func (p *Worth) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	if err := p.book.open(state); err != nil || len(state.Jobs) == 0 {
		return sim.Orders{}, err
	}
	problem := state.Problem()
	problem.Theta1, problem.Theta2, problem.Options.Loss = orOne(p.Theta1), orOne(p.Theta2), p.Loss
	types, err := p.types(ctx, state)
	if err != nil {
		return sim.Orders{}, err
	}
	// Who is on a type shares it: a fair number of containers is what it holds over those who have chosen it.
	takers := make([]float64, len(p.book.kinds))
	for _, k := range types {
		takers[k]++
	}
	for i := range problem.Applications {
		k := types[i]
		if err := p.state(state, i, k, takers[k], &problem.Applications[i]); err != nil {
			return sim.Orders{}, err
		}
		requireType(&p.book, &problem.Applications[i], k)
	}
	p.optimizer.observe = p.Observe
	orders, err := p.optimizer.decide(ctx, state, problem)
	p.book.close(state, &orders)
	return orders, err
}

// orOne returns a budget, 1 for 0.
func orOne(theta float64) float64 {
	if theta == 0 {
		return 1
	}
	return theta
}

// types returns a type of servers for each job: that of its configuration in Sia's program where there are several, and
// otherwise that which it is on, or on which it is fastest.
// Options of alloc.Application have worths by type too; here the type is chosen before, and the optimizer keeps to it.
func (p *Worth) types(ctx context.Context, state *sim.State) ([]int, error) {
	types := make([]int, len(state.Jobs))
	if len(p.book.kinds) < 2 {
		return types, nil
	}
	// Where the program gives a job nothing it stays, or waits for the type on which it is fastest.
	for i := range types {
		job := &state.Jobs[i]
		if types[i] = p.book.kind(job); types[i] < 0 {
			types[i] = max(0, p.book.jobs[job.ID].fastest(max(1, job.Min)))
		}
	}
	// The program sees what this policy has noted of the jobs.
	wants, err := (&Sia{book: p.book}).solve(ctx, state)
	for _, w := range wants {
		types[w.job] = w.kind
	}
	return types, err
}

// state fills in what containers on a type are worth to a job that shares the type with so many takers, itself among them.
// A job that the type cannot hold has no worth: package alloc says why it waits.
func (p *Worth) state(state *sim.State, at, k int, takers float64, app *alloc.Application) error {
	job := &state.Jobs[at]
	r := p.book.jobs[job.ID]
	// Idle containers do no harm, so that a worth never falls with their number.
	speeds := rising(r.speeds[k])
	if p.Linear {
		speeds = speeds[:min(int64(len(speeds)), job.Fixed)]
		for i := range speeds {
			speeds[i] = speeds[0] * float64(i+1)
		}
	}
	// No counts and no worth: package alloc refuses the job by its own bounds, and says so.
	if int64(len(speeds)) < max(1, job.Min) {
		return nil
	}
	all, one := p.book.kinds[k].holds(state.Scenario.Servers, job.Demand)
	// With Preempt nobody is guaranteed anything, and IdleWorth says what it is worth to wait.
	app.Min, app.Max = 0, int64(len(speeds))
	if !p.Preempt {
		app.Min = max(1, job.Min)
	}
	app.Counts = p.counts(app.Max, max(1, job.Min), one)
	w := worth.Job{Weight: worth.Attained(r.service, orElse(p.Scale, defaultScale), p.Power), Floor: p.Floor, Restart: p.restart(state, job, r)}
	if p.Weigh != nil {
		w.Weight *= p.Weigh(job)
	}
	for _, n := range app.Counts {
		w.Speeds = append(w.Speeds, speeds[n-1])
	}
	if p.Loss == alloc.LossInWorth {
		app.Speed = w.Speeds
	}
	// The unit in which speeds are valued: 1 is what an equal part of the type would do.
	w.Fair = worth.FairSpeed(app.Counts, w.Speeds, float64(all)/takers)
	// What it has is worth its speed there, on whatever servers.
	// A job in the pause after a restart has the rate 0. It holds what it was given all the same, or
	// one restart would be followed by the next.
	w.Held = float64(job.Rate) / float64(sim.Whole)
	if n := job.Containers; n > 0 && (w.Held == 0 || p.Linear) {
		w.Held = speeds[min(n, int64(len(speeds)))-1]
	}
	utility := p.Utility
	if utility == nil {
		utility = worth.Fair
	}
	worths, err := worth.Of(&w, utility)
	if err != nil {
		return err
	}
	// StayWorth has no restart in it, which is what keeps jobs where they are.
	app.Worth, app.StayWorth = worths.Worth, worths.Stay
	if p.Preempt {
		app.IdleWorth = worths.Idle
	}
	return nil
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
	horizon := p.Horizon
	if horizon == 0 {
		horizon = defaultHorizon
	}
	return max(0.01, 1-cost.Seconds()/horizon.Seconds())
}

// orElse returns x, or what 0 means.
func orElse(x, zero float64) float64 {
	if x == 0 {
		return zero
	}
	return x
}
