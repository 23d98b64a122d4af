// This file shows one scenario under two policies.

package slotsim_test

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/slotsim"
	"github.com/apportion/apportion/primaldual"
)

// The first job would keep both workers for two slots. OASiS sees that it is worth little and leaves
// them to the second.
func ExampleRun() {
	job := func(id string, arrival int, worth float64) primaldual.Job {
		return primaldual.Job{
			ID: id, Arrival: arrival, Epochs: 2, Chunks: 2, Minibatches: 1, MinibatchSlots: 1,
			WorkerBandwidth: 1, PSBandwidth: 2, Worker: apportion.Resources{1}, PS: apportion.Resources{1},
			Utility: primaldual.Steps{{Within: 1, Value: worth}},
		}
	}
	scenario := &slotsim.Scenario{
		Cluster: &primaldual.Cluster{
			Kinds: apportion.Kinds{"gpu"}, Slots: 3,
			WorkerServers: []apportion.Server{{ID: "w", Capacity: apportion.Resources{2}}},
			PSServers:     []apportion.Server{{ID: "p", Capacity: apportion.Resources{1}}},
		},
		Jobs:    []primaldual.Job{job("modest", 1, 3), job("urgent", 2, 100)},
		Workers: []int64{2, 2},
	}
	bounds := &primaldual.Bounds{UWorker: []float64{100}, LWorker: []float64{1}, UPS: []float64{100}, LPS: []float64{1}}
	for _, policy := range []slotsim.Policy{slotsim.OASiS{}, slotsim.FIFO{}} {
		result, err := slotsim.Run(context.Background(), scenario, bounds, policy)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.Policy, result.Total, result.Completion)
	}
	// Output:
	// OASiS 100 [0 3]
	// FIFO 3 [2 0]
}
