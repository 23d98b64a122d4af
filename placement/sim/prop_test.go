// This file plays policies without sense, which reach states that no sensible one reaches, in every
// world; and checks that the referee sees what is wrong.

package sim_test

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// shuffler throws the containers anew at every decision, some jobs get none. What it does depends on
// the time and on the job, not on the order of jobs.
type shuffler struct {
	seed uint64
	// wake is the longest time until it wants to be asked again.
	wake time.Duration
}

func (shuffler) Name() string { return "shuffler" }

func (p shuffler) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	_, shared := state.Scenario.Law.(sim.Shared)
	servers := len(state.Scenario.Servers)
	free, err := (&sim.State{Scenario: state.Scenario}).Packer(placement.FirstFit)
	if err != nil {
		return orders, err
	}
	for i := range state.Jobs {
		job := &state.Jobs[i]
		rng := p.rng(state.Now, job.ID)
		switch {
		case shared && (job.New || rng.IntN(2) == 0):
			orders.Places = append(orders.Places, sim.Place{Job: job.ID, On: []apportion.Placement{{Server: rng.IntN(servers), Count: 1}}})
			orders.Limits = append(orders.Limits, sim.Limit{Job: job.ID, Share: 1 + rng.Int64N(sim.Whole)})
		case !shared:
			on, ok := free.Place(job.Demand, rng.Int64N(min(4, job.Max+1)), nil)
			if ok && job.Training == nil {
				orders.Places = append(orders.Places, sim.Place{Job: job.ID, On: on})
			} else {
				orders.Places = append(orders.Places, sim.Place{Job: job.ID})
			}
		}
	}
	if rng := p.rng(state.Now, ""); state.Scenario.Horizon > 0 && rng.IntN(4) == 0 {
		orders.Next = state.Now + time.Duration(1+rng.Int64N(int64(p.wake)))
	}
	return orders, nil
}

// rng is a source of what a job gets now.
func (p shuffler) rng(now time.Duration, id string) *rand.Rand {
	h := fnv.New64()
	h.Write([]byte(id))
	return rand.New(rand.NewPCG(p.seed^h.Sum64(), uint64(now)))
}

func TestPropShuffler(t *testing.T) {
	for seed := range uint64(2) {
		for _, world := range []simtest.World{simtest.Containers, simtest.Workers, simtest.Slots} {
			simtest.Run(t, world, 60, func() sim.Policy { return shuffler{seed, time.Hour} })
		}
	}
}

// The referee refuses results that have been tampered with.
func TestCheckSees(t *testing.T) {
	s := onServers([]sim.Job{elastic("a", 0, 20), elastic("b", 5, 10)}, 2, 2)
	s.AdjustCost = 2
	first := place("a", 0, 2)
	first.Next = 2
	second := sim.Orders{Places: []sim.Place{place("a", 1, 2).Places[0], place("b", 0, 1).Places[0]}}
	good := func() *sim.Result {
		return run(t, s, &script{orders: []sim.Orders{first, {}, second}})
	}
	for name, tamper := range map[string]func(*sim.Result){
		"one job less":          func(r *sim.Result) { r.Jobs = r.Jobs[1:] },
		"another job":           func(r *sim.Result) { r.Jobs[0].ID = "b" },
		"too early":             func(r *sim.Result) { r.Jobs[1].Spans[0].From = 4 },
		"no time":               func(r *sim.Result) { r.Jobs[0].Spans[0].Until = 0 },
		"too little work":       func(r *sim.Result) { r.Jobs[1].Spans[0].Until--; r.Jobs[1].Completion-- },
		"too much work":         func(r *sim.Result) { r.Jobs[1].Spans[0].Until++; r.Jobs[1].Completion++ },
		"too fast":              func(r *sim.Result) { r.Jobs[1].Spans[0].Rate *= 2 },
		"too many":              func(r *sim.Result) { r.Jobs[1].Spans[0].Places[0].Count = 5 },
		"parameter servers":     func(r *sim.Result) { r.Jobs[1].Spans[0].ParameterServers = r.Jobs[1].Spans[0].Places },
		"overfilled":            func(r *sim.Result) { r.Jobs[1].Spans[0].Places[0].Server = 1 },
		"completed too soon":    func(r *sim.Result) { r.Jobs[1].Completion-- },
		"not completed":         func(r *sim.Result) { r.Jobs[1].Completed = false },
		"not started":           func(r *sim.Result) { r.Jobs[1].Started = false },
		"refused":               func(r *sim.Result) { r.Jobs[1].Refused = true },
		"pause":                 func(r *sim.Result) { r.Jobs[0].Paused++ },
		"adjusted":              func(r *sim.Result) { r.Samples[0].Adjusted++ },
		"utilization":           func(r *sim.Result) { r.Samples[0].Total += 0.1 },
		"loss":                  func(r *sim.Result) { r.Samples[0].FairnessLoss = -1 },
		"samples not sorted":    func(r *sim.Result) { r.Samples[1].At = 0 },
		"samples after the end": func(r *sim.Result) { r.End = 5 },
	} {
		r := good()
		tamper(r)
		if simtest.Check(s, r) == nil {
			t.Errorf("%s: nothing was found", name)
		}
	}
}
