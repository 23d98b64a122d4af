// This file implements "apportion solve": any mixed-integer program in MPS form.

package main

import (
	"context"
	"fmt"

	"github.com/apportion/apportion/alloc/milp"
)

// solveOutput is the output of "solve". Numbers that do not exist are left out.
type solveOutput struct {
	Status string `json:"status"`
	// Reason says what ended the search early.
	Reason    string   `json:"reason,omitempty"`
	Sense     string   `json:"sense"`
	Objective *float64 `json:"objective,omitempty"`
	Bound     *float64 `json:"bound,omitempty"`
	Gap       *float64 `json:"gap,omitempty"`
	Nodes     int64    `json:"nodes"`
	// Most variables of a large program are 0, so leaving these out keeps the answer small. It is
	// never null.
	// Values has the variables that are not 0.
	Values map[string]float64 `json:"values"`
}

func answerSolve(ctx context.Context, c *command) error {
	// It is a wrong call and not a bad input, so it is told before the input is read.
	if c.solver.General == nil {
		return fmt.Errorf("%w: -solver %s decides P2 only, not any program; take another", errUsage, c.solver.Name)
	}
	// The size is bounded as that of the JSON inputs is.
	model, err := milp.ReadMPS(c.in, &milp.MPSOptions{MaxBytes: maxLine})
	if err != nil {
		return err
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	// milp.Solve checks the answer of any solver against the model once more; a solver that is wrong
	// is an error here.
	solution, err := milp.Solve(ctx, c.solver.General, model, nil)
	if err != nil {
		return err
	}
	out := solveOutput{
		Status:    solution.Status.String(),
		Reason:    solution.Reason,
		Sense:     model.Sense().String(),
		Objective: finite(solution.Objective),
		Bound:     finite(solution.Bound),
		Gap:       finite(solution.Gap()),
		Nodes:     solution.Nodes,
		Values:    map[string]float64{},
	}
	// Infeasible and unbounded programs have no values: then the map stays empty.
	for j, value := range solution.Values {
		if value != 0 {
			out.Values[model.VariableName(j)] = value
		}
	}
	return c.write(out)
}
