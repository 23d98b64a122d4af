// This file plays every policy in every world that it is made for, under the referee of simtest.

package policies_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/placement/sim/simtest"
	"github.com/apportion/apportion/primaldual/deadline"
)

// quick answers P2 with little effort.
var quick = embedded.New(&embedded.Options{Effort: 2})

// made are the policies by world, each as a function that makes a fresh one.
var made = map[simtest.World][]func() sim.Policy{
	simtest.Containers: {
		func() sim.Policy { return policies.Swarm{} }, func() sim.Policy { return policies.Dorm123(quick)[2] },
		func() sim.Policy { return &policies.FIFO{} }, func() sim.Policy { return &policies.FIFO{Backfill: true} },
		func() sim.Policy { return &policies.DRF{} },
	},
	simtest.Workers: {
		func() sim.Policy { return &policies.Default{} },
		func() sim.Policy { return &policies.Default{Ties: rand.New(rand.NewPCG(1, 2))} },
		func() sim.Policy {
			return sound(policies.NewFlowCon(flowcon.Config{Interval: 20 * time.Second, Alpha: 0.002}, nil))
		},
		func() sim.Policy {
			return sound(policies.NewSpeCon(specon.Config{Interval: 20 * time.Second, Alpha: 0.05}, nil))
		},
	},
	simtest.Slots: {
		func() sim.Policy { return &policies.OASiS{} }, func() sim.Policy { return &policies.FIFO{} },
		func() sim.Policy { return &policies.FIFO{Backfill: true} }, func() sim.Policy { return &policies.DRF{} },
		func() sim.Policy { return &policies.RRH{} }, func() sim.Policy { return policies.DormInSlots(quick) },
		func() sim.Policy { return &policies.Deadline{} },
		func() sim.Policy {
			return &policies.Deadline{Label: "Deadline, promises", Options: deadline.Options{Promise: deadline.OnAdmission}}
		},
	},
}

func sound[P any](made P, err error) P {
	if err != nil {
		panic(err)
	}
	return made
}

func TestPropPolicies(t *testing.T) {
	for world, fresh := range made {
		for _, f := range fresh {
			t.Run(world.String()+"/"+f().Name(), func(t *testing.T) { simtest.Run(t, world, 60, f) })
		}
	}
}
