// This file implements the simulation: arrivals, completions, and the decisions of a policy in
// between, [Law15 §1.3]; [Dorm §III-C, §V], [OASiS] §5, [Zheng] §6.

package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// maxIdle is how often a policy may ask to be asked again while nothing happens and it orders nothing:
// such a run would never end.
const maxIdle = 100_000

// Run simulates a scenario under a policy until nothing happens any more, until the horizon, or until the policy stops it.
// Whatever completes or arrives at one instant is handled before a single decision is asked for. A
// change of a running job's containers, also one that takes all of them away, kills and resumes it:
// it makes no progress for AdjustCost from then on, or from when it gets containers again.
//
// A job that never gets containers stays unfinished in the result; none is lost. The same scenario
// and policy give the same result. Run takes a context because solvers do.
//
// Errors: what Scenario.Validate and the policy report, an *OrderError, ErrRange for a speed that is
// none, ErrOverflow for a job that would run beyond the end of time, ErrConflict for what a job holds at its arrival
// without room, and that of ctx when it ends.
// Beside the policy and the fairness loss each event takes O(n log n) for the n jobs that are there.
func Run(ctx context.Context, scenario *Scenario, policy Policy) (*Result, error) {
	if err := scenario.Validate(); err != nil {
		return nil, err
	}
	c := newCluster(scenario, policy)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at, err := c.next()
		switch h := scenario.Horizon; {
		case err != nil:
			return nil, err
		case h > 0 && at >= h && at < never: // something would happen at the horizon, or after it
			return c.result, c.stop(h)
		case at == never:
			return c.result, nil
		}
		if err := c.step(ctx, at); err != nil {
			return nil, err
		}
		if c.stopped {
			return c.result, c.stop(at)
		}
	}
}

// Compare runs the scenario under each policy and returns the results in the order of the policies, ready
// for Table. Errors are those of Run; the first one ends the comparison.
func Compare(ctx context.Context, scenario *Scenario, policies ...Policy) ([]*Result, error) {
	results := make([]*Result, len(policies))
	for i, policy := range policies {
		result, err := Run(ctx, scenario, policy)
		if err != nil {
			return nil, err
		}
		results[i] = result
	}
	return results, nil
}

// cluster is a simulation under way. It belongs to one Run and is never shared.
type cluster struct {
	scenario *Scenario
	policy   Policy
	law      Law
	// arrivals are the jobs that have not arrived, by arrival and then in the order of the scenario.
	arrivals []*job
	// jobs have arrived and neither completed nor been refused, in the same order.
	jobs []*job
	// ended are the jobs that completed since the last decision.
	ended []string
	now   time.Duration
	// wake is when the policy wants to be asked again.
	wake time.Duration
	// changed: jobs came, went, or hold something else since the last sample.
	changed bool
	// stopped: the policy has ended the run.
	stopped bool
	// idle counts the decisions since something happened or was ordered, adjusted the running jobs
	// that the last decision changed.
	idle, adjusted int
	// total is the capacity of all servers, and of all parameter servers.
	total [2]apportion.Resources
	// view is what State.Problem shows of the scenario, due what all jobs and those that hold
	// containers are due.
	view   *view
	due    [2]fairness
	result *Result
}

