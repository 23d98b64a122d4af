package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/sim"
)

// Two applications, each an hour of work on 4 containers, on a server that holds 8. Swarm gives
// each its 4; Dorm lets the first use all 8 until the second comes.
func ExampleRun() {
	app := func(id string, arrival time.Duration) sim.App {
		return sim.App{
			Application: alloc.Application{ID: id, Demand: apportion.Resources{1}, Weight: 1, Max: 8, Min: 1},
			Arrival:     arrival,
			Fixed:       4,
			Duration:    time.Hour,
		}
	}
	scenario := &sim.Scenario{
		Kinds:      apportion.Kinds{"cpu"},
		Servers:    []apportion.Server{{ID: "s", Capacity: apportion.Resources{8}}},
		Apps:       []sim.App{app("a", 0), app("b", 20*time.Minute)},
		AdjustCost: sim.AdjustCost,
	}
	for _, policy := range []sim.Policy{sim.Swarm{}, &sim.Dorm{Label: "Dorm", Theta1: 0.1, Theta2: 0.1}} {
		result, err := sim.Run(context.Background(), scenario, policy)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range result.Outcomes {
			o := &result.Outcomes[i]
			fmt.Println(policy.Name(), o.ID, "ran", o.Running(), "adjusted", o.Adjusted)
		}
	}
	// Output:
	// Swarm a ran 1h0m0s adjusted 0
	// Swarm b ran 1h0m0s adjusted 0
	// Dorm a ran 44m30s adjusted 1
	// Dorm b ran 46m45s adjusted 1
}
