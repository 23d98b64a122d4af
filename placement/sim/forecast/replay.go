// This file plays one replay: a scenario with lengths that are drawn, and jobs that will come.

package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/placement/sim"
)

// duration returns seconds as a time, at least a nanosecond: no job ends at once.
func duration(seconds float64) time.Duration {
	return max(1, time.Duration(min(seconds, mostSeconds)*float64(time.Second)))
}

// replay plays the numbered replay. It returns how many decisions of package alloc it took.
func (c *forecastCase) replay(ctx context.Context, number uint64) (result *sim.Result, decisions int, err error) {
	random := rand.New(rand.NewPCG(c.Seed, number))
	own := &Decisions{Problem: c.problem, Effort: c.Effort, Seed: c.Seed, Most: c.Decisions, first: &c.opening}
	policy := sim.Policy(own)
	if c.Policy != nil {
		policy = c.Policy()
	}
	shared := c.opening.decision != nil
	result, err = sim.Run(ctx, c.scenario(random), &until{Policy: policy, waiting: c.watched(), ends: !c.StartsOnly})
	if shared && own.Taken > 0 {
		own.Taken-- // the first one is that of an earlier replay
	}
	return result, own.Taken, err
}

// scenario draws lengths and arrivals.
func (c *forecastCase) scenario(random *rand.Rand) *sim.Scenario {
	p := c.problem
	s := &sim.Scenario{Kinds: p.Kinds, Servers: p.Servers, AdjustCost: time.Duration(c.AdjustCost * float64(time.Second)), Horizon: duration(c.horizon), Unmeasured: true}
	shared := make(map[[2]string]draws)
	for _, i := range c.order {
		app, d := &p.Applications[i], drawsFrom(random)
		// Numbers are drawn whether they are used or not, so that what is shared changes nothing for the others.
		if key := [2]string{c.queue(i), c.known[i].User}; !c.Alone {
			if first, there := shared[key]; there {
				d = first
			}
			shared[key] = d
		}
		seconds, known := c.left(i, d)
		if !known {
			seconds = mostSeconds
		}
		job := jobOf(app, seconds)
		if job.Held = c.places[i]; job.Held != nil {
			job.Work, job.Speedup = workOn(app, p.Previous.Containers(app.ID), seconds)
		}
		s.Jobs = append(s.Jobs, job)
	}
	for n, a := range c.stretch(random) {
		a.Application.ID = fmt.Sprintf("arrival %d of the replay", n)
		job := jobOf(&a.Application, a.Length)
		job.Arrival = duration(a.At)
		s.Jobs = append(s.Jobs, job)
	}
	return s
}

// stretch draws a beginning, and returns the arrivals from there on to the horizon, counted from it. After the last arrival of the past
// the first one comes again.
func (c *forecastCase) stretch(random *rand.Rand) (list []Arrival) {
	if len(c.Arrivals) == 0 {
		return nil
	}
	byTime := slices.SortedStableFunc(slices.Values(c.Arrivals), func(a, b Arrival) int { return cmp.Compare(a.At, b.At) })
	first, last := byTime[0].At, byTime[len(byTime)-1].At
	span := last - first + (last-first+1)/float64(len(byTime))
	from := first + float64(random.Float64()*span)
	start, _ := slices.BinarySearchFunc(byTime, from, func(a Arrival, t float64) int { return cmp.Compare(a.At, t) })
	for n := start; ; n++ {
		a := byTime[n%len(byTime)]
		if a.At += float64(float64(n/len(byTime))*span) - from; a.At >= c.horizon {
			return list
		}
		list = append(list, a)
	}
}

// jobOf returns an application as a job of the simulation that takes so long on its fewest containers.
func jobOf(app *alloc.Application, seconds float64) sim.Job {
	job := sim.Job{Application: *app, Fixed: fewest(app)}
	// The queues are those of the problem, which the simulation does not know.
	job.Queue = ""
	job.Work, job.Speedup = workOn(app, job.Fixed, seconds)
	return job
}

// workOn returns the work of an application that takes so long on n containers, and its speed, which is 1 there: by its Speed, else
// by their number.
func workOn(app *alloc.Application, n int64, seconds float64) (time.Duration, sim.Speedup) {
	speed := func(n int64) float64 { return float64(n) }
	if len(app.Speed) > 0 {
		at := make(map[int64]float64, len(app.Speed))
		counts := numbers(app)
		for k := range min(len(counts), len(app.Speed)) {
			at[counts[k]] = app.Speed[k]
		}
		speed = func(n int64) float64 { return at[n] }
	}
	base := speed(n)
	if base == 0 {
		base = 1
	}
	slowest := max(leastSpeed, min(1, speed(fewest(app))/base))
	return duration(min(seconds, longest*slowest)), func(m int64) float64 { return max(speed(m)/base, leastSpeed) }
}

// leastSpeed stands for a speed of 0, which a simulation does not know. longest is how many seconds a job may take at its slowest, so
// that its end and the horizon together are within int64 nanoseconds.
const leastSpeed, longest = 1e-3, 8e9

// fewest returns the fewest containers with which an application runs.
func fewest(app *alloc.Application) int64 {
	least, step := max(1, app.Min), max(1, app.Step)
	for _, n := range app.Counts {
		if n >= least {
			return n
		}
	}
	return min(app.Max, (least+step-1)/step*step)
}

// numbers lists the numbers of containers above 0 that an application may have.
func numbers(app *alloc.Application) (list []int64) {
	for _, n := range app.Counts {
		if n >= app.Min && n <= app.Max {
			list = append(list, n)
		}
	}
	if app.Counts != nil {
		return list
	}
	step := max(1, app.Step)
	for n := fewest(app); n <= app.Max && len(list) < len(app.Speed); n += step {
		list = append(list, n)
	}
	return list
}

// watched returns the jobs that are asked for, by ID.
func (c *forecastCase) watched() map[string]bool {
	ids := make(map[string]bool)
	for i, asked := range c.asked {
		if asked {
			ids[c.problem.Applications[i].ID] = true
		}
	}
	return ids
}

// until ends a replay when all that is asked for is known.
type until struct {
	sim.Policy
	// waiting are the jobs of which something is still to be seen, their end or only their start.
	waiting map[string]bool
	ends    bool
}

// Decide decides like the policy.
func (u *until) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	for _, id := range state.Ended {
		delete(u.waiting, id)
	}
	if !u.ends {
		for i := range state.Jobs {
			if state.Jobs[i].Containers > 0 {
				delete(u.waiting, state.Jobs[i].ID)
			}
		}
	}
	orders, err := u.Policy.Decide(ctx, state)
	for _, id := range orders.Refused {
		delete(u.waiting, id)
	}
	if !u.ends {
		for _, place := range orders.Places {
			if len(place.On) > 0 {
				delete(u.waiting, place.Job)
			}
		}
	}
	orders.Stop = orders.Stop || len(u.waiting) == 0
	return orders, err
}
