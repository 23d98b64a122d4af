package ortools_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/milp/ortools"
)

// A program that prefers CP-SAT and makes do with branch and bound where there is no library.
func Example() {
	b := milp.NewBuilder("two machines")
	small, large := b.Integer(0, 9, "small"), b.Integer(0, 9, "large")
	b.AtMost("memory", []milp.Term{{Var: small, Coef: 3}, {Var: large, Coef: 5}}, 19)
	b.Maximize([]milp.Term{{Var: small, Coef: 2}, {Var: large, Coef: 3.5}}, 0)
	model, err := b.Build()
	if err != nil {
		panic(err)
	}
	opts := &milp.Options{TimeLimit: 10 * time.Second, Workers: 1}
	got, err := milp.Solve(context.Background(), ortools.CPSAT{}, model, opts)
	if errors.Is(err, ortools.ErrUnavailable) {
		got, err = milp.Solve(context.Background(), bb.Solver{}, model, opts)
	}
	if err != nil {
		panic(err)
	}
	fmt.Println(got.Status, got.Value(small), got.Value(large), got.Objective)
	// Output:
	// optimal 3 2 13
}
