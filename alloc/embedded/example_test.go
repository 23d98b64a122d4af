package embedded_test

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/p2"
)

// Two servers of four CPUs; an application that is due three quarters of them holds two.
func ExampleSolver_Solve() {
	inst := &p2.Instance{
		Capacity: []apportion.Resources{{4}, {4}}, Total: apportion.Resources{8},
		Apps: []p2.App{{
			Demand: apportion.Resources{1}, Min: 1, Max: 6, Value: 0.125, Delta: 0.125, Share: 0.75,
			Running: true, Previous: []p2.Placed{{Server: 0, Count: 2}},
		}},
		LossBudget: 1, AdjustBudget: 1,
	}
	sol, err := embedded.New(nil).Solve(context.Background(), inst)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sol.Status, sol.Objective, sol.Proven, sol.Counts)
	// Output:
	// optimal 0.75 order [[{0 2} {1 4}]]
}

// With a target gap the search stops as soon as the answer is that good.
func ExampleOptions_gap() {
	solver := embedded.New(&embedded.Options{Effort: embedded.Quick, Gap: 0.01})
	inst := &p2.Instance{Capacity: []apportion.Resources{{4}}, Total: apportion.Resources{4}}
	sol, err := solver.Solve(context.Background(), inst)
	fmt.Println(sol.Status, err)
	// Output:
	// optimal <nil>
}
