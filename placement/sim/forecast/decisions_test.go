// This file holds the policy of decisions against one that decides at every event, and knows of no shortcut.

package forecast_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/forecast"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// plain is the exhaustive twin of forecast.Decisions for jobs without ends that all arrive in the order of their list.
type plain struct {
	theta1, theta2 float64
	alloc.Decider
}

func (*plain) Name() string { return "plain" }

func (p *plain) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	problem := state.Problem()
	problem.Theta1, problem.Theta2 = p.theta1, p.theta2
	d, err := p.Reallocate(ctx, problem)
	if err != nil {
		return sim.Orders{}, err
	}
	return sim.Orders{Places: state.Changes(d.Allocation)}, nil
}

// rigid draws gangs of fixed numbers for a few servers, each of which the empty cluster holds.
func rigid(seed uint64) *sim.Scenario {
	random := rand.New(rand.NewPCG(seed, 9))
	s := &sim.Scenario{Kinds: apportion.Kinds{"cpu", "gpu"}}
	for j := range 1 + random.IntN(4) {
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{8, 4}})
	}
	at := time.Duration(0)
	for i := range 4 + random.IntN(12) {
		n := 1 + random.Int64N(int64(2*len(s.Servers)))
		at += time.Duration(random.IntN(100)) * time.Second
		app := alloc.Application{ID: fmt.Sprint("a", i), Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1 + random.Int64N(4), 1 + random.Int64N(2)}, Min: n, Max: n}}
		s.Jobs = append(s.Jobs, sim.Job{Application: app, Arrival: at, Fixed: n, Work: time.Duration(n) * time.Duration(1+random.IntN(600)) * time.Second})
	}
	return s
}

// Skipped decisions would have changed nothing; bounded ones are fewer, legal, and start everything in the end.
func TestDecisionsTwin(t *testing.T) {
	skipped, late := 0, 0
	for seed := range uint64(60) {
		s := rigid(seed)
		p := &alloc.Problem{Kinds: s.Kinds, Servers: s.Servers, Theta1: 0.1, Theta2: 0.2}
		want := must.Have(sim.Run(t.Context(), s, &plain{0.1, 0.2, alloc.Decider{Effort: embedded.Quick}}))(t)
		every := &forecast.Decisions{Problem: p}
		got := must.Have(sim.Run(t.Context(), s, every))(t)
		skipped += 2*len(s.Jobs) - every.Taken
		for i := range want.Jobs {
			if w, g := &want.Jobs[i], &got.Jobs[i]; w.Start != g.Start || w.Completion != g.Completion {
				t.Errorf("seed %d: %s from %v to %v, want %v to %v", seed, w.ID, g.Start, g.Completion, w.Start, w.Completion)
			}
		}
		few := &forecast.Decisions{Problem: p, Most: 3}
		bounded, err := sim.Run(t.Context(), s, few)
		if err == nil {
			err = simtest.Check(s, bounded)
		}
		if err != nil || few.Taken > every.Taken {
			t.Fatalf("seed %d: %d decisions, not %d: %v", seed, few.Taken, every.Taken, err)
		}
		for i := range want.Jobs {
			must.Equal(t, want.Jobs[i].Completed, bounded.Jobs[i].Completed, "seed", seed, want.Jobs[i].ID, "completes")
			if want.Jobs[i].Start != bounded.Jobs[i].Start {
				late++
			}
		}
	}
	if skipped == 0 || late == 0 {
		t.Errorf("%d decisions skipped, %d jobs start at another time: the test sees nothing", skipped, late)
	}
}
