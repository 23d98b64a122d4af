// This file plays policies without sense, which reach states that no sensible one reaches, in every world.

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