// newCluster returns the simulation of a valid scenario before its first event.
func newCluster(s *Scenario, policy Policy) *cluster {
	c := &cluster{scenario: s, policy: policy, law: s.law(), wake: never,
		result: &Result{Policy: policy.Name(), Jobs: make([]Outcome, len(s.Jobs))}}
	for i := range s.Jobs {
		source := &s.Jobs[i]
		c.result.Jobs[i] = Outcome{ID: source.ID, Arrival: source.Arrival}
		j := &job{Job: source, index: i, outcome: &c.result.Jobs[i], fresh: true, left: product(Whole, source.Work), limit: c.law.limit(s)}
		c.arrivals = append(c.arrivals, j)
	}
	// Validate has looked at these errors: a scenario that got here has none of them.
	c.total[0], _ = check.Total(s.Servers, len(s.Kinds))
	c.total[1], _ = check.Total(s.ParameterServers, len(s.Kinds))
	c.view, _ = newView(s)
	c.due = [2]fairness{{view: c.view}, {view: c.view}}
	slices.SortStableFunc(c.arrivals, func(a, b *job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return c
}

// next returns when something happens next: an arrival, a completion, the end of a pause, or the
// decision that the policy has asked for, while there is anybody to decide on.
func (c *cluster) next() (time.Duration, error) {
	next := never
	if len(c.arrivals) > 0 {
		next = c.arrivals[0].Arrival
	}
	for _, j := range c.jobs {
		at, err := j.next(c.now, c.scenario.Slot)
		if err != nil {
			return 0, err
		}
		next = min(next, at)
	}
	// Without jobs there is nothing to decide, however often the policy wants to be asked.
	if len(c.jobs) > 0 || len(c.arrivals) > 0 {
		next = min(next, c.wake)
	}
	return next, nil
}

// step moves on to an instant, in which jobs complete, arrive or resume, or a decision is due.
func (c *cluster) step(ctx context.Context, at time.Duration) error {
	c.advance(at)
	// Completions come first, so that what they held is free for the jobs that arrive.
	completed, err := c.complete()
	if err != nil {
		return err
	}
	arrived, err := c.arrive()
	switch {
	case err != nil:
		return err
	case completed || arrived:
		c.idle, c.changed = 0, true
	case at < c.wake: // a job resumes, which changes rates and is no decision
		return c.settle(false)
	default:
		c.idle++
	}
	if c.idle > maxIdle {
		return c.wrong("", "next", "ask again and again while nothing happens")
	}
	return c.decide(ctx)
}

// advance lets every job work until an instant.
func (c *cluster) advance(until time.Duration) {
	for _, j := range c.jobs {
		j.advance(c.now, until)
	}
	c.now = until
}

// complete removes the jobs whose work is done and reports whether there were any.
func (c *cluster) complete() (completed bool, err error) {
	before := len(c.jobs)
	slot := c.scenario.Slot
	c.jobs = slices.DeleteFunc(c.jobs, func(j *job) bool {
		if !j.left.isZero() || slot > 0 && c.now%slot != 0 {
			return false
		}
		if fault := j.complete(c.now, slot); fault != nil {
			err = fault
		}
		c.ended = append(c.ended, j.ID)
		return true
	})
	return len(c.jobs) < before, err
}

// arrive admits the jobs whose time has come, with what they hold, and reports whether there were any.
func (c *cluster) arrive() (arrived bool, err error) {
	running := false
	for len(c.arrivals) > 0 && c.arrivals[0].Arrival == c.now {
		j := c.arrivals[0]
		c.jobs, c.arrivals, arrived = append(c.jobs, j), c.arrivals[1:], true
		if len(j.Held) == 0 {
			continue
		}
		running = true
		j.places, _, _ = merge(j.Held, len(c.scenario.Servers)) // Validate has looked at them
		if err := j.change(c.now, 0); err != nil {
			return true, err
		}
	}
	if !running {
		return arrived, nil
	}
	// What arrives later with containers finds those of others: that is a fault of the scenario, which only the run can see.
	if blame, fault := c.law.room(c.scenario, c.jobs); blame != nil {
		return true, &apportion.FieldError{Item: check.Item("job", blame.ID, blame.index), Field: "Held", Detail: fault, Err: apportion.ErrConflict}
	}
	return true, nil
}

// decide asks the policy and carries out what it says.
func (c *cluster) decide(ctx context.Context) error {
	orders, err := c.policy.Decide(ctx, c.state())
	if err != nil {
		return fmt.Errorf("sim: %s at %v: %w", c.policy.Name(), c.now, err)
	}
	c.adjusted, c.ended, c.stopped = 0, nil, orders.Stop
	for _, j := range c.jobs {
		j.fresh = false
	}
	if err := c.carryOut(&orders); err != nil {
		return err
	}
	return c.settle(true)
}

// state is what the policy sees: copies of all that it might change.
func (c *cluster) state() *State {
	s := &State{Scenario: c.scenario, view: c.view, Now: c.now, Ended: c.ended, Jobs: make([]JobState, len(c.jobs))}
	for i, j := range c.jobs {
		total := product(Whole, j.Work)
		left, _ := j.left.timeAt(Whole) // at most Work, so it fits
		view := JobState{
			Job: j.Job, Index: j.index, New: j.fresh, Containers: j.n, Rate: j.rate, Left: left,
			Places: slices.Clone(j.places), ParameterServers: slices.Clone(j.ps),
		}
		if j.Curve != nil {
			view.Value = j.Curve.Value(total.minus(j.left).float() / total.float())
		}
		s.Jobs[i] = view
	}
	return s
}

// settle sets the rates and notes what jobs do from now on; decided says that a decision was taken.
func (c *cluster) settle(decided bool) error {
	// All rates at once: on a shared worker one job's rate depends on the others.
	c.law.setRates(c.scenario, c.jobs, c.now)
	for _, j := range c.jobs {
		j.note(c.now)
	}
	c.result.End = c.now
	if c.scenario.Unmeasured {
		return nil
	}
	return c.sample(decided)
}

// stop accounts for what was done until the horizon. What completes by then counts, nobody arrives any
// more and nothing is decided.
func (c *cluster) stop(horizon time.Duration) error {
	c.advance(horizon)
	_, err := c.complete()
	for _, j := range c.jobs {
		j.end(horizon)
	}
	c.result.End = horizon
	return err
}
