// This file tests static Swarm.

package policies_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// cluster has a server for each capacity, of one kind.
func cluster(kind string, capacities ...int64) *sim.Scenario {
	s := &sim.Scenario{Kinds: apportion.Kinds{kind}}
	for i, c := range capacities {
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprint("s", i), Capacity: apportion.Resources{c}})
	}
	return s
}

func with(s *sim.Scenario, jobs ...sim.Job) *sim.Scenario {
	s.Jobs = jobs
	return s
}

// elastic is a job that takes a time on 2 of up to 4 containers.
func elastic(id string, arrival, duration time.Duration) sim.Job {
	return sim.Job{
		Application: alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 4, Min: 1}},
		Arrival:     arrival, Fixed: 2, Work: 2 * duration,
	}
}

// An application that can never run must not block those behind it, nor be lost.
func TestSwarmPassesOverWhatNeverFits(t *testing.T) {
	giant := elastic("giant", 0, time.Hour)
	giant.Fixed, giant.Max = 5, 5
	result := must.Have(sim.Run(t.Context(), with(cluster("cpu", 4), giant, elastic("b", 0, time.Hour)), policies.Swarm{}))(t)
	if g := result.Jobs[0]; g.Started || g.Completed {
		t.Errorf("the giant ran: %+v", g)
	}
	if b := result.Jobs[1]; b.Completion != time.Hour {
		t.Errorf("b completed at %v, want 1h", b.Completion)
	}
	if last := result.Samples[len(result.Samples)-1]; last.Waiting != 1 || last.RunningLoss != 0 {
		t.Errorf("at the end %+v, want the giant waiting and no loss among the running", last)
	}
}

// The head of the queue holds up everyone behind it, even who would fit.
func TestSwarmHeadOfLine(t *testing.T) {
	first, head, small := elastic("first", 0, time.Hour), elastic("head", time.Second, time.Hour), elastic("small", 2*time.Second, time.Hour)
	head.Fixed, small.Fixed = 4, 1
	head.Work, small.Work = 4*time.Hour, time.Hour
	result := must.Have(sim.Run(t.Context(), with(cluster("cpu", 4), first, head, small), policies.Swarm{}))(t)
	for i, want := range []time.Duration{0, time.Hour, 2 * time.Hour} {
		must.Equal(t, result.Jobs[i].Start, want, result.Jobs[i].ID, "started at")
	}
}

// Spread: the server with the fewest containers, the first one on a tie, only those with room.
func TestSwarmSpreads(t *testing.T) {
	a := elastic("a", 0, time.Hour)
	a.Fixed = 4
	s := cluster("cpu", 0, 9, 9, 1)
	orders := must.Have(policies.Swarm{}.Decide(t.Context(), &sim.State{Scenario: s, Jobs: []sim.JobState{{Job: &a}}}))(t)
	got := make([]int64, 4)
	for _, p := range orders.Places[0].On {
		got[p.Server] += p.Count
	}
	must.Same(t, got, []int64{0, 2, 1, 1}, "containers")
}
