// This file implements "apportion mps": P2 as an MPS file, [Dorm §IV-B].

package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/apportion/apportion/alloc/mip"
)

// answerMPS writes comments that say which application, server and kind the numbers in the names
// stand for, and then the program.
//
// The names in the program are short, a0 for the first application, because fields of fixed MPS have
// eight characters. The numbers count what is in the instance, which leaves out applications that
// cannot have any container.
func answerMPS(_ context.Context, c *command) error {
	// The input is that of dorm, with the same checks.
	problem, err := readProblem(c.in)
	if err != nil {
		return err
	}
	// apps[a] is the place of the instance's application a in the problem.
	// Instance resolves what dorm would ask a solver: shares, budgets, bounds of counts.
	inst, apps, err := problem.Instance()
	if err != nil {
		return err
	}
	model, err := mip.Build(inst, mip.Form(c.form))
	if err != nil {
		return err
	}
	// A program of 100 servers and as many applications has tens of thousands of lines.
	out := bufio.NewWriter(c.out)
	for a, i := range apps {
		fmt.Fprintf(out, "* a%d: application %q\n", a, problem.Applications[i].ID)
	}
	if mip.Form(c.form) != mip.Class { // whose servers are classes of equal ones
		for j := range problem.Servers {
			fmt.Fprintf(out, "* s%d: server %q\n", j, problem.Servers[j].ID)
		}
	}
	// %q keeps a name with a line break in its comment.
	for k, kind := range problem.Kinds {
		fmt.Fprintf(out, "* k%d: kind %q\n", k, kind)
	}
	if err := model.MILP.WriteMPS(out); err != nil {
		return err
	}
	// The buffer hides errors of the writer until here.
	return out.Flush()
}
