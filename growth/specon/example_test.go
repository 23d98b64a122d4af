package specon_test

import (
	"fmt"
	"time"

	"github.com/apportion/apportion/growth/specon"
)

// A cluster scheduler learns from SpeCon which jobs could run elsewhere.
func ExampleMonitor_Step() {
	s, err := specon.NewMonitor(specon.Config{Interval: 30 * time.Second, Alpha: 0.05}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var report specon.Report
	for i, loss := range []float64{1, 0.7, 0.67, 0.65, 0.64} {
		now := time.Duration(i) * 30 * time.Second
		err := s.Step(now, []specon.Observation{
			{Job: "vae", Worker: "w1", At: now, Value: loss},
			{Job: "gru", Worker: "w1", At: now, Value: 50 - 10*float64(i)},
			{Job: "lstm", Worker: "w1", At: now, Value: 80 - 9*float64(i)},
		}, &report)
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%+v\n", report.Workers)
	for _, request := range report.Requests {
		fmt.Printf("%s on %s gained %.2f\n", request.Job, request.Worker, request.Gain)
	}
	// Output:
	// [{Worker:w1 Progressing:2 Watching:0 Converged:1}]
	// vae on w1 gained 0.01
}
