// This file tests that policies are compared on one scenario.

package sim_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// Policies are compared on one scenario, each as if it were alone, in their order; the first error ends it.
func TestCompare(t *testing.T) {
	s := simtest.Scenario(simtest.Containers, 5)
	results := must.Have(sim.Compare(t.Context(), s, policies.Swarm{}, &script{}, policies.Swarm{}))(t)
	must.Equal(t, len(results), 3, results)
	for i, want := range []string{"Swarm", "script", "Swarm"} {
		must.Equal(t, results[i].Policy, want, "result", i, "is that of")
	}
	must.Equal(t, cmp.Diff(results[0], results[2]), "", "the first run and the last (-first +last)")
	alone := must.Have(sim.Run(t.Context(), s, policies.Swarm{}))(t)
	must.Equal(t, cmp.Diff(alone, results[0]), "", "alone and compared")
	failing := fmt.Errorf("no idea")
	if results, err := sim.Compare(t.Context(), s, policies.Swarm{}, &script{err: failing}, policies.Swarm{}); err == nil || results != nil {
		t.Errorf("%v, %v, though the second fails", results, err)
	}
	if results, err := sim.Compare(t.Context(), s); err != nil || len(results) != 0 {
		t.Errorf("nobody to compare: %v, %v", results, err)
	}
}
