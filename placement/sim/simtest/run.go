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
		// The comparison is of values, not of texts: a field that is not written would be lost in both.
		// It survives JSON, as every result of the library.
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
		// Shuffled jobs or not, a second run of a fresh policy must say the same: nothing may depend on maps or clocks.
		// It is the only answer. Samples are compared as they are, jobs by name.
		if again := play(t, s, fresh()); !reflect.DeepEqual(sorted(r), sorted(again)) {
			t.Errorf("%s, %v scenario %d: another result in a second run", r.Policy, world, seed)
		}
	}
}

// play runs the scenario under the policy.
func play(t *testing.T, s *sim.Scenario, policy sim.Policy) *sim.Result {
	t.Helper()
	// A policy under test has no business with errors: whatever it orders must be possible.
	r, err := sim.Run(t.Context(), s, policy)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// roundTrip writes a result as JSON and reads it.
func roundTrip(t *testing.T, r *sim.Result) (text []byte, back *sim.Result) {
	t.Helper()
	// Infinite and undefined numbers fail here, since JSON has none.
	text, err := json.Marshal(r)
	if err == nil {
		// A pointer to a nil pointer: json.Unmarshal makes the result.
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
