// This file tests the suite itself: policies that break a promise are found out by Run, and results that have been
// tampered with anywhere by Check.

package simtest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
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
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), program, "-test.run=^TestFlawed$", "-test.v", "-test.timeout=60s")
	child.Env = append(os.Environ(), flawVariable+"=1")
	output, err := child.CombinedOutput()
	if err == nil {
		t.Fatal("flawed policies passed")
	}
	text := string(output)
	for name, flaw := range flawedPolicies {
		_, rest, found := strings.Cut(text, "=== RUN   TestFlawed/"+name)
		said, _, _ := strings.Cut(rest, "=== RUN")
		if !found || !regexp.MustCompile(flaw.want).MatchString(said) || !strings.Contains(text, "--- FAIL: TestFlawed/"+name) {
			t.Errorf("%s: the suite says %.600s\nwant %s", name, said, flaw.want)
		}
	}
}

// tampering is a change of a result that cannot be right, of whatever it finds to change; it returns whether it
// found something.
var tampering = map[string]func(r *sim.Result, rng *rand.Rand) bool{
	"a job forgotten": func(r *sim.Result, _ *rand.Rand) bool {
		r.Jobs = r.Jobs[1:]
		return true
	},
	"another name": func(r *sim.Result, rng *rand.Rand) bool {
		r.Jobs[rng.IntN(len(r.Jobs))].ID += "'"
		return true
	},
	"an earlier arrival": func(r *sim.Result, rng *rand.Rand) bool {
		r.Jobs[rng.IntN(len(r.Jobs))].Arrival--
		return true
	},
	"a span a moment longer": func(r *sim.Result, rng *rand.Rand) bool {
		return onSpan(r, rng, func(o *sim.Outcome, i int) bool { o.Spans[i].Until++; return true })
	},
	"a span a second shorter": func(r *sim.Result, rng *rand.Rand) bool {
		return onSpan(r, rng, func(o *sim.Outcome, i int) bool {
			o.Spans[i].Until -= time.Second
			return o.Completed && o.Spans[i].Rate > 1 // work of a second is missing, or an end that is none
		})
	},
	"a span lost": func(r *sim.Result, rng *rand.Rand) bool {
		return onSpan(r, rng, func(o *sim.Outcome, i int) bool {
			lost := o.Spans[i].Rate > 0 && o.Completed
			o.Spans = append(o.Spans[:i:i], o.Spans[i+1:]...)
			return lost
		})
	},
	"faster": func(r *sim.Result, rng *rand.Rand) bool {
		return onSpan(r, rng, func(o *sim.Outcome, i int) bool { o.Spans[i].Rate += 2_000_000; return true })
	},
	"a container more": func(r *sim.Result, rng *rand.Rand) bool {
		return onSpan(r, rng, func(o *sim.Outcome, i int) bool {
			o.Spans[i].Places[0].Count += 100
			return true
		})
	},
	"no containers": func(r *sim.Result, rng *rand.Rand) bool {
		return onSpan(r, rng, func(o *sim.Outcome, i int) bool { o.Spans[i].Places = nil; return true })
	},
	"a start a moment later": func(r *sim.Result, rng *rand.Rand) bool {
		return onSpan(r, rng, func(o *sim.Outcome, _ int) bool { o.Start++; return true })
	},
	"a completion that was none": func(r *sim.Result, rng *rand.Rand) bool {
		o := &r.Jobs[rng.IntN(len(r.Jobs))]
		o.Completed = !o.Completed
		return true
	},
	"a pause more": func(r *sim.Result, rng *rand.Rand) bool {
		r.Jobs[rng.IntN(len(r.Jobs))].Paused++
		return true
	},
	"an adjustment more": func(r *sim.Result, rng *rand.Rand) bool {
		r.Jobs[rng.IntN(len(r.Jobs))].Adjusted++
		return true
	},
	"refused, though it ran": func(r *sim.Result, rng *rand.Rand) bool {
		return onSpan(r, rng, func(o *sim.Outcome, _ int) bool { o.Refused = true; return true })
	},
	"a sample out of order": func(r *sim.Result, rng *rand.Rand) bool {
		if len(r.Samples) < 2 {
			return false
		}
		i := 1 + rng.IntN(len(r.Samples)-1)
		r.Samples[i].At = r.Samples[i-1].At
		return true
	},
	"a sample of more": func(r *sim.Result, rng *rand.Rand) bool {
		if len(r.Samples) == 0 {
			return false
		}
		r.Samples[rng.IntN(len(r.Samples))].Total += 1e-6
		return true
	},
	"a loss below zero": func(r *sim.Result, rng *rand.Rand) bool {
		if len(r.Samples) == 0 {
			return false
		}
		r.Samples[rng.IntN(len(r.Samples))].RunningLoss = -1e-6
		return true
	},
}

// onSpan changes one span of a job that has any.
func onSpan(r *sim.Result, rng *rand.Rand, change func(o *sim.Outcome, i int) bool) bool {
	for _, i := range rng.Perm(len(r.Jobs)) {
		if o := &r.Jobs[i]; len(o.Spans) > 0 {
			return change(o, rng.IntN(len(o.Spans)))
		}
	}
	return false
}

// A right result passes, and no tampering with it does, in any world and at any place.
func TestTampered(t *testing.T) {
	fresh := map[simtest.World]func() sim.Policy{
		simtest.Containers: func() sim.Policy { return policies.Swarm{} },
		simtest.Workers:    func() sim.Policy { return &policies.Default{} },
		simtest.Slots:      func() sim.Policy { return &policies.FIFO{} },
	}
	tried := map[string]int{}
	for world, policy := range fresh {
		for seed := range uint64(25) {
			s := simtest.Scenario(world, seed)
			if len(s.Jobs) == 0 {
				continue
			}
			for name, tamper := range tampering {
				r, err := sim.Run(t.Context(), s, policy())
				if err != nil {
					t.Fatal(err)
				}
				if err := simtest.Check(s, r); err != nil {
					t.Fatalf("%v scenario %d: %v", world, seed, err)
				}
				if !tamper(r, rand.New(rand.NewPCG(seed, 7))) {
					continue
				}
				tried[name]++
				if simtest.Check(s, r) == nil {
					t.Errorf("%v scenario %d: %s, and nobody minds", world, seed, name)
				}
			}
		}
	}
	for name := range tampering {
		if tried[name] < 10 {
			t.Errorf("%s was tried %d times", name, tried[name])
		}
	}
}

// The curve falls from 1, ever more slowly, and never rises.
func TestFalling(t *testing.T) {
	curve := simtest.Falling()
	before, fell := curve.Value(0), 1.0
	if before != 1 {
		t.Errorf("it begins at %g", before)
	}
	for i := 1; i <= 10; i++ {
		value := curve.Value(float64(i) / 10)
		if step := before - value; step <= 0 || step > fell+1e-12 {
			t.Errorf("it falls by %g at %d tenths, by %g before", step, i, fell)
		} else {
			fell = step
		}
		before = value
	}
	if fmt.Sprint(before) != "0.1836" {
		t.Errorf("it ends at %g", before)
	}
}
