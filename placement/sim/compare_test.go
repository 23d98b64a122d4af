// This file tests that policies are compared on one scenario.

package sim_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/placement/sim/simtest"
)

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
	alone, err := sim.Run(t.Context(), s, policies.Swarm{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(alone, results[0]); diff != "" {
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
