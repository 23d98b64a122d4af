// This file holds small programs that a solver has once answered wrongly, with their optima.

package milptest

import (
	"context"
	"embed"

	"github.com/apportion/apportion/alloc/milp"
)

//go:embed known/*.mps
var knownFiles embed.FS

// knownOptima are programs of OASiS' offline problem that a presolver took for worth less, with their
// optima, on which SCIP, CP-SAT and branch and bound agree.
var knownOptima = []struct {
	name    string
	optimum float64
}{
	{"off_41", 49.37106176054873},
	{"off_236", 3.059531220471163},
	{"off_494", 89.15298731890469},
}

// known returns those programs.
func known() []Instance {
	// Instances are read anew in each call, so that no test can spoil them for another.
	var all []Instance
	for _, k := range knownOptima {
		file, err := knownFiles.Open("known/" + k.name + ".mps")
		must(err)
		model, err := milp.ReadMPS(file, nil)
		must(err)
		all = append(all, Instance{k.name, k.optimum, model})
	}
	return all
}

func knownChecks() []check {
	var all []check
	for _, i := range known() {
		all = append(all, check{"known/" + i.Name, i.Model.Needs(), func(ctx context.Context, solver milp.Solver) error {
			got, err := milp.Solve(ctx, solver, i.Model, nil)
			if err != nil {
				return err
			}
			return oneCase{want: milp.Optimal, objective: i.Optimum}.compare(got)
		}})
	}
	return all
}
