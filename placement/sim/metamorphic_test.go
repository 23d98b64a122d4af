// This file changes scenarios in ways whose effect on the result is known without a simulation: other units of
// resources, other names, jobs that cannot matter, and a later beginning.

package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// known are policies for each world that look at nothing but what is changed here.
var known = map[simtest.World]func() sim.Policy{
	simtest.Containers: func() sim.Policy { return policies.Swarm{} },
	simtest.Workers:    func() sim.Policy { return &policies.Default{} },
	simtest.Slots:      func() sim.Policy { return &policies.FIFO{} },
}

// mustRun runs a scenario under the policy of its world.
func mustRun(t *testing.T, world simtest.World, s *sim.Scenario) *sim.Result {
	t.Helper()
	r, err := sim.Run(t.Context(), s, known[world]())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// changes are the ways: change is what becomes of the scenario, undo what becomes of the result, which must then
// be that of the scenario as it was.
var changes = []struct {
	name   string
	worlds []simtest.World
	change func(s *sim.Scenario)
	undo   func(r *sim.Result)
}{
	{"an hour later", []simtest.World{simtest.Containers, simtest.Workers}, func(s *sim.Scenario) {
		if s.Horizon > 0 {
			s.Horizon += time.Hour
		}
		for i := range s.Jobs {
			s.Jobs[i].Arrival += time.Hour
		}
	}, func(r *sim.Result) {
		eachInstant(r, func(d time.Duration) time.Duration {
			if d == 0 {
				return 0 // what has not happened
			}
			return d - time.Hour
		})
	}},
	{"resources in thousandths", []simtest.World{simtest.Containers}, func(s *sim.Scenario) {
		for j := range s.Servers {
			s.Servers[j].Capacity = thousandfold(s.Servers[j].Capacity)
		}
		for i := range s.Jobs {
			s.Jobs[i].Demand = thousandfold(s.Jobs[i].Demand)
		}
	}, func(*sim.Result) {}},
	{"a kind that nobody has or wants", []simtest.World{simtest.Containers}, func(s *sim.Scenario) {
		s.Kinds = append(slices.Clone(s.Kinds), "tpu")
		for j := range s.Servers {
			s.Servers[j].Capacity = append(slices.Clone(s.Servers[j].Capacity), 0)
		}
		for i := range s.Jobs {
			s.Jobs[i].Demand = append(slices.Clone(s.Jobs[i].Demand), 0)
		}
	}, func(r *sim.Result) {
		for i := range r.Samples {
			r.Samples[i].Utilization = r.Samples[i].Utilization[:2]
		}
	}},
	{"a job that comes after the horizon", []simtest.World{simtest.Containers, simtest.Workers}, func(s *sim.Scenario) {
		if s.Horizon == 0 {
			s.Horizon = 1000 * time.Hour
		}
		job := s.Jobs[0]
		job.ID, job.Arrival = "late", s.Horizon
		s.Jobs = append(s.Jobs, job)
	}, func(r *sim.Result) { r.Jobs = r.Jobs[:len(r.Jobs)-1] }},
	{"other names", []simtest.World{simtest.Containers, simtest.Workers, simtest.Slots}, func(s *sim.Scenario) {
		for i := range s.Jobs {
			s.Jobs[i].ID = "x-" + s.Jobs[i].ID
			if training := s.Jobs[i].Training; training != nil {
				renamed := *training
				renamed.ID = s.Jobs[i].ID
				s.Jobs[i].Training = &renamed
			}
		}
		for j := range s.Servers {
			s.Servers[j].ID = "x-" + s.Servers[j].ID
		}
	}, func(r *sim.Result) {
		for i := range r.Jobs {
			r.Jobs[i].ID = r.Jobs[i].ID[2:]
		}
	}},
}

func thousandfold(r apportion.Resources) apportion.Resources {
	out := make(apportion.Resources, len(r))
	for k, q := range r {
		out[k] = 1000 * q
	}
	return out
}

// eachInstant replaces every instant of a result; lengths of time, as that of a pause, stay.
func eachInstant(r *sim.Result, f func(time.Duration) time.Duration) {
	r.End = f(r.End)
	for i := range r.Samples {
		r.Samples[i].At = f(r.Samples[i].At)
	}
	for i := range r.Jobs {
		o := &r.Jobs[i]
		o.Arrival, o.Start, o.Completion = f(o.Arrival), f(o.Start), f(o.Completion)
		for k := range o.Spans {
			o.Spans[k].From, o.Spans[k].Until = f(o.Spans[k].From), f(o.Spans[k].Until)
		}
	}
}

// A change whose effect is known has that effect and no other.
func TestKnownChanges(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	for _, c := range changes {
		for _, world := range c.worlds {
			compared := 0
			for seed := range seeds {
				s := simtest.Scenario(world, seed)
				if len(s.Jobs) == 0 {
					continue
				}
				want := mustRun(t, world, s)
				changed := simtest.Scenario(world, seed)
				c.change(changed)
				got := mustRun(t, world, changed)
				if err := simtest.Check(changed, got); err != nil {
					t.Errorf("%s, %v scenario %d: %v", c.name, world, seed, err)
				}
				c.undo(got)
				if c.name == "a job that comes after the horizon" {
					want.End, got.End = 0, 0 // a run ends at its horizon where something would happen later
				}
				if diff := cmp.Diff(want, got, roughly); diff != "" {
					t.Fatalf("%s, %v scenario %d (-as it was +changed):\n%s", c.name, world, seed, diff)
				}
				compared++
			}
			if compared < int(seeds)/2 {
				t.Errorf("%s, %v: only %d scenarios", c.name, world, compared)
			}
		}
	}
}

// roughly compares shares, which other units round otherwise.
var roughly = cmp.Comparer(func(a, b float64) bool { return a == b || a-b < 1e-9 && b-a < 1e-9 })

// Policies are compared on one scenario, each as if it were alone, in their order; the first error ends it.
func TestCompare(t *testing.T) {
	s := simtest.Scenario(simtest.Containers, 5)
	results, err := sim.Compare(t.Context(), s, policies.Swarm{}, &script{}, policies.Swarm{})
	if err != nil || len(results) != 3 {
		t.Fatal(results, err)
	}
	for i, want := range []string{"Swarm", "script", "Swarm"} {
		if results[i].Policy != want {
			t.Errorf("result %d is that of %s, want %s", i, results[i].Policy, want)
		}
	}
	if diff := cmp.Diff(results[0], results[2]); diff != "" {
		t.Errorf("the first run and the last (-first +last):\n%s", diff)
	}
	if diff := cmp.Diff(mustRun(t, simtest.Containers, s), results[0]); diff != "" {
		t.Errorf("alone and compared:\n%s", diff)
	}
	failing := fmt.Errorf("no idea")
	if results, err := sim.Compare(t.Context(), s, policies.Swarm{}, &script{err: failing}, policies.Swarm{}); err == nil || results != nil {
		t.Errorf("%v, %v, though the second fails", results, err)
	}
	if results, err := sim.Compare(t.Context(), s); err != nil || len(results) != 0 {
		t.Errorf("nobody to compare: %v, %v", results, err)
	}
}
