package alloc_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// One application runs on both servers when a second, which needs a GPU, arrives.
func ExampleReallocate() {
	problem := &alloc.Problem{
		Kinds: apportion.Kinds{"cpu", "gpu"},
		Servers: []apportion.Server{
			{ID: "s1", Capacity: apportion.Resources{8, 2}},
			{ID: "s2", Capacity: apportion.Resources{8, 0}},
		},
		Applications: []alloc.Application{
			{ID: "lr", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{2, 0}, Max: 8, Min: 1}},
			{ID: "resnet", Weight: 2, Form: alloc.Form{Demand: apportion.Resources{2, 1}, Max: 2, Min: 1}},
		},
		Previous: alloc.Allocation{"lr": {"s1": 4, "s2": 4}},
		Theta1:   0.5,
		Theta2:   0.1,
	}
	decision, err := alloc.Reallocate(context.Background(), problem, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: utilization %.3f, less a restart %.3f of at most %.3f\n", decision.Status, decision.Metrics.ResourceUtilization, decision.Objective, decision.Bound)
	fmt.Println(decision.Allocation)
	for _, step := range alloc.NewPlan(problem, decision.Allocation).Steps {
		fmt.Println(step.Action, step.Application, step.Server, step.Containers)
	}
	// Output:
	// decided: utilization 2.000, less a restart 1.875 of at most 1.875
	// map[lr:map[s1:2 s2:4] resnet:map[s1:2]]
	// save lr  0
	// destroy lr s1 2
	// create resnet s1 2
	// start resnet  0
	// resume lr  0
}

func ExampleProblem_Validate() {
	problem := &alloc.Problem{
		Kinds:   apportion.Kinds{"cpu", "gpu"},
		Servers: []apportion.Server{{ID: "s1", Capacity: apportion.Resources{8, -2}}},
		Applications: []alloc.Application{
			{ID: "lr", Weight: 0, Form: alloc.Form{Demand: apportion.Resources{2, 0}, Max: 2, Min: 3}},
		},
	}
	fmt.Println(problem.Validate())
	// Output:
	// server "s1": Capacity[gpu] is negative: -2
	// application "lr": Weight is out of range: 0 is not positive
	// application "lr": Min contradicts another field: 3 is above Max 2
}

// A cluster is decided once as a whole, and then event by event: a job that has ended leaves room, and the others grow into it.
func ExampleDecider_Apply() {
	job := func(id string) alloc.Application {
		return alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 100}}
	}
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: .1, Theta2: 1,
		Servers:      []apportion.Server{{ID: "s1", Capacity: apportion.Resources{8}}, {ID: "s2", Capacity: apportion.Resources{8}}},
		Applications: []alloc.Application{job("a"), job("b"), job("c"), job("d")}}
	var d alloc.Decider
	first, err := d.Reallocate(context.Background(), p)
	if err != nil {
		panic(err)
	}
	fmt.Println("at first", first.Allocation.Containers("a"), first.Allocation.Containers("b"))
	ended := "d"
	e, err := d.Apply(context.Background(), alloc.Change{End: &ended})
	if err != nil {
		panic(err)
	}
	for _, id := range slices.Sorted(maps.Keys(e.Allocation)) {
		fmt.Println(id, "has", e.Allocation.Containers(id))
	}
	fmt.Printf("by itself: %v, gap %.4f\n", e.Whole == "", e.Gap)
	// Output:
	// at first 4 4
	// a has 5
	// b has 5
	// c has 6
	// by itself: true, gap 0.0068
}
