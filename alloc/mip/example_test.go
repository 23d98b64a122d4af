package mip_test

import (
	"context"
	"fmt"
	"os"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
)

// A general solver takes the decision, for a second opinion.
func ExampleNew() {
	second := mip.New(bb.Solver{}, mip.Disjunctive, &mip.Options{Name: "bb", Preference: solver.ByAdjusted})
	decision, err := alloc.Reallocate(context.Background(), tinyProblem(), second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(decision.Status, decision.Objective, decision.Allocation)
	fmt.Printf("by %s in the %s form, proven by %s\n", decision.Certificate.By.Solver, decision.Certificate.By.Form, decision.Proven)
	// Output:
	// decided 2.375 map[LR:map[s0:1] MF:map[s0:1 s1:2] NN:map[s0:1]]
	// by bb in the disjunctive form, proven by adjusted
}

// P2 of one application on one server, as the paper prints it.
func ExampleBuild() {
	inst := &solver.Instance{
		Capacity: []apportion.Resources{{8}}, Total: apportion.Resources{8}, LossBudget: 1,
		Apps: []solver.App{{Demand: apportion.Resources{2}, Min: 1, Max: 3, Value: .25, Delta: .25, Share: .75}},
	}
	model, err := mip.Build(inst, mip.Verbatim)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := model.MILP.WriteLP(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// \ P2_verbatim
	// Maximize
	//  obj: 0.25 x_a0_s0
	// Subject To
	//  c6_s0_k0: 2 x_a0_s0 <= 8
	//  c7_a0: x_a0_s0 >= 1
	//  c7_a0.upper: x_a0_s0 <= 3
	//  c11_a0: 0.25 x_a0_s0 - l_a0 <= 0.75
	//  c12_a0: 0.25 x_a0_s0 + l_a0 >= 0.75
	//  c15: l_a0 <= 1.000000001
	//  c16: 0 x_a0_s0 <= 0
	// Bounds
	//  0 <= x_a0_s0 <= 3
	//  0 <= l_a0 <= 0.750000001
	// General
	//  x_a0_s0
	// End
}
