// This file finds the moments that are judged: a job is submitted and has to wait, and what is known then.

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/forecast"
	"github.com/apportion/apportion/placement/sim/policies"
)

// policyNames are the policies that may decide.
var policyNames = []string{"easy", "wfp", "fifo", "decisions"}

// moment is the cluster when a job has been submitted and was not started at once.
type moment struct {
	at float64
	// asked is the position of the job, start what became of it: the truth, in seconds after at.
	asked int
	start float64
	// problem is what a scheduler knows, known what a forecast knows beside.
	problem *alloc.Problem
	known   []forecast.Known
	// lengths are the true ones, of which nobody knows then, in the order of known.
	lengths []float64
	// waited is how long those that wait have waited.
	waited map[string]float64
}

// cluster returns the cluster.
func (o *options) cluster() (list []apportion.Server) {
	for j := range o.servers {
		list = append(list, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{o.size}})
	}
	return list
}

// application returns a job as package alloc sees it.
func (j *job) application() alloc.Application {
	limit := j.limit
	return alloc.Application{ID: j.id, Weight: 1, Ends: &limit, Form: alloc.Form{Demand: apportion.Resources{1}, Min: j.units, Max: j.units}}
}

// policyOf returns the policy, for a problem of which some have waited.
func (o *options) policyOf(p *alloc.Problem, waited map[string]float64) sim.Policy {
	switch o.policy {
	case "wfp":
		return &policies.EASY{Score: wfp, Waited: waited}
	case "fifo":
		return &policies.FIFO{Backfill: true}
	case "decisions":
		return &forecast.Decisions{Problem: p}
	}
	return &policies.EASY{}
}

// wfp is the score of Theta's scheduler, [Allcock17 §3]: (wait / limit)^3 times the nodes.
func wfp(waited, limit, units float64) float64 { return math.Pow(waited/limit, 3) * units }

// empty returns the problem without applications.
func (o *options) empty() *alloc.Problem {
	return &alloc.Problem{Kinds: apportion.Kinds{"units"}, Servers: o.cluster(), Theta1: 0.1, Theta2: 0.1}
}

// watch plays the jobs under the policy with their true lengths, or takes what the trace says, and returns the moments of the second half. The jobs
// have the waits that are judged then.
func watch(ctx context.Context, o *options, jobs []job) ([]*moment, []job, error) {
	starts := make([]float64, len(jobs))
	for i := range jobs {
		starts[i] = jobs[i].submit + jobs[i].wait
	}
	told := &noting{}
	if !o.real {
		s := &sim.Scenario{Kinds: apportion.Kinds{"units"}, Servers: o.cluster(), Unmeasured: true}
		p := o.empty()
		for i := range jobs {
			app := jobs[i].application()
			p.Applications = append(p.Applications, app)
			s.Jobs = append(s.Jobs, sim.Job{
				Application: app, Arrival: seconds(jobs[i].submit), Work: seconds(jobs[i].length * float64(jobs[i].units)), Fixed: jobs[i].units,
			})
		}
		told.Policy = o.policyOf(p, nil)
		if d, own := told.Policy.(*forecast.Decisions); own {
			d.Observe = func(decision *alloc.Decision) { told.last = decision }
		}
		result, err := sim.Run(ctx, s, told)
		if err != nil {
			return nil, nil, err
		}
		told.result = result
		for i := range jobs {
			starts[i] = result.Jobs[i].Start.Seconds()
			jobs[i].wait = starts[i] - jobs[i].submit
		}
	}
	var late []int
	for i := range jobs {
		if jobs[i].submit >= o.days*day/2 && o.mustWait(jobs, starts, i) {
			late = append(late, i)
		}
	}
	var moments []*moment
	for n := range min(o.samples, len(late)) {
		m := o.moment(jobs, starts, late[n*len(late)/min(o.samples, len(late))])
		told.handOn(m, jobs)
		moments = append(moments, m)
	}
	return moments, jobs, nil
}

// noting notes what was decided when.
type noting struct {
	sim.Policy
	result    *sim.Result
	last      *alloc.Decision
	at        []float64
	decisions []*alloc.Decision
}

// Decide decides like the policy.
func (n *noting) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	orders, err := n.Policy.Decide(ctx, state)
	n.at, n.decisions = append(n.at, state.Now.Seconds()), append(n.decisions, n.last)
	return orders, err
}

