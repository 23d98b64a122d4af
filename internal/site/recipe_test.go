// This file holds the recipes that the site shows: each is an example whose output is compared.

package main

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/primaldual"
)

// A room with 16 GPUs may draw 4,000 W: watts are a kind of their own, and its cap is the ceiling of a queue.
func Example_power() {
	job := func(id string, watts, most int64) alloc.Application {
		return alloc.Application{ID: id, Queue: "room", Weight: 1,
			Form: alloc.Form{Demand: apportion.Resources{1, watts}, Min: 1, Max: most}}
	}
	problem := &alloc.Problem{
		Kinds: apportion.Kinds{"gpu", "watt"},
		Servers: []apportion.Server{
			{ID: "s1", Capacity: apportion.Resources{8, 3200}}, // what its power supply gives
			{ID: "s2", Capacity: apportion.Resources{8, 3200}},
		},
		Queues: []drf.Queue{{ID: "room", Weight: 1, Ceiling: drf.Ceiling{drf.NoLimit, 4000}}},
		Applications: []alloc.Application{
			job("train", 400, 16), // each container draws 400 W
			job("serve", 150, 8),
		},
		Theta1: 0.5, Theta2: 0.5,
	}
	decision, err := alloc.Reallocate(context.Background(), problem, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	watts := int64(0)
	for i, share := range decision.Shares {
		watts += share.Containers * problem.Applications[i].Demand[1]
		fmt.Println(share.ID, share.Containers)
	}
	fmt.Println(watts, "W of 4000")
	// Output:
	// train 7
	// serve 8
	// 4000 W of 4000
}

// Two jobs can train on an A100 or on a T4. The first gains four times from the faster one, the second half as much again.
func Example_accelerators() {
	option := func(kind int, each float64) alloc.Option {
		demand, id := apportion.Resources{0, 0}, []string{"a100", "t4"}[kind]
		demand[kind] = 1
		return alloc.Option{ID: id, Form: alloc.Form{Demand: demand, Min: 1, Max: 2, Worth: []float64{each, 2 * each}}}
	}
	problem := &alloc.Problem{
		Kinds: apportion.Kinds{"a100", "t4"},
		Servers: []apportion.Server{
			{ID: "new", Capacity: apportion.Resources{2, 0}},
			{ID: "old", Capacity: apportion.Resources{0, 4}},
		},
		Applications: []alloc.Application{ // the option that each would rather have comes first
			{ID: "language", Weight: 1, Options: []alloc.Option{option(0, 4), option(1, 1)}},
			{ID: "vision", Weight: 1, Options: []alloc.Option{option(0, 1.5), option(1, 1)}},
		},
		Theta1: 1, Theta2: 1,
	}
	decision, err := alloc.Reallocate(context.Background(), problem, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, share := range decision.Shares {
		fmt.Println(share.ID, share.Containers, share.Option)
	}
	// Output:
	// language 2 a100
	// vision 2 t4
}

// A report is worth something for three slots alone; a long job may end later, and runs behind it.
func Example_deadlines() {
	cluster := &primaldual.Cluster{
		Kinds: apportion.Kinds{"gpu"}, Slots: 8,
		WorkerServers: []apportion.Server{{ID: "s1", Capacity: apportion.Resources{4}}},
		PSServers:     []apportion.Server{{ID: "p1", Capacity: apportion.Resources{4}}},
	}
	job := func(id string, epochs int64, utility primaldual.Utility) primaldual.Job {
		return primaldual.Job{ID: id, Arrival: 1, Epochs: epochs, Chunks: 4, Minibatches: 10,
			MinibatchSlots: 0.08, CommSlots: 0.02, // a worker trains a chunk in a slot
			WorkerBandwidth: 1, PSBandwidth: 4,
			Worker: apportion.Resources{1}, PS: apportion.Resources{1}, Utility: utility}
	}
	jobs := []primaldual.Job{
		job("report", 2, primaldual.Steps{{Within: 3, Value: 50}}), // worth nothing after three slots
		job("long", 3, primaldual.Linear{Start: 30, PerSlot: 1}),
		job("late", 2, primaldual.Steps{{Within: 2, Value: 40}}),
	}
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
	for _, j := range jobs {
		decision, err := scheduler.Offer(j)
		if err != nil {
			fmt.Println(err)
			return
		}
		if !decision.Admitted {
			fmt.Printf("%s: %s, %s\n", j.ID, decision.Verdict, decision.Reason.Text)
			continue
		}
		fmt.Printf("%s: %s, ends in slot %d\n", j.ID, decision.Verdict, decision.Completion)
	}
	// Output:
	// report: admitted, ends in slot 2
	// long: admitted, ends in slot 5
	// late: too expensive, ending in slot 4 costs at least 1.79688 and is worth 0
}

// A job that must not be interrupted stays off the spot servers; when one of these goes, the next decision is told so.
func Example_spot() {
	spot := map[string]string{"spot": "yes"}
	problem := &alloc.Problem{
		Kinds: apportion.Kinds{"gpu"},
		Servers: []apportion.Server{
			{ID: "ours", Capacity: apportion.Resources{4}},
			{ID: "spot-1", Capacity: apportion.Resources{4}, Labels: spot},
			{ID: "spot-2", Capacity: apportion.Resources{4}, Labels: spot},
		},
		Applications: []alloc.Application{
			{ID: "serve", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 2, Max: 4,
				Requires: []apportion.Requirement{{Key: "spot", Op: apportion.NotExists}}}},
			{ID: "train", Weight: 2, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 12}},
		},
		Theta1: 0.5, Theta2: 0.5,
	}
	var decider alloc.Decider // which carries the last decision into the next problem
	for _, event := range []string{"at first", "spot-2 is to go", "spot-2 is gone"} {
		switch event {
		case "spot-2 is to go": // the provider's notice: nothing new goes there
			problem.Servers[2].Cordoned = true
		case "spot-2 is gone":
			problem.Servers = problem.Servers[:2]
		}
		decision, err := decider.Reallocate(context.Background(), problem)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event, decision.Allocation)
		problem.Previous = decision.Allocation
	}
	// Output:
	// at first map[serve:map[ours:4] train:map[spot-1:4 spot-2:4]]
	// spot-2 is to go map[serve:map[ours:4] train:map[spot-1:4]]
	// spot-2 is gone map[serve:map[ours:4] train:map[spot-1:4]]
}
