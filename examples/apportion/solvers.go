// This file is the register of solvers that -solver chooses from.

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/p2"
)

// The names of the solvers that are the default of a subcommand, and of the one that cannot decide
// P2, whose losses are fractions.
const (
	embedded       = "embedded"
	branchAndBound = "bb"
	cpSAT          = "cp-sat"
)

// backend is one solver. general solves any program and decides P2 by way of alloc.FromMILP; it is
// nil for the embedded solver, which decides P2 only.
type backend struct {
	about   string
	general milp.Solver
}

var backends = map[string]backend{
	embedded:       {"made for this problem, pure Go", nil},
	branchAndBound: {"branch and bound, pure Go, for small problems", bb.Solver{}},
	cpSAT:          {"CP-SAT of OR-Tools, for programs whose variables are whole numbers", ortools.CPSAT{}},
	"highs":        {"HiGHS of OR-Tools", ortools.HiGHS{}},
	"scip":         {"SCIP of OR-Tools", ortools.SCIP{}},
}

// decides and solves tell whether a solver can decide P2, and whether it can solve any program.
func decides(b backend) bool { return b != backends[cpSAT] }
func solves(b backend) bool  { return b.general != nil }

// solverFlag declares -solver for the solvers that can do what the subcommand needs.
func (c *command) solverFlag(otherwise string, can func(backend) bool) {
	c.solver = otherwise
	text := "the solver:"
	for _, name := range slices.Sorted(maps.Keys(backends)) {
		if b := backends[name]; can(b) {
			text += fmt.Sprintf("\n%-9s %s", name, b.about)
		}
	}
	c.Func("solver", text+fmt.Sprintf("\n(default %q)", otherwise), func(name string) error {
		if b, ok := backends[name]; !ok || !can(b) {
			return fmt.Errorf("no such solver here")
		}
		c.solver = name
		return nil
	})
}

// decider returns the chosen solver of P2; nil is the embedded one with its defaults.
func (c *command) decider() p2.Solver {
	if general := backends[c.solver].general; general != nil {
		return alloc.FromMILP(general, alloc.Disjunctive, &alloc.MILPOptions{Preference: p2.ByAdjusted})
	}
	return nil
}

// forms are the values of -form.
var forms = []alloc.Form{alloc.Verbatim, alloc.ByClass, alloc.Disjunctive}

func (c *command) formFlag() {
	c.form = string(alloc.Disjunctive)
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
