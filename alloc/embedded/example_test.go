package embedded_test

import (
	"context"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// Two servers of four CPUs; an application that is due three quarters of them holds two.
func ExampleSolver_Solve() {
	inst := &solver.Instance{
		Capacity: []apportion.Resources{{4}, {4}}, Total: apportion.Resources{8},
		Apps: []solver.App{{
			Demand: apportion.Resources{1}, Min: 1, Max: 6, Value: 0.125, Delta: 0.125, Share: 0.75,
			Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 2}},
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
	s := embedded.New(&embedded.Options{Effort: embedded.Quick, Gap: 0.01})
	inst := &solver.Instance{Capacity: []apportion.Resources{{4}}, Total: apportion.Resources{4}}
	sol, err := s.Solve(context.Background(), inst)
	fmt.Println(sol.Status, err)
	// Output:
	// optimal <nil>
}

// chained hands what one decision leaves to the next: alloc.Reallocate takes it as its solver.
type chained struct{ warm *embedded.Warm }

func (c *chained) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	sol, err := embedded.New(&embedded.Options{Warm: c.warm}).Solve(ctx, inst)
	if err == nil {
		c.warm = embedded.WarmFrom(inst, sol)
	}
	return sol, err
}

// Three decisions in a row: an application arrives each time, and each search starts where the last one
// ended.
func ExampleWarmFrom() {
	s := &chained{}
	inst := &solver.Instance{Capacity: []apportion.Resources{{4}, {4}}, Total: apportion.Resources{8}, LossBudget: 1, AdjustBudget: 1}
	for range 3 {
		inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{1}, Min: 1, Max: 4, Value: 0.125, Delta: 0.125, Share: 0.5})
		sol, err := s.Solve(context.Background(), inst)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(sol.Status, sol.Objective, s.warm != nil)
		for i, placed := range sol.Counts {
			inst.Apps[i].Cost = 1
			inst.Apps[i].Running, inst.Apps[i].Previous = true, placed
		}
	}
	// Output:
	// optimal 0.5 true
	// optimal 1 true
	// optimal 1 true
}
