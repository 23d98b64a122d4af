// This file is the choice of a solver, -solver, and of a form, -form.

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/internal/backend"
)

// solverFlag declares -solver; otherwise is the name of the default.
func (c *command) solverFlag(otherwise string) {
	all := backend.All()
	find := func(name string) (err error) {
		c.solver, err = backend.Find(all, name)
		return err
	}
	if err := find(otherwise); err != nil {
		panic(err) // the defaults are constants of backend
	}
	text := "the solver:"
	for _, b := range all {
		text += fmt.Sprintf("\n%-9s %s", b.Name, b.About)
	}
	c.Func("solver", text+fmt.Sprintf("\n(default %q)", otherwise), find)
}

// effortFlag declares -effort, for the subcommand that decides.
func (c *command) effortFlag() {
	c.Func("effort", "how much work the embedded solver may do, a whole number of at least 1: 20 is quick, 1000 thorough\n(default 100)", func(text string) (err error) {
		if c.effort, err = strconv.ParseInt(text, 10, 64); err == nil && c.effort < 1 {
			err = errors.New("must be at least 1")
		}
		return err
	})
}

// decider returns the chosen solver of P2. A general one climbs down the whole preference.
func (c *command) decider() solver.Solver {
	if c.solver.Name == backend.Embedded && c.effort > 0 {
		return embedded.New(&embedded.Options{Effort: embedded.Effort(c.effort)})
	}
	// Among allocations of one utilization the one with fewer adjusted applications is preferred; a
	// general program goes no further down the order.
	return c.solver.P2(&mip.Options{Preference: solver.ByAdjusted})
}

// forms are the values of -form.
//
// verbatim writes the paper's program word by word.
// class writes classes of equal servers, which makes it small; disjunctive has no big M, which makes its
// relaxation tight, and is the default.
var forms = []mip.Form{mip.Verbatim, mip.Class, mip.Disjunctive}

// formFlag declares -form, for the subcommand that writes the program.
func (c *command) formFlag() {
	c.form = string(mip.Disjunctive)
	var names []string
	for _, form := range forms {
		names = append(names, string(form))
	}
	text := fmt.Sprintf("how to write the program: %s\n(default %q)", strings.Join(names, ", "), c.form)
	c.Func("form", text, func(name string) error {
		if !slices.Contains(names, name) {
			return fmt.Errorf("not one of %s", strings.Join(names, ", "))
		}
		c.form = name
		return nil
	})
}
