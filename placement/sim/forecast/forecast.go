// This file forecasts starts and ends by replays, each with other lengths, [Smith99 §3]; [Nurmi07 §2].

package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/placement/sim"
)

// mostSeconds bounds every time, ten years, so that sums of them in nanoseconds stay within int64.
const mostSeconds = 10 * 365 * 86400

// UnknownLengths is the Constraint of a forecast for which nothing is known of how long jobs run.
const UnknownLengths = "lengths of jobs"

// Known is what is known of one application beside the problem.
type Known struct {
	// ID is that of the application.
	ID string `json:"id"`
	// User is its user, for the history.
	User string `json:"user,omitempty"`
	// Queue is its queue, for the history; empty: that of the application.
	Queue string `json:"queue,omitempty"`
	// Ran is for how long it has run, in seconds.
	Ran float64 `json:"ran,omitzero"`
	// Left are lengths that it may still run on what it holds, or waiting on its fewest containers, in seconds, each as likely as the
	// others: one is certain, several may come from growth. nil: the history and Application.Ends say.
	Left []float64 `json:"left,omitzero"`
}

// Arrival is a job that was submitted in the past: others like it will come.
type Arrival struct {
	// At is when it was submitted, in seconds from any origin that all arrivals share.
	At float64
	// Application is what it asked for; its ID has no meaning. Length is how long it ran on its fewest containers, in seconds.
	Application alloc.Application
	Length      float64
}

// Options are the settings of a forecast; the zero value is what is recommended where the cost allows.
type Options struct {
	// Replays is how many are played; 0 means 32.
	Replays int
	// Horizon is how far they look, in seconds; 0 means a week.
	Horizon float64
	// Seed chooses the random numbers.
	Seed uint64
	// History has the runs from which lengths are drawn; nil: a job runs as long as its Ends says.
	History *History
	// Arrivals are those of the past, of which each replay plays a stretch as long as the horizon; nil: nothing arrives.
	Arrivals []Arrival
	// AdjustCost is what each change of a running job's containers costs it, in seconds.
	AdjustCost float64
	// Asked are the applications that are asked for; nil: all that wait.
	Asked []string
	// StartsOnly ends a replay with the last start of those that are asked for, so that Ends are not known.
	StartsOnly bool
	// Alone lets every job draw its length for itself. Otherwise those of one user and queue share the draw of a replay, as jobs
	// that were submitted together are alike.
	Alone bool
	// Policy returns a fresh policy for one replay, in place of the decisions of package alloc. It sees all running jobs in its first
	// decision, in the order of the problem.
	Policy func() sim.Policy
	// Effort is that of each decision; 0 means embedded.Quick.
	Effort embedded.Effort
	// Decisions bounds the decisions of package alloc in a replay: they are taken densely at first, and then each time that a
	// further part of the jobs has ended, so that starts are late by as much. 0: at every arrival and completion.
	Decisions int
}

// Quantiles are the tenth, the half and nine tenths of a distribution, in seconds from now; nil: later than the horizon.
type Quantiles struct {
	P10 *float64 `json:"p10,omitempty"`
	P50 *float64 `json:"p50,omitempty"`
	P90 *float64 `json:"p90,omitempty"`
}

// Times are when one application starts and ends.
type Times struct {
	ID    string    `json:"id"`
	Start Quantiles `json:"start"`
	// End has no quantiles with Options.StartsOnly.
	End Quantiles `json:"end"`
	// Starts are those of all replays, ascending; those later than the horizon are left out.
	Starts []float64 `json:"-"`
}

// Forecast is when applications start and end.
type Forecast struct {
	// Jobs are those that were asked for, in the order of the problem; empty where Reason says why.
	Jobs []Times `json:"jobs"`
	// Reason is the zero Reason, or says that nothing is known of lengths.
	Reason apportion.Reason `json:"reason,omitzero"`
	// Unknown are the applications of whose length nothing is known, which run beyond the horizon in every replay.
	Unknown []string `json:"unknown,omitzero"`
	// Replays and Horizon repeat the settings; Decisions is how many decisions of package alloc all replays took.
	Replays   int     `json:"replays"`
	Horizon   float64 `json:"horizon"`
	Decisions int     `json:"decisions"`
}

