package bb_test

import (
	"context"
	"fmt"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
)

// Two applications share a server with 10 CPUs and 3 GPUs: how many containers of each?
func ExampleSolver() {
	b := milp.NewBuilder("server")
	training := b.Integer(0, 3, "training")
	batch := b.Integer(0, 8, "batch")
	b.AtMost("cpu", []milp.Term{{Var: training, Coef: 3}, {Var: batch, Coef: 2}}, 10)
	b.AtMost("gpu", []milp.Term{{Var: training, Coef: 1}}, 3)
	b.Maximize([]milp.Term{{Var: training, Coef: 5}, {Var: batch, Coef: 3}}, 0)
	model, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := milp.Solve(context.Background(), bb.Solver{}, model, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Status, answer.Objective, "bound", answer.Bound)
	fmt.Println("training", answer.Value(training), "batch", answer.Value(batch))
	// Output:
	// optimal 16 bound 16
	// training 2 batch 2
}
