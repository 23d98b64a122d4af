// This file plays scenarios under a policy.

package simtest

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/placement/sim"
)

// Run plays n random scenarios of a world under a policy, a fourth of them with -short; fresh returns
// one that has not run. Every result must pass Check and survive JSON, the scenario must stay as it
// is, and where no two jobs arrive at once the order of Scenario.Jobs must not matter.
func Run(t *testing.T, world World, n int, fresh func() sim.Policy) {
	t.Helper()
	if testing.Short() {
		n = max(1, n/4)
	}
	// The seeds count from 0, so that a failure can be played again from its number.
	for seed := range uint64(n) {
		s := Scenario(world, seed)
		r := play(t, s, fresh())
		if err := Check(s, r); err != nil {
			t.Errorf("%s, %v scenario %d: %v", r.Policy, world, seed, err)
		}
		if text, back := roundTrip(t, r); !reflect.DeepEqual(r, back) {
			t.Errorf("%s, %v scenario %d: another result after JSON: %s", r.Policy, world, seed, text)
		}
		// The scenario is drawn again rather than copied before: a copy could share what the run has changed.
		// Inputs are read and not written.
		if !sameJobs(s, Scenario(world, seed)) {
			t.Errorf("%s, %v scenario %d: the run has changed the scenario", r.Policy, world, seed)
		}
		// In slots jobs arrive together, and their order decides who is asked first.
		if world != Slots {
			rand.New(rand.NewPCG(seed, 2)).Shuffle(len(s.Jobs), func(i, j int) { s.Jobs[i], s.Jobs[j] = s.Jobs[j], s.Jobs[i] })
		}
		if again := play(t, s, fresh()); !reflect.DeepEqual(sorted(r), sorted(again)) {
			t.Errorf("%s, %v scenario %d: another result in a second run", r.Policy, world, seed)
		}
	}
}

func play(t *testing.T, s *sim.Scenario, policy sim.Policy) *sim.Result {
	t.Helper()
	r, err := sim.Run(t.Context(), s, policy)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// roundTrip writes a result as JSON and reads it.
func roundTrip(t *testing.T, r *sim.Result) (text []byte, back *sim.Result) {
	t.Helper()
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text, back
}

// sameJobs compares what can be compared of jobs and servers: functions cannot.
func sameJobs(a, b *sim.Scenario) bool {
	return slices.EqualFunc(a.Jobs, b.Jobs, func(a, b sim.Job) bool {
		a.Speedup, b.Speedup, a.SpeedOn, b.SpeedOn = nil, nil, nil, nil
		return reflect.DeepEqual(a, b)
	}) && reflect.DeepEqual(a.Servers, b.Servers) && reflect.DeepEqual(a.ParameterServers, b.ParameterServers)
}

// sorted returns the result with its jobs by name, whatever their order was in the scenario.
func sorted(r *sim.Result) *sim.Result {
	out := *r
	out.Jobs = slices.Clone(r.Jobs)
	slices.SortFunc(out.Jobs, func(a, b sim.Outcome) int { return strings.Compare(a.ID, b.ID) })
	return &out
}