// New forecasts when the applications of p start and end that wait there, or are asked for. known may leave out applications; o may be nil.
// The same input gives the same forecast.
//
// Errors: what p.Validate finds; apportion.Faults for known (ErrUnknown for an ID, ErrNegative, ErrNotFinite and ErrRange for times) and for
// the settings; what the policy returns; that of ctx when it ends. The cost is that of the decisions: Replays times the jobs that
// start and end within the horizon, or Options.Decisions.
func New(ctx context.Context, p *alloc.Problem, known []Known, o *Options) (*Forecast, error) {
	if o == nil {
		o = &Options{}
	}
	c, err := newCase(p, known, o)
	if err != nil {
		return nil, err
	}
	f := &Forecast{Jobs: []Times{}, Unknown: c.unknown(), Replays: c.replays, Horizon: c.horizon}
	if len(f.Unknown) > 0 && len(f.Unknown) == len(p.Applications) {
		f.Reason = apportion.Reason{Constraint: UnknownLengths, Need: 1,
			Text: "nothing is known of how long any job runs: state ends, what is left, or what ran before"}
		return f, nil
	}
	starts, ends := make([][]float64, len(p.Applications)), make([][]float64, len(p.Applications))
	for replay := range uint64(c.replays) {
		result, taken, err := c.replay(ctx, replay)
		if err != nil {
			return nil, fmt.Errorf("forecast: replay %d: %w", replay, err)
		}
		f.Decisions += taken
		for i := range p.Applications {
			if job := &result.Jobs[c.job(i)]; job.Started {
				starts[i] = append(starts[i], job.Start.Seconds())
				if job.Completed {
					ends[i] = append(ends[i], job.Completion.Seconds())
				}
			}
		}
	}
	for i := range p.Applications {
		if !c.asked[i] {
			continue
		}
		slices.Sort(starts[i])
		slices.Sort(ends[i])
		f.Jobs = append(f.Jobs, Times{ID: p.Applications[i].ID, Start: c.quantiles(starts[i]), End: c.quantiles(ends[i]), Starts: starts[i]})
	}
	return f, nil
}

// quantiles are order statistics: of n replays like the truth the truth is at most the r-th with probability r/(n+1), so that P90 is
// the first one that has nine tenths. Replays that are not in the list are later than all.
func (c *forecastCase) quantiles(ascending []float64) Quantiles {
	at := func(part float64, round func(float64) float64) *float64 {
		r := int(round(part * float64(c.replays+1)))
		if r = min(max(r, 1), c.replays); r > len(ascending) {
			return nil
		}
		return &ascending[r-1]
	}
	return Quantiles{P10: at(0.1, math.Floor), P50: at(0.5, math.Ceil), P90: at(0.9, math.Ceil)}
}

type forecastCase struct {
	*Options
	problem *alloc.Problem
	index   map[string]int
	replays int
	horizon float64
	// known, asked and places are by application.
	known  []Known
	asked  []bool
	places [][]apportion.Placement
	// order has the positions of the applications in a scenario: what runs first.
	order, position []int
	// opening is the first decision, which all replays share.
	opening opening
}

func (c *forecastCase) job(i int) int { return c.position[i] }

// limit returns the walltime limit of an application, from its start; 0: none.
func (c *forecastCase) limit(i int) float64 {
	if ends := c.problem.Applications[i].Ends; ends != nil {
		return c.known[i].Ran + *ends
	}
	return 0
}

// left returns how long an application still runs. known is false where nothing is known of it.
func (c *forecastCase) left(i int, d draws) (seconds float64, known bool) {
	k := &c.known[i]
	if n := len(k.Left); n > 0 {
		return k.Left[min(int(d.run*float64(n)), n-1)], true
	}
	length, known := c.History.length(k, c.queue(i), c.limit(i), d)
	return length - k.Ran, known
}

// queue returns the queue of an application, for the history.
func (c *forecastCase) queue(i int) string {
	return cmp.Or(c.known[i].Queue, c.problem.Applications[i].Queue)
}

// unknown lists the applications of whose length nothing is known.
func (c *forecastCase) unknown() (ids []string) {
	for i := range c.problem.Applications {
		if _, known := c.left(i, draws{}); !known {
			ids = append(ids, c.problem.Applications[i].ID)
		}
	}
	return ids
}

func newCase(p *alloc.Problem, known []Known, o *Options) (*forecastCase, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	c := &forecastCase{Options: o, replays: cmp.Or(o.Replays, 32), horizon: cmp.Or(o.Horizon, 7*86400), known: make([]Known, len(p.Applications))}
	c.problem = fixed(p)
	var faults apportion.Faults
	c.checkOptions(&faults)
	c.index = make(map[string]int, len(p.Applications))
	for i := range p.Applications {
		c.index[p.Applications[i].ID] = i
	}
	for n := range known {
		c.checkKnown(&faults, n, &known[n])
	}
	c.ask(&faults)
	if len(faults) > 0 {
		return nil, faults
	}
	c.place()
	return c, nil
}

