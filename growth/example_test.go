package growth_test

import (
	"fmt"
	"time"

	"github.com/apportion/apportion/growth"
)

// A program on the worker asks FlowCon at every run what to change, and applies it.
func ExampleFlowCon_Step() {
	f, err := growth.NewFlowCon(growth.FlowConConfig{Interval: 20 * time.Second, Alpha: 0.01, Kinds: 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var decision growth.Decision
	for i, loss := range [][2]float64{{2, 9}, {1.9, 6}, {1.85, 4}, {1.84, 3}} {
		now := time.Duration(i) * 20 * time.Second
		err := f.Step(now, []growth.Reading{
			{ID: "vae", At: now, Value: loss[0], Usage: []float64{0.5}},
			{ID: "lstm", At: now, Value: loss[1], Usage: []float64{0.5}},
		}, &decision)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(now, decision.Trigger, "next", decision.Next)
		for _, move := range decision.Moves {
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

// A cluster scheduler learns from SpeCon which containers could run elsewhere.
func ExampleSpeCon_Step() {
	s, err := growth.NewSpeCon(growth.SpeConConfig{Interval: 30 * time.Second, Alpha: 0.05}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var report growth.Report
	for i, loss := range []float64{1, 0.7, 0.67, 0.65, 0.64} {
		now := time.Duration(i) * 30 * time.Second
		err := s.Step(now, []growth.Observation{
			{ID: "vae", Worker: "w1", At: now, Value: loss},
			{ID: "gru", Worker: "w1", At: now, Value: 50 - 10*float64(i)},
			{ID: "lstm", Worker: "w1", At: now, Value: 80 - 9*float64(i)},
		}, &report)
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%+v\n", report.Workers)
	for _, request := range report.Requests {
		fmt.Printf("%s on %s gained %.2f\n", request.ID, request.Worker, request.Gain)
	}
	// Output:
	// [{Worker:w1 Progressing:2 Watching:0 Converged:1}]
	// vae on w1 gained 0.01
}

// A job that is polled more often than it evaluates stands still at most checks. Prospect waits for
// evidence.
func ExampleProspect() {
	var series growth.Series
	converged := 0
	for check := range 200 {
		evaluations := 1 + check/4
		series.Add(time.Duration(check)*5*time.Second, 3/float64(evaluations), 1)
		if check > 0 && (growth.Prospect{Alpha: 0.05}).Judge(&series) == growth.Slow {
			converged = evaluations
			break
		}
	}
	fmt.Println("slow after", converged, "evaluations")
	// Output:
	// slow after 20 evaluations
}

func ExampleOptimize() {
	optimum, err := growth.Optimize(8000, []growth.Claim{
		{ID: "vae", Growth: 0.02, Min: 1000, Max: 8000},
		{ID: "gru", Growth: 0.3, Min: 1000, Max: 4000},
		{ID: "lstm", Growth: 0.1, Min: 1000, Max: 8000},
	})
	fmt.Println(optimum.Grants, optimum.Price, err)
	// Output: [1000 4000 3000] 0.1 <nil>
}
