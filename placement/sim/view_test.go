// This file holds the samples to package alloc, which measures any allocation.

package sim_test

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// stateAt returns the jobs that are there at an instant of a result, in the order of submission, with
// what they hold.
func stateAt(s *sim.Scenario, r *sim.Result, at time.Duration) *sim.State {
	state := &sim.State{Scenario: s, Now: at}
	for i := range r.Jobs {
		o := &r.Jobs[i]
		if o.Arrival > at || o.Completed && o.Completion <= at {
			continue
		}
		job := sim.JobState{Job: &s.Jobs[i], Index: i}
		for _, span := range o.Spans {
			if span.From <= at && at < span.Until {
				job.Places = span.Places
			}
		}
		state.Jobs = append(state.Jobs, job)
	}
	slices.SortStableFunc(state.Jobs, func(a, b sim.JobState) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return state
}

// measured returns what package alloc makes of a state.
func measured(t *testing.T, state *sim.State) alloc.Metrics {
	t.Helper()
	if len(state.Jobs) == 0 {
		return alloc.Metrics{}
	}
	p := state.Problem()
	held := p.Previous
	p.Previous, p.Options.Paper = nil, true // jobs that wait have a share as well
	return must.Have(alloc.Measure(p, held))(t)
}

// Losses and utilization of every sample are those of alloc.Measure, of all jobs and of those that hold
// containers.
func TestPropSamplesAreMeasured(t *testing.T) {
	for seed := range uint64(30) {
		for _, world := range []simtest.World{simtest.Containers, simtest.Slots} {
			s := simtest.Scenario(world, seed)
			r := must.Have(sim.Run(t.Context(), s, shuffler{seed, time.Hour}))(t)
			for i := range r.Samples {
				sample := &r.Samples[i]
				state := stateAt(s, r, sample.At)
				all := measured(t, state)
				var holders []sim.JobState
				for _, job := range state.Jobs {
					if len(job.Places) > 0 {
						holders = append(holders, job)
					}
				}
				state.Jobs = holders
				running := measured(t, state)
				if sample.FairnessLoss != all.FairnessLoss || sample.RunningLoss != running.FairnessLoss || sample.Running != len(holders) {
					t.Fatalf("%v scenario %d at %v: %+v, want losses %v and %v, %d running", world, seed, sample.At, sample,
						all.FairnessLoss, running.FairnessLoss, len(holders))
				}
				if world == simtest.Containers && math.Abs(sample.Total-all.ResourceUtilization) > 1e-12 {
					t.Fatalf("scenario %d at %v: utilization %v, want %v", seed, sample.At, sample.Total, all.ResourceUtilization)
				}
			}
		}
	}
}

// The problem of a state has the jobs that are there in the order of submission, what they hold, and room
// for the policy's own thresholds.
func TestProblem(t *testing.T) {
	s := onServers([]sim.Job{elastic("late", 5, 1), elastic("early", 0, 1)}, 4, 2)
	state := &sim.State{Scenario: s, Jobs: []sim.JobState{
		{Job: &s.Jobs[1], Index: 1, Places: []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 2}}, Containers: 3},
		{Job: &s.Jobs[0], Index: 0},
	}}
	p := state.Problem()
	want := &alloc.Problem{
		Kinds: s.Kinds, Servers: s.Servers, Applications: []alloc.Application{s.Jobs[1].Application, s.Jobs[0].Application},
		Previous: alloc.Allocation{"early": {"s": 1, "t": 2}},
	}
	must.Equal(t, gocmp.Diff(want, p), "")
	bins := state.Bins()
	if bins[0].Free[0] != 3 || bins[0].Containers != 1 || bins[1].Free[0] != 0 || bins[1].Containers != 2 {
		t.Errorf("bins %+v, want 3 and 0 left", bins)
	}
	must.Equal(t, s.Servers[0].Capacity[0], 4, "the bins share the capacities of the scenario")
}

// Kinds come twice where there are parameter servers, and every server has its part of them.
func TestProblemInSlots(t *testing.T) {
	s := inSlots(t)
	s.Servers = append(s.Servers, apportion.Server{ID: "v", Capacity: apportion.Resources{1}})
	p := (&sim.State{Scenario: s, Jobs: []sim.JobState{{Job: &s.Jobs[0]}}}).Problem()
	want := []apportion.Server{{ID: "w", Capacity: apportion.Resources{4, 1000}}, {ID: "v", Capacity: apportion.Resources{1, 1000}}}
	must.Equal(t, gocmp.Diff(want, p.Servers), "", "servers")
	must.Equal(t, gocmp.Diff(apportion.Kinds{"worker-unit", "ps-unit"}, p.Kinds), "", "kinds")
	must.Equal(t, gocmp.Diff(apportion.Resources{1, 500}, p.Applications[0].Demand), "", "demand")
	must.Do(t, p.Validate())
}

// Changes are of the jobs alone whose containers change, with the servers in the order of the scenario.
func TestChanges(t *testing.T) {
	on := func(server int, n int64) apportion.Placement { return apportion.Placement{Server: server, Count: n} }
	s := onServers(nil, 4, 4)
	state := &sim.State{Scenario: s}
	for id, places := range map[string][]apportion.Placement{"a stays": {on(1, 2)}, "b moves": {on(0, 1)}, "c ends": {on(0, 1)}, "d waits": nil, "e begins": nil} {
		job := elastic(id, 0, 1)
		state.Jobs = append(state.Jobs, sim.JobState{Job: &job, Places: places})
	}
	slices.SortFunc(state.Jobs, func(a, b sim.JobState) int { return cmp.Compare(a.ID, b.ID) })
	got := state.Changes(alloc.Allocation{"a stays": {"t": 2}, "b moves": {"t": 1, "s": 2}, "e begins": {"s": 1}})
	want := []sim.Place{{Job: "b moves", On: []apportion.Placement{on(0, 2), on(1, 1)}}, {Job: "c ends"}, {Job: "e begins", On: []apportion.Placement{on(0, 1)}}}
	must.Equal(t, gocmp.Diff(want, got), "")
}
