// This file implements "apportion solve": any mixed-integer program in MPS form.

package main

import (
	"context"
	"fmt"

	"github.com/apportion/apportion/alloc/milp"
)

// solveOutput is the output of "solve". Numbers that do not exist are left out.
type solveOutput struct {
	// Status is one of the texts of milp.Status, as optimal, infeasible or cancelled.
	Status string `json:"status"`
	// Reason says what ended the search early.
	Reason string `json:"reason,omitempty"`
	Sense  string `json:"sense"`
	// Objective is that of Values, in the sense of the program; Bound is on the other side of it.
	Objective *float64 `json:"objective,omitempty"`
	Bound     *float64 `json:"bound,omitempty"`
	Gap       *float64 `json:"gap,omitempty"`
	// Nodes is how many nodes of the search tree were looked at; 0 where the solver does not count them.
	Nodes int64 `json:"nodes"`
	// Values has the variables that are not 0, by name. Most variables of a large program are 0, so
	// leaving these out keeps the answer small. It is never null.
	Values map[string]float64 `json:"values"`
}

// answerSolve reads a program, solves it and prints what the solver has found, whether it is proven or
// not.
func answerSolve(ctx context.Context, c *command) error {
	if c.solver.General == nil {
		return fmt.Errorf("%w: -solver %s decides P2 only, not any program; take another", errUsage, c.solver.Name)
	}
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
	for j, value := range solution.Values {
		if value != 0 {
			out.Values[model.VariableName(j)] = value
		}
	}
	return c.write(out)
}
