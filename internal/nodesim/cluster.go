// This file implements the simulation: arrivals, completions, pauses, and decisions in between,
// [Zheng] §6.

package nodesim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// ErrPolicy is returned when a policy gave orders that cannot be carried out.
var ErrPolicy = errors.New("nodesim: the policy's orders are wrong")

// never is later than anything that happens.
const never = time.Duration(math.MaxInt64)

// job is a job that has arrived and not completed.
type job struct {
	*Job
	index  int
	worker int
	limit  Share
	share  Share
	total  Work
	done   Work
	// resumes is when it has been restored after a move.
	resumes time.Duration
}

// completes returns the first nanosecond in which the work is done at the present share.
func (j *job) completes(now time.Duration) time.Duration {
	if j.share == 0 {
		return never
	}
	left := j.total - j.done
	return now + time.Duration((left+Work(j.share)-1)/Work(j.share))
}

// cluster is a simulation under way.
type cluster struct {
	scenario *Scenario
	policy   Policy
	arrivals []int  // positions of the jobs that have not arrived, by arrival
	jobs     []*job // in the order of arrival
	now      time.Duration
	wake     time.Duration
	result   *Result
}

// Run simulates a scenario under a policy until every job has completed. Errors: what
// Scenario.Validate and the policy report, and ErrPolicy. Each event takes O(n log n) for the n jobs
// that run.
func Run(scenario *Scenario, policy Policy) (*Result, error) {
	if err := scenario.Validate(); err != nil {
		return nil, err
	}
	c := &cluster{scenario: scenario, policy: policy, wake: never, result: &Result{Outcomes: make([]Outcome, len(scenario.Jobs))}}
	for i := range scenario.Jobs {
		c.arrivals = append(c.arrivals, i)
		c.result.Outcomes[i] = Outcome{ID: scenario.Jobs[i].ID, Arrival: scenario.Jobs[i].Arrival}
	}
	slices.SortStableFunc(c.arrivals, func(a, b int) int {
		return int(scenario.Jobs[a].Arrival - scenario.Jobs[b].Arrival)
	})
	for len(c.arrivals)+len(c.jobs) > 0 {
		c.advance(c.next())
		asks := c.now >= c.wake
		asks = c.complete() || asks
		asks = c.arrive() || asks
		if asks {
			if err := c.decide(); err != nil {
				return nil, fmt.Errorf("%s at %v: %w", policy.Name(), c.now, err)
			}
		}
		c.divide()
		c.record()
	}
	return c.result, nil
}

// next returns when something happens next.
func (c *cluster) next() time.Duration {
	next := c.wake
	if len(c.arrivals) > 0 {
		next = min(next, c.scenario.Jobs[c.arrivals[0]].Arrival)
	}
	for _, j := range c.jobs {
		next = min(next, j.completes(c.now))
		if j.resumes > c.now {
			next = min(next, j.resumes)
		}
	}
	return next
}

// advance lets every job work until a time at which something happens.
func (c *cluster) advance(until time.Duration) {
	for _, j := range c.jobs {
		j.done = min(j.total, j.done+Work(j.share)*Work(until-c.now))
	}
	c.now = until
}

// complete removes the jobs whose work is done and reports whether there were any.
func (c *cluster) complete() bool {
	before := len(c.jobs)
	c.jobs = slices.DeleteFunc(c.jobs, func(j *job) bool {
		if j.done == j.total {
			c.result.Outcomes[j.index].Completion = c.now
			return true
		}
		return false
	})
	return len(c.jobs) < before
}

// arrive admits the jobs whose time has come and reports whether there were any.
func (c *cluster) arrive() bool {
	before := len(c.jobs)
	for len(c.arrivals) > 0 && c.scenario.Jobs[c.arrivals[0]].Arrival == c.now {
		i := c.arrivals[0]
		c.arrivals = c.arrivals[1:]
		source := &c.scenario.Jobs[i]
		c.jobs = append(c.jobs, &job{Job: source, index: i, worker: Unplaced, limit: Whole, total: WorkOf(source.Work)})
	}
	return len(c.jobs) > before
}

// decide asks the policy and carries out its orders.
func (c *cluster) decide() error {
	state := &State{Now: c.now, Workers: c.scenario.Workers}
	byIndex := make(map[int]*job, len(c.jobs))
	for _, j := range c.jobs {
		byIndex[j.index] = j
		state.Tasks = append(state.Tasks, Task{Job: j.Job, Index: j.index, Worker: j.worker, Used: j.done, Share: j.share,
			Value: j.Curve.Value(float64(j.done) / float64(j.total))})
	}
	orders, err := c.policy.Decide(state)
	if err != nil {
		return err
	}
	for _, p := range orders.Placements {
		if err := c.place(byIndex[p.Index], p); err != nil {
			return err
		}
	}
	for _, l := range orders.Limits {
		if j := byIndex[l.Index]; j == nil || l.Limit < 0 {
			return fmt.Errorf("%w: limit %d for job %d", ErrPolicy, l.Limit, l.Index)
		} else {
			j.limit = l.Limit
		}
	}
	for _, j := range c.jobs {
		if j.worker == Unplaced {
			return fmt.Errorf("%w: no worker for job %q", ErrPolicy, j.ID)
		}
	}
	c.wake = never
	if orders.Next != 0 {
		c.wake = orders.Next
	}
	if c.wake <= c.now {
		return fmt.Errorf("%w: next decision at %v", ErrPolicy, c.wake)
	}
	return nil
}

// place gives a job a worker, and pauses it if it had another.
func (c *cluster) place(j *job, p Placement) error {
	if j == nil || p.Worker < 0 || p.Worker >= c.scenario.Workers {
		return fmt.Errorf("%w: worker %d for job %d", ErrPolicy, p.Worker, p.Index)
	}
	if j.worker != Unplaced && j.worker != p.Worker {
		j.resumes = c.now + c.scenario.MoveCost
		c.result.Migrations = append(c.result.Migrations, Migration{At: c.now, Job: p.Index, From: j.worker, To: p.Worker, Why: p.Why})
	}
	j.worker = p.Worker
	return nil
}

// divide shares every worker's CPU among its jobs that are not paused.
func (c *cluster) divide() {
	for w := range c.scenario.Workers {
		var here []*job
		var limits, demands []Share
		for _, j := range c.jobs {
			if j.worker != w {
				continue
			}
			j.share = 0
			if j.resumes <= c.now {
				here, limits, demands = append(here, j), append(limits, j.limit), append(demands, j.Demand)
			}
		}
		for i, share := range Divide(c.scenario.capacity(len(here)), limits, demands) {
			here[i].share = share
		}
	}
}

// record adds a sample where anything changed.
func (c *cluster) record() {
	sample := Sample{At: c.now}
	for _, j := range c.jobs {
		sample.Running = append(sample.Running, Running{Job: j.index, Worker: j.worker, Share: j.share, Limit: j.limit})
	}
	samples := c.result.Samples
	if len(samples) == 0 || !slices.Equal(samples[len(samples)-1].Running, sample.Running) {
		c.result.Samples = append(samples, sample)
	}
}
