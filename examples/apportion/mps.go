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
	problem, err := readProblem(c.in)
	if err != nil {
		return err
	}
	inst, apps, err := problem.Instance()
	if err != nil {
		return err
	}
	model, err := mip.Build(inst, mip.Form(c.form))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.out)
	for a, i := range apps {
		fmt.Fprintf(out, "* a%d: application %q\n", a, problem.Applications[i].ID)
	}
	if mip.Form(c.form) != mip.Class { // whose servers are classes of equal ones
		for j := range problem.Servers {
			fmt.Fprintf(out, "* s%d: server %q\n", j, problem.Servers[j].ID)
		}
	}
	for k, kind := range problem.Kinds {
		fmt.Fprintf(out, "* k%d: kind %q\n", k, kind)
	}
	if err := model.MILP.WriteMPS(out); err != nil {
		return err
	}
	return out.Flush()
}
