package specon_test

import (
	"fmt"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement"
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

// A scheduler tells the manager what happens and does what it decides: here the job that has converged
// leaves the worker that first fit has crowded.
func ExampleManager() {
	m, err := specon.NewManager(specon.ManagerConfig{
		Config: specon.Config{Interval: 30 * time.Second, Alpha: 0.05},
		Kinds:  apportion.Kinds{"millicores"},
	}, &specon.ManagerOptions{OneAtATime: true, Place: placement.FirstFit})
	if err != nil {
		fmt.Println(err)
		return
	}
	events := []specon.Event{
		{Kind: specon.WorkerUp, Worker: "w1", Capacity: apportion.Resources{8000}},
		{Kind: specon.WorkerUp, Worker: "w2", Capacity: apportion.Resources{8000}},
	}
	for _, job := range []string{"vae", "gru", "lstm"} { // no worker is named: the first that has room
		events = append(events, specon.Event{Kind: specon.Arrival, Job: job, Demand: apportion.Resources{1000}})
	}
	for i, loss := range []float64{1, 0.7, 0.67, 0.65, 0.64} {
		now := time.Duration(i) * 30 * time.Second
		events = append(events,
			specon.Event{Kind: specon.Reading, Job: "vae", At: now, Value: loss, Usage: growth.Used(0.4)},
			specon.Event{Kind: specon.Reading, Job: "gru", At: now, Value: 50 - 10*float64(i), Usage: growth.Used(0.3)},
			specon.Event{Kind: specon.Reading, Job: "lstm", At: now, Value: 80 - 9*float64(i), Usage: growth.Used(0.3)})
		for _, event := range events {
			if err := m.Step(event); err != nil {
				fmt.Println(err)
				return
			}
		}
		decision, err := m.Tick(now)
		if err != nil {
			fmt.Println(err)
			return
		}
		events = events[:0] // what was ordered is done before the next tick
		for _, a := range decision.Assignments {
			fmt.Println(now, a.Job, "starts on", a.Worker)
			events = append(events, specon.Event{Kind: specon.Runs, Job: a.Job, Worker: a.Worker})
		}
		for _, move := range decision.Moves {
			fmt.Printf("%v %s moves from %s to %s: %v\n", now, move.Job, move.From, move.To, move.Why)
			events = append(events, specon.Event{Kind: specon.Runs, Job: move.Job, Worker: move.To})
		}
	}
	// Output:
	// 0s vae starts on w1
	// 0s gru starts on w1
	// 0s lstm starts on w1
	// 2m0s vae moves from w1 to w2: least score
}
