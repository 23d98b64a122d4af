package nodesim_test

import (
	"fmt"
	"time"

	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/internal/nodesim"
)

// A job that has converged is held back for one that has just come.
func ExampleRun() {
	curve, err := nodesim.Recorded("deepobs_mnist_vae_adam_best")
	if err != nil {
		fmt.Println(err)
		return
	}
	scenario := &nodesim.Scenario{Workers: 1, Jobs: []nodesim.Job{
		{ID: "old", Work: 200 * time.Second, Demand: nodesim.Whole, Curve: curve},
		{ID: "new", Arrival: 60 * time.Second, Work: 30 * time.Second, Demand: nodesim.Whole, Curve: curve},
	}}
	flowcon, err := nodesim.NewFlowCon(flowcon.Config{Interval: 20 * time.Second, Alpha: 0.05}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, policy := range []nodesim.Policy{&nodesim.Default{}, flowcon} {
		result, err := nodesim.Run(scenario, policy)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(policy.Name())
		for _, o := range result.Outcomes {
			fmt.Println(" ", o.ID, o.Time().Round(time.Second))
		}
	}
	// Output:
	// default
	//   old 3m50s
	//   new 1m0s
	// FlowCon
	//   old 3m50s
	//   new 40s
}