// handOn tells a moment where the jobs are that run, and what the last decision says of those that wait, as a scheduler would.
func (n *noting) handOn(m *moment, jobs []job) {
	if n.result == nil {
		return
	}
	for id := range m.problem.Previous {
		k := slices.IndexFunc(jobs, func(j job) bool { return j.id == id })
		held := make(map[string]int64)
		for _, span := range n.result.Jobs[k].Spans {
			if span.From.Seconds() <= m.at && m.at < span.Until.Seconds() {
				for _, p := range span.Places {
					held[m.problem.Servers[p.Server].ID] = p.Count
				}
			}
		}
		m.problem.Previous[id] = held
	}
	i, there := slices.BinarySearch(n.at, m.at)
	if there {
		i++
	}
	if i > 0 && n.decisions[i-1] != nil {
		n.decisions[i-1].HandOn(m.problem)
	}
}

// mustWait reports whether a job could not start at its submission: under the policy it did not, and in a trace, where a scheduler takes its
// time, more is asked for than was free.
func (o *options) mustWait(jobs []job, starts []float64, i int) bool {
	if !o.real {
		return starts[i] > jobs[i].submit+1e-6
	}
	free := o.servers * o.size
	for k := range jobs[:i] {
		if starts[k] <= jobs[i].submit && jobs[i].submit < starts[k]+jobs[k].length {
			free -= jobs[k].units
		}
	}
	return jobs[i].units > free
}

// moment returns what is known just after the submission of job i.
func (o *options) moment(jobs []job, starts []float64, i int) *moment {
	m := &moment{at: jobs[i].submit, asked: i, start: starts[i] - jobs[i].submit, waited: make(map[string]float64)}
	m.problem = o.empty()
	m.problem.Previous = make(alloc.Allocation)
	free := make([]int64, o.servers)
	for h := range free {
		free[h] = o.size
	}
	for k := range jobs[:i+1] {
		j := &jobs[k]
		if starts[k]+j.length <= m.at {
			continue
		}
		app, known := j.application(), forecast.Known{ID: j.id, User: j.user, Queue: j.queue}
		// What starts in this very moment has been decided on with the job.
		if starts[k] <= m.at && k != i {
			known.Ran = m.at - starts[k]
			left := max(0, j.limit-known.Ran)
			app.Ends = &left
			m.problem.Previous[j.id] = make(map[string]int64)
			for _, p := range take(free, j.units) {
				m.problem.Previous[j.id][m.problem.Servers[p.Server].ID] = p.Count
			}
		} else {
			m.waited[j.id] = m.at - j.submit
		}
		m.problem.Applications, m.known, m.lengths = append(m.problem.Applications, app), append(m.known, known), append(m.lengths, j.length)
	}
	return m
}

// take places units on the first servers with room, which it takes from free.
func take(free []int64, units int64) (on []apportion.Placement) {
	for h := range free {
		if n := min(free[h], units); n > 0 {
			on = append(on, apportion.Placement{Server: h, Count: n})
			free[h] -= n
			units -= n
		}
	}
	return on
}

// history returns the runs that have ended by a moment, in the order of their ends, and the arrivals of the days before it.
func history(jobs []job, at float64) (runs []forecast.Run, arrivals []forecast.Arrival) {
	var ended []int
	for k := range jobs {
		j := &jobs[k]
		if j.submit+j.wait+j.length <= at {
			ended = append(ended, k)
		}
		if j.submit < at && j.submit >= at-window {
			arrivals = append(arrivals, forecast.Arrival{At: j.submit, Application: j.application(), Length: j.length})
		}
	}
	end := func(k int) float64 { return jobs[k].submit + jobs[k].wait + jobs[k].length }
	slices.SortStableFunc(ended, func(a, b int) int { return cmp.Compare(end(a), end(b)) })
	for _, k := range ended {
		runs = append(runs, forecast.Run{User: jobs[k].user, Queue: jobs[k].queue, Length: jobs[k].length, Limit: jobs[k].limit})
	}
	return runs, arrivals
}

// window is how far back arrivals are taken from: two weeks, so that every day of a week is there twice.
const window = 14 * day
