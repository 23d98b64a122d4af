// This file holds the simulation to a twin that goes from nanosecond to nanosecond and knows nothing of
// events.

package sim_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// twin is a cluster in which every job is looked at in every nanosecond.
type twin struct {
	*sim.Scenario
	now  time.Duration
	jobs []*twinJob // arrived and not gone
	wake time.Duration
}

// twinJob counts what it has done in millionths of a nanosecond.
type twinJob struct {
	state   sim.JobState
	limit   int64
	done    int64
	resumes time.Duration
	outcome *sim.Outcome
}

// play returns what becomes of the jobs until an instant.
func play(t *rapid.T, s *sim.Scenario, policy sim.Policy, until time.Duration) []sim.Outcome {
	c := &twin{Scenario: s, wake: -1}
	outcomes := make([]sim.Outcome, len(s.Jobs))
	for c.now = 0; c.now < until; c.now++ {
		happened := c.leave() || c.now == c.wake
		for i := range s.Jobs {
			if s.Jobs[i].Arrival == c.now {
				outcomes[i] = sim.Outcome{ID: s.Jobs[i].ID, Arrival: c.now}
				j := &twinJob{state: sim.JobState{Job: &s.Jobs[i], Index: i, New: true}, outcome: &outcomes[i]}
				if s.Law != nil {
					j.limit = sim.Whole
				}
				c.jobs, happened = append(c.jobs, j), true
			}
		}
		if happened {
			c.decide(t, policy)
		}
		c.work()
	}
	c.leave()
	return outcomes
}

// leave lets the jobs go whose work is done, at the end of a slot if there are slots.
func (c *twin) leave() bool {
	before := len(c.jobs)
	c.jobs = slices.DeleteFunc(c.jobs, func(j *twinJob) bool {
		if j.done < int64(j.state.Work)*sim.Whole || c.Slot > 0 && c.now%c.Slot != 0 {
			return false
		}
		j.outcome.Completed, j.outcome.Completion = true, c.now
		return true
	})
	return len(c.jobs) < before
}

// decide asks the policy and does what it says.
func (c *twin) decide(t *rapid.T, policy sim.Policy) {
	state := &sim.State{Scenario: c.Scenario, Now: c.now}
	for _, j := range c.jobs {
		state.Jobs = append(state.Jobs, j.state)
		j.state.New = false
	}
	orders := must.Have(policy.Decide(context.Background(), state))(t)
	for _, p := range orders.Places {
		j := c.jobs[slices.IndexFunc(c.jobs, func(j *twinJob) bool { return j.state.ID == p.Job })]
		if slices.Equal(p.On, j.state.Places) {
			continue
		}
		if j.state.Containers > 0 {
			j.outcome.Adjusted++
		}
		j.state.Places, j.state.Containers = p.On, 0
		for _, on := range p.On {
			j.state.Containers += on.Count
		}
		if j.state.Containers > 0 && j.outcome.Started {
			j.resumes = c.now + c.AdjustCost
		} else if j.state.Containers > 0 {
			j.outcome.Started, j.outcome.Start = true, c.now
		}
	}
	for _, l := range orders.Limits {
		c.jobs[slices.IndexFunc(c.jobs, func(j *twinJob) bool { return j.state.ID == l.Job })].limit = l.Share
	}
	c.wake = orders.Next
	if c.Slot > 0 {
		c.wake = (c.wake + c.Slot - 1) / c.Slot * c.Slot
	}
}

// work lets a nanosecond pass.
func (c *twin) work() {
	for h := range c.Servers {
		var here []*twinJob
		var limits, demands []int64
		for _, j := range c.jobs {
			if len(j.state.Places) == 0 || j.state.Places[0].Server != h {
				continue
			}
			if j.resumes > c.now {
				j.outcome.Paused++
				continue
			}
			here, limits, demands = append(here, j), append(limits, j.limit), append(demands, j.state.Demand[0])
		}
		shares := make([]int64, len(here))
		if law, shared := c.Law.(sim.Shared); shared {
			capacity := float64(sim.Whole) / (1 + law.Interference*float64(max(0, len(here)-1)))
			shares = sim.Divide(int64(capacity), limits, demands)
		}
		for i, j := range here {
			if c.Law == nil {
				shares[i] = j.state.Containers * sim.Whole
			}
			j.done += shares[i]
		}
	}
}

// drawTiny draws a scenario of a few hundred nanoseconds.
func drawTiny(t *rapid.T) *sim.Scenario {
	s := &sim.Scenario{Kinds: apportion.Kinds{"cpu"}, Horizon: 300, AdjustCost: time.Duration(rapid.IntRange(0, 9).Draw(t, "cost"))}
	shared := rapid.Bool().Draw(t, "shared")
	if shared {
		s.Law = sim.Shared{Interference: rapid.SampledFrom([]float64{0, 0.25}).Draw(t, "interference")}
	} else if rapid.Bool().Draw(t, "slots") {
		s.Slot = 10
	}
	for h := range rapid.IntRange(1, 3).Draw(t, "servers") {
		capacity := sim.Whole
		if !shared {
			capacity = rapid.Int64Range(1, 6).Draw(t, "cpu")
		}
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprint("s", h), Capacity: apportion.Resources{capacity}})
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "jobs") {
		arrival, work := time.Duration(rapid.IntRange(0, 9).Draw(t, "arrival"))*10, time.Duration(rapid.IntRange(1, 90).Draw(t, "work"))
		job := elastic(fmt.Sprint("j", i), arrival, work)
		if shared {
			job = sim.SharedJob(job.ID, arrival, work, rapid.SampledFrom([]int64{300_000, sim.Whole}).Draw(t, "demand"))
		}
		s.Jobs = append(s.Jobs, job)
	}
	return s
}

func TestPropTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawTiny(rt)
		policy := shuffler{rapid.Uint64().Draw(rt, "seed"), 40}
		r, err := sim.Run(t.Context(), s, policy)
		if err != nil {
			rt.Fatal(err)
		}
		got := make([]sim.Outcome, len(r.Jobs))
		for i := range r.Jobs {
			got[i] = r.Jobs[i]
			got[i].Spans = nil
		}
		if diff := cmp.Diff(play(rt, s, policy, 300), got); diff != "" {
			rt.Fatalf("(-twin +simulation):\n%s", diff)
		}
	})
}
