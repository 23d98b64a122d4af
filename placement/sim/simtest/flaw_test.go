// This file tests the suite itself: policies that break a promise are found out by Run.

package simtest_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// changed is Swarm with something done before or after it decides.
type changed struct {
	policies.Swarm
	before func(*sim.State)
	after  func(*sim.State, *sim.Orders)
}

func (c changed) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	if c.before != nil {
		c.before(state)
	}
	orders, err := c.Swarm.Decide(ctx, state)
	if c.after != nil && err == nil {
		c.after(state, &orders)
	}
	return orders, err
}

// runs counts the policies that fresh has made, for one that differs from run to run.
var runs int

// flawedPolicies break one promise each; want is what Run says.
var flawedPolicies = map[string]struct {
	fresh func() sim.Policy
	want  string
}{
	"changes_the_scenario": {func() sim.Policy {
		return changed{after: func(s *sim.State, _ *sim.Orders) { s.Scenario.Servers[0].Capacity[0]++ }}
	}, "the run has changed the scenario"},
	"changes_a_job": {func() sim.Policy {
		return changed{after: func(s *sim.State, _ *sim.Orders) { s.Scenario.Jobs[0].Request++ }}
	}, "the run has changed the scenario"},
	"depends_on_the_list": {func() sim.Policy {
		return changed{after: func(s *sim.State, o *sim.Orders) {
			if len(o.Places) > 0 && s.Jobs[0].Index != 0 {
				o.Places = o.Places[:0]
			}
		}}
	}, "another result in a second run"},
	"differs_from_run_to_run": {func() sim.Policy {
		runs++
		lazy := runs%2 == 0
		return changed{after: func(_ *sim.State, o *sim.Orders) {
			if lazy {
				o.Places = nil
			}
		}}
	}, "another result in a second run"},
	"has_a_name_that_JSON_loses": {func() sim.Policy { return named{} }, "another result after JSON"},
	"asks_for_what_is_not_there": {func() sim.Policy {
		return changed{after: func(s *sim.State, o *sim.Orders) {
			for i := range o.Places {
				o.Places[i].On = []apportion.Placement{{Server: 0, Count: 1 << 40}}
			}
		}}
	}, "cannot place: 1099511627776 containers"},
}

// named has a name that is no UTF-8, which JSON replaces.
type named struct{ policies.Swarm }

func (named) Name() string { return "Sw\xffarm" }

const flawVariable = "APPORTION_SIMTEST_FLAWS"

// TestFlawed is the suite over policies that must not pass. It runs in a child of TestFlaws only.
func TestFlawed(t *testing.T) {
	if os.Getenv(flawVariable) == "" {
		t.Skip("it is run by TestFlaws")
	}
	for name, flaw := range flawedPolicies {
		t.Run(name, func(t *testing.T) { simtest.Run(t, simtest.Containers, 60, flaw.fresh) })
	}
}

// TestFlaws: every policy that breaks a promise fails, and is told what is wrong with it.
func TestFlaws(t *testing.T) {
	program := must.Have(os.Executable())(t)
	child := exec.CommandContext(t.Context(), program, "-test.run=^TestFlawed$", "-test.v", "-test.timeout=60s")
	child.Env = append(os.Environ(), flawVariable+"=1")
	output, err := child.CombinedOutput()
	must.Err(t, err, must.ErrAny, "flawed policies passed")
	text := string(output)
	for name, flaw := range flawedPolicies {
		_, rest, found := strings.Cut(text, "=== RUN   TestFlawed/"+name)
		said, _, _ := strings.Cut(rest, "=== RUN")
		if !found || !regexp.MustCompile(flaw.want).MatchString(said) || !strings.Contains(text, "--- FAIL: TestFlawed/"+name) {
			t.Errorf("%s: the suite says %.600s\nwant %s", name, said, flaw.want)
		}
	}
}
