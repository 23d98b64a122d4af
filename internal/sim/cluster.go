// This file implements the simulation of an elastic cluster: arrivals, completions, and the
// decisions of a policy in between, [Dorm §III-C, §V].

package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/apportion/apportion/alloc"
)

// ErrPolicy is returned when a policy gave an allocation that no cluster can carry out.
var ErrPolicy = errors.New("sim: the policy's allocation is wrong")

// event is the arrival of a job, or its completion, which is out of date when the job's version has
// moved on.
type event struct {
	job     *job
	arrival bool
	version int
}

// cluster is a simulation under way.
type cluster struct {
	scenario *Scenario
	policy   Policy
	queue    Queue[event]
	jobs     []*job // arrived and not completed, in the order of submission
	result   *Result
}

// Run simulates the scenario under the policy. Everything that happens at one instant, arrivals in
// the order of Scenario.Apps, is handled before a single decision is asked for. A change of a running application's containers, also one that takes all of them
// away, kills and resumes it: it makes no progress for AdjustCost from then on, or from when it
// gets containers again.
//
// An application that never gets containers stays unfinished in the result; none is lost. The same
// scenario and policy give the same result.
//
// Errors: what Scenario.Validate and the policy report, ErrPolicy, faults of the applications as
// alloc.Problem.Validate finds them, and that of ctx when it ends.
func Run(ctx context.Context, scenario *Scenario, policy Policy) (*Result, error) {
	if err := scenario.Validate(); err != nil {
		return nil, err
	}
	c := &cluster{
		scenario: scenario,
		policy:   policy,
		result:   &Result{Outcomes: make([]Outcome, len(scenario.Apps))},
	}
	if err := c.submit(); err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		now, ok := c.queue.Next()
		if !ok {
			return c.result, nil
		}
		if h := scenario.Horizon; h > 0 && now >= h {
			c.stop(h)
			return c.result, nil
		}
		if !c.happen(now) {
			continue
		}
		c.result.End = now
		if err := c.decide(ctx, now); err != nil {
			return nil, fmt.Errorf("sim: %s at %v: %w", policy.Name(), now, err)
		}
	}
}

// submit queues all arrivals.
func (c *cluster) submit() error {
	for i := range c.scenario.Apps {
		app := &c.scenario.Apps[i]
		rate, err := app.rate(app.Fixed)
		if err != nil {
			return err
		}
		c.result.Outcomes[i] = Outcome{ID: app.ID, Arrival: app.Arrival}
		j := &job{app: app, outcome: &c.result.Outcomes[i], left: product(rate, app.Duration)}
		c.queue.Push(app.Arrival, event{job: j, arrival: true})
	}
	return nil
}

// happen handles all events of one instant and reports whether any of them was real.
func (c *cluster) happen(now time.Duration) bool {
	happened := false
	for {
		at, ok := c.queue.Next()
		if !ok || at != now {
			return happened
		}
		_, e, _ := c.queue.Pop()
		switch {
		case e.arrival:
			c.jobs = append(c.jobs, e.job)
		case e.version == e.job.version:
			e.job.advance(now)
			e.job.outcome.Completed, e.job.outcome.Completion = true, now
			c.jobs = slices.DeleteFunc(c.jobs, func(j *job) bool { return j == e.job })
		default:
			continue
		}
		happened = true
	}
}

// decide asks the policy and carries out what it says.
func (c *cluster) decide(ctx context.Context, now time.Duration) error {
	if len(c.jobs) == 0 {
		c.result.Samples = append(c.result.Samples, Sample{At: now, Utilization: make([]float64, len(c.scenario.Kinds))})
		return nil
	}
	state := c.state(now)
	next, err := c.policy.Decide(ctx, state)
	if err != nil {
		return err
	}
	next = next.Clone() // without entries of zero
	if err := checkRoom(state, next); err != nil {
		return err
	}
	sample, err := measure(state, next)
	if err != nil {
		return err
	}
	c.result.Samples = append(c.result.Samples, sample)
	for _, j := range c.jobs {
		if err := c.change(j, next[j.app.ID], now); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) state(now time.Duration) *State {
	s := &State{Now: now, Kinds: c.scenario.Kinds, Servers: c.scenario.Servers, Running: make(alloc.Allocation)}
	for _, j := range c.jobs {
		s.Apps = append(s.Apps, j.app)
		if len(j.places) > 0 {
			s.Running[j.app.ID] = maps.Clone(j.places)
		}
	}
	return s
}

// stop accounts for what was done until the horizon.
func (c *cluster) stop(horizon time.Duration) {
	c.result.End = horizon
	for _, j := range c.jobs {
		j.advance(horizon)
	}
}
