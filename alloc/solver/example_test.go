package solver_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// An answer travels as JSON, and whoever receives it checks it with the instance alone.
func ExampleCertificate_Certified() {
	inst := solvertest.Tiny()
	answer, err := embedded.New(nil).Solve(context.Background(), inst)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(answer)
	if err != nil {
		fmt.Println(err)
		return
	}
	var received solver.Solution
	if err := json.Unmarshal(text, &received); err != nil {
		fmt.Println(err)
		return
	}
	bound, err := received.Certified(inst)
	fmt.Println(received.Status, received.Objective, inst.Check(received.Counts), err)
	fmt.Println(bound >= received.Objective, bound <= inst.Cap())
	// Output:
	// optimal 2.375 <nil> <nil>
	// true true
}

// Whatever a solver claims, no utilization is above the cap.
func ExampleInstance_Cap() {
	fmt.Println(solvertest.Tiny().Cap())
	// Output: 3
}
