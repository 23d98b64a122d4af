// This file tests what the referee stands on: the scenarios, and that they are alike for one seed.

package simtest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
)

var worlds = []simtest.World{simtest.Containers, simtest.Workers, simtest.Slots}

// Every scenario is valid, and the same seed gives the same one.
func TestScenarios(t *testing.T) {
	for _, world := range worlds {
		for seed := range uint64(200) {
			s := simtest.Scenario(world, seed)
			must.Do(t, s.Validate(), world, "scenario", seed)
			again := simtest.Scenario(world, seed)
			if len(again.Jobs) != len(s.Jobs) || !cmp.Equal(s.Servers, again.Servers) {
				t.Errorf("%v scenario %d is another one the second time", world, seed)
			}
			arrivals := map[time.Duration]bool{}
			for i := range s.Jobs {
				if world != simtest.Slots && arrivals[s.Jobs[i].Arrival] {
					t.Errorf("%v scenario %d: two jobs arrive at %v", world, seed, s.Jobs[i].Arrival)
				}
				arrivals[s.Jobs[i].Arrival] = true
				if !cmp.Equal(s.Jobs[i].Application, again.Jobs[i].Application) || s.Jobs[i].Work != again.Jobs[i].Work {
					t.Errorf("%v scenario %d: %s is another job the second time", world, seed, s.Jobs[i].ID)
				}
			}
		}
	}
}

// Each world has what makes it one: jobs that can never run and speeds that are not linear; workers with
// interference and without; parameter servers.
func TestScenariosVary(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(100) {
		c, w, s := simtest.Scenario(simtest.Containers, seed), simtest.Scenario(simtest.Workers, seed), simtest.Scenario(simtest.Slots, seed)
		seen["a horizon"] = seen["a horizon"] || c.Horizon > 0
		for i := range c.Jobs {
			seen["a serial part"] = seen["a serial part"] || c.Jobs[i].Speedup != nil
			never := true
			for h := range c.Servers {
				never = never && !c.Jobs[i].Demand.FitsIn(c.Servers[h].Capacity)
			}
			seen["a job that never runs"] = seen["a job that never runs"] || never
		}
		law := w.Law.(sim.Shared)
		seen["interference"] = seen["interference"] || law.Interference > 0
		seen["no interference"] = seen["no interference"] || law.Interference == 0
		seen["no jobs"] = seen["no jobs"] || len(w.Jobs) == 0
		seen["parameter servers"] = seen["parameter servers"] || len(s.ParameterServers) > 1 && s.Jobs[0].Training != nil
	}
	for _, what := range []string{"a horizon", "a serial part", "a job that never runs", "interference", "no interference", "no jobs", "parameter servers"} {
		if !seen[what] {
			t.Errorf("none of 100 scenarios has %s", what)
		}
	}
}
