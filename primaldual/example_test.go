// This file shows how the package is used.

package primaldual_test

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/primaldual"
)

// small returns two GPU servers, two servers for parameters, and three jobs.
func small() (*primaldual.Cluster, []primaldual.Job) {
	cluster := &primaldual.Cluster{
		Kinds: apportion.Kinds{"gpu", "cpu"},
		Slots: 4,
		WorkerServers: []apportion.Server{
			{ID: "gpu-0", Capacity: apportion.Resources{2, 16}},
			{ID: "gpu-1", Capacity: apportion.Resources{4, 16}},
		},
		PSServers: []apportion.Server{
			{ID: "cpu-0", Capacity: apportion.Resources{0, 8}},
			{ID: "cpu-1", Capacity: apportion.Resources{0, 8}},
		},
	}
	job := func(id string, arrival int, epochs, chunks int64, utility primaldual.Utility) primaldual.Job {
		return primaldual.Job{
			ID: id, Arrival: arrival, Epochs: epochs, Chunks: chunks, Minibatches: 10,
			MinibatchSlots: 0.04, CommSlots: 0.01, // a chunk takes half a slot
			WorkerBandwidth: 1000, PSBandwidth: 2000, // megabits a second: one server for two workers
			Worker: apportion.Resources{1, 2}, PS: apportion.Resources{0, 1}, Utility: utility,
		}
	}
	return cluster, []primaldual.Job{
		job("speech", 1, 2, 6, primaldual.Sigmoid{Gamma1: 80, Gamma2: 4, Gamma3: 2}),
		job("vision", 1, 4, 6, primaldual.Linear{Start: 60, PerSlot: 10}),
		job("search", 2, 4, 6, primaldual.Steps{{Within: 1, Value: 40}, {Within: 2, Value: 20}}),
	}
}

func ExampleScheduler_Offer() {
	cluster, jobs := small()
	bounds, err := primaldual.BoundsOf(cluster, jobs, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	scheduler, err := primaldual.NewScheduler(cluster, &bounds, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range jobs {
		decision, err := scheduler.Offer(job)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %v\n", job.ID, decision.Verdict)
		if decision.Admitted {
			fmt.Printf("  worth %.1f, price %.1f, ends in slot %d\n", decision.Utility, decision.Cost, decision.Completion)
		}
		for _, plan := range decision.Schedule {
			fmt.Printf("  slot %d: workers %v, parameter servers %v\n", plan.Slot, plan.Workers, plan.PS)
		}
	}
	// Output:
	// speech: admitted
	//   worth 80.0, price 0.2, ends in slot 1
	//   slot 1: workers [{0 2} {1 4}], parameter servers [{0 3}]
	// vision: admitted
	//   worth 40.0, price 0.4, ends in slot 3
	//   slot 2: workers [{0 2} {1 4}], parameter servers [{0 3}]
	//   slot 3: workers [{0 2} {1 4}], parameter servers [{0 3}]
	// search: no room
}

func ExampleScheduler_Fail() {
	cluster, jobs := small()
	bounds, _ := primaldual.BoundsOf(cluster, jobs, nil)
	scheduler, _ := primaldual.NewScheduler(cluster, &bounds, nil)
	if _, err := scheduler.Offer(jobs[1]); err != nil {
		fmt.Println(err)
		return
	}
	displaced, err := scheduler.Fail("gpu-0", 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range displaced {
		fmt.Printf("%s: %v, ends in slot %d\n", d.ID, d.Decision.Verdict, d.Decision.Completion)
		schedule, _ := scheduler.Schedule(d.ID)
		for _, plan := range schedule {
			fmt.Println("  slot", plan.Slot, "workers", plan.Workers)
		}
	}
	// Output:
	// vision: admitted, ends in slot 3
	//   slot 1 workers [{0 2} {1 4}]
	//   slot 2 workers [{1 4}]
	//   slot 3 workers [{1 2}]
}

func ExampleCertify() {
	cluster, jobs := small()
	bounds, _ := primaldual.BoundsOf(cluster, jobs, nil)
	scheduler, _ := primaldual.NewScheduler(cluster, &bounds, nil)
	earned := 0.0
	for _, job := range jobs {
		if decision, err := scheduler.Offer(job); err == nil && decision.Admitted {
			earned += decision.Utility
		}
	}
	certificate, err := primaldual.Certify(scheduler.Ledger(), jobs, earned, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	offline, err := primaldual.NewOffline(cluster, jobs)
	if err != nil {
		fmt.Println(err)
		return
	}
	optimum, err := milp.Solve(context.Background(), bb.Solver{}, offline.Model, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("earned %.0f, nobody can earn more than %.0f\n", earned, certificate.Bound)
	fmt.Printf("the offline optimum is %.0f\n", optimum.Objective)
	// Output:
	// earned 120, nobody can earn more than 130
	// the offline optimum is 120
}
