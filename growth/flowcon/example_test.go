package flowcon_test

import (
	"fmt"
	"time"

	"github.com/apportion/apportion/growth/flowcon"
)

// A program on the worker asks FlowCon at every run what to change, and applies it.
func ExampleExecutor_Step() {
	f, err := flowcon.New(flowcon.Config{Interval: 20 * time.Second, Alpha: 0.01, Kinds: 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var decision flowcon.Decision
	for i, loss := range [][2]float64{{2, 9}, {1.9, 6}, {1.85, 4}, {1.84, 3}} {
		now := time.Duration(i) * 20 * time.Second
		err := f.Step(now, []flowcon.Reading{
			{Job: "vae", At: now, Value: loss[0], Usage: []float64{0.5}},
			{Job: "lstm", At: now, Value: loss[1], Usage: []float64{0.5}},
		}, &decision)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(now, decision.Trigger, "next", decision.Next)
		for _, move := range decision.Changes {
			fmt.Println(" ", move)
		}
		for _, limit := range decision.Limits {
			fmt.Println(" ", limit)
		}
	}
	// Output:
	// 0s listener next 20s
	//   lstm: outside -> progressing, arrived
	//   vae: outside -> progressing, arrived
	//   lstm: kind 0 limit 0 -> 1, not measured
	//   vae: kind 0 limit 0 -> 1, not measured
	// 20s due next 40s
	//   vae: progressing -> watching, grows slowly (0.005)
	//   lstm: kind 0 limit 1 -> 0.869565, share of growth
	// 40s due next 1m0s
	//   vae: watching -> converged, grows slowly (0.0025)
	//   lstm: kind 0 limit 0.869565 -> 0.898876, share of growth
	//   vae: kind 0 limit 1 -> 0.25, lower bound
	// 1m0s due next 1m20s
	//   lstm: kind 0 limit 0.898876 -> 0.956938, share of growth
}