func (c *forecastCase) checkOptions(faults *apportion.Faults) {
	for _, field := range []struct {
		name  string
		value int
	}{{"Replays", c.Replays}, {"Decisions", c.Decisions}} {
		if field.value < 0 {
			faults.Add(apportion.Item{}, field.name, apportion.ErrNegative, strconv.Itoa(field.value))
		}
	}
	checkSeconds(faults, apportion.Item{}, "Horizon", c.Horizon)
	checkSeconds(faults, apportion.Item{}, "AdjustCost", c.AdjustCost)
	for i := range c.Arrivals {
		item := check.Item("arrival", c.Arrivals[i].Application.ID, i)
		checkSeconds(faults, item, "At", c.Arrivals[i].At)
		checkSeconds(faults, item, "Length", c.Arrivals[i].Length)
	}
}

// checkKnown checks and takes over what is known of an application.
func (c *forecastCase) checkKnown(faults *apportion.Faults, n int, k *Known) {
	item := check.Item("known", k.ID, n)
	i, there := c.index[k.ID]
	if !there {
		faults.Add(item, "ID", apportion.ErrUnknown, "no application has it")
		return
	}
	checkSeconds(faults, item, "Ran", k.Ran)
	for _, left := range k.Left {
		checkSeconds(faults, item, "Left", left)
	}
	c.known[i] = *k
}

func (c *forecastCase) ask(faults *apportion.Faults) {
	c.asked = make([]bool, len(c.problem.Applications))
	for i := range c.problem.Applications {
		c.asked[i] = c.Asked == nil && c.problem.Previous.Containers(c.problem.Applications[i].ID) == 0
	}
	for n, id := range c.Asked {
		i, there := c.index[id]
		if !there {
			faults.Add(check.Item("asked", id, n), "ID", apportion.ErrUnknown, "no application has it")
			continue
		}
		c.asked[i] = true
	}
}

// place finds what runs where, as far as a simulation can hold it: what is on servers that are gone, or overfills one, starts anew with
// the first decision.
func (c *forecastCase) place() {
	p := c.problem
	index := make(map[string]int, len(p.Servers))
	free := make([]apportion.Resources, len(p.Servers))
	for j := range p.Servers {
		index[p.Servers[j].ID], free[j] = j, p.Servers[j].Capacity.Clone()
	}
	c.places, c.position = make([][]apportion.Placement, len(p.Applications)), make([]int, len(p.Applications))
	for i := range p.Applications {
		if on, fits := placesOf(&p.Applications[i], p.Previous[p.Applications[i].ID], index, free); fits {
			c.places[i] = on
		}
	}
	for _, running := range [2]bool{true, false} {
		for i := range p.Applications {
			if (c.places[i] != nil) == running {
				c.position[i] = len(c.order)
				c.order = append(c.order, i)
			}
		}
	}
}

// placesOf returns the containers of an application by server, and takes them from what is free, if they fit all.
func placesOf(app *alloc.Application, held map[string]int64, index map[string]int, free []apportion.Resources) (on []apportion.Placement, fits bool) {
	var n int64
	for id, count := range held {
		j, there := index[id]
		if count == 0 {
			continue
		}
		if !there || app.Demand.CountIn(free[j]) < count {
			return nil, false
		}
		n += count
		on = append(on, apportion.Placement{Server: j, Count: count})
	}
	if n < max(1, app.Min) || n > app.Max {
		return nil, false
	}
	slices.SortFunc(on, func(a, b apportion.Placement) int { return a.Server - b.Server })
	for _, p := range on {
		for k, q := range app.Demand {
			free[p.Server][k] -= p.Count * q // it fits
		}
	}
	return on, true
}

// fixed returns p with every application in one way: the option in use, or the first. A simulation has one demand for each job.
func fixed(p *alloc.Problem) *alloc.Problem {
	q := *p
	q.Applications = slices.Clone(p.Applications)
	for i := range q.Applications {
		app := &q.Applications[i]
		if len(app.Options) == 0 {
			continue
		}
		at := max(0, slices.IndexFunc(app.Options, func(o alloc.Option) bool { return o.ID == app.Option }))
		form := app.Options[at].Form
		form.Requires = slices.Concat(app.Requires, form.Requires)
		if form.Max == 0 && len(form.Counts) > 0 {
			form.Max = form.Counts[len(form.Counts)-1]
		}
		app.Form, app.Options, app.Option = form, nil, ""
	}
	return &q
}
