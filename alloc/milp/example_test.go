package milp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
)

// A model is printed in LP form to look at it.
func ExampleModel_WriteLP() {
	b := milp.NewBuilder("two servers")
	var terms [2][]milp.Term
	var containers []milp.Term
	for server := range terms {
		x := b.Integer(0, 5, fmt.Sprintf("x[lr,s%d]", server))
		terms[server] = append(terms[server], milp.Term{Var: x, Coef: 2})
		containers = append(containers, milp.Term{Var: x, Coef: 1})
	}
	for server := range terms {
		b.AtMost(fmt.Sprintf("(6)[s%d,cpu]", server), terms[server], 7)
	}
	b.Row("(7)(8)[lr]", 1, containers, 5)
	b.Maximize(containers, 0)
	model, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := model.WriteLP(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// \ two servers
	// Maximize
	//  obj: x_lr,s0_ + x_lr,s1_
	// Subject To
	//  (6)_s0,cpu_: 2 x_lr,s0_ <= 7
	//  (6)_s1,cpu_: 2 x_lr,s1_ <= 7
	//  (7)(8)_lr_: x_lr,s0_ + x_lr,s1_ >= 1
	//  (7)(8)_lr_.upper: x_lr,s0_ + x_lr,s1_ <= 5
	// Bounds
	//  0 <= x_lr,s0_ <= 5
	//  0 <= x_lr,s1_ <= 5
	// General
	//  x_lr,s0_ x_lr,s1_
	// End
}

// A builder keeps the first fault until Build.
func ExampleBuilder() {
	b := milp.NewBuilder("")
	x := b.Continuous(0, math.Inf(1), "x")
	b.AtMost("cap", []milp.Term{{Var: x, Coef: math.NaN()}}, 3)
	_, err := b.Build()
	fmt.Println(err)
	// Output: row "cap": coefficient of x is not a finite number: NaN
}

// A large model names its variables when somebody looks.
func ExampleBuilder_NameVariables() {
	b := milp.NewBuilder("")
	for range 6 {
		b.Binary("")
	}
	b.NameVariables(func(index int) string { return fmt.Sprintf("x[a%d,s%d]", index/3, index%3) })
	model, err := b.Build()
	fmt.Println(model.VariableName(4), err)
	// Output: x[a1,s1] <nil>
}

// A search that a limit cuts short says how good its answer is at least.
func ExampleSolve() {
	b := milp.NewBuilder("knapsack")
	var weight, value []milp.Term
	for k := range 12 {
		x := b.Binary("")
		weight = append(weight, milp.Term{Var: x, Coef: float64(10 + 7*k%13)})
		value = append(value, milp.Term{Var: x, Coef: float64(11 + 5*k%17)})
	}
	b.AtMost("weight", weight, 70)
	b.Maximize(value, 0)
	model, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, limit := range []int64{14, 0} {
		answer, err := milp.Solve(context.Background(), bb.Solver{}, model, &milp.Options{NodeLimit: limit})
		fmt.Println(answer.Status, answer.Objective, answer.Bound, err)
	}
	// Output:
	// feasible 105 113 <nil>
	// optimal 112 112 <nil>
}

// What a back-end cannot honour is an error before the call.
func ExampleCapabilityError() {
	b := milp.NewBuilder("")
	b.Binary("x")
	model, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = milp.Solve(context.Background(), bb.Solver{}, model, &milp.Options{Workers: 8})
	var refusal *milp.CapabilityError
	fmt.Println(errors.As(err, &refusal), err)
	// Output: true milp: bb.Solver cannot do: several workers
}

func ExampleReadMPS() {
	model, err := milp.ReadMPS(strings.NewReader(`NAME tiny
ROWS
 N cost
 G demand
COLUMNS
 x cost 2 demand 1
RHS
 RHS demand 1.5
ENDATA
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := milp.Solve(context.Background(), bb.Solver{}, model, nil)
	fmt.Println(model.Name(), answer.Status, answer.Objective, err)
	// Output: tiny optimal 3 <nil>
}
