// This file holds eight instances of MIPLIB 3 with their optima, and runs them.

package milptest

import (
	"compress/gzip"
	"context"
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
)

// The files are part of the package, so that importers can run them without a checkout;
// miplib/SOURCE.md says where they come from.
//
//go:embed miplib/*.mps.gz miplib/optima.csv
var files embed.FS

// catalogueTol is what an objective may differ from the catalogue by, which gives four decimals.
const catalogueTol = 1e-4

// Instance is a model with a known optimum.
type Instance struct {
	Name    string
	Optimum float64
	Model   *milp.Model
}

// MIPLIB returns eight small instances of MIPLIB 3, ascending by name, with the optima of its
// catalogue, [Bixby98]. A fast code solves each in well under a second.
func MIPLIB() []Instance {
	file, err := files.Open("miplib/optima.csv")
	must(err)
	rows, err := csv.NewReader(file).ReadAll()
	must(err)
	var all []Instance
	for _, row := range rows[1:] {
		optimum, err := strconv.ParseFloat(row[1], 64)
		must(err)
		file, err := files.Open("miplib/" + row[0] + ".mps.gz")
		must(err)
		// The instances are packed because they are linked into every test binary.
		text, err := gzip.NewReader(file)
		must(err)
		model, err := milp.ReadMPS(text, nil)
		must(err)
		all = append(all, Instance{row[0], optimum, model})
	}
	return all
}

// must panics if the files that are built in are not what they should be.
func must(err error) {
	if err != nil {
		panic("milptest: " + err.Error())
	}
}

// RunMIPLIB solves every instance of MIPLIB to its optimum with a back-end made by newSolver, each in a
// sub-test. What the back-end does not claim to be able to state is skipped.
func RunMIPLIB(t *testing.T, newSolver func(t *testing.T) milp.Solver) {
	t.Helper()
	for _, i := range MIPLIB() {
		t.Run(i.Name, func(t *testing.T) {
			err := check{i.Name, i.Model.Needs(), i.solve(t.Logf)}.within(deadline, newSolver(t))
			var cannot *milp.CapabilityError
			// Integer programs with continuous variables are beyond some engines; that is no
			// failure.
			if errors.As(err, &cannot) {
				t.Skip(err)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// solve is the check that a back-end finds and proves the optimum.
func (i Instance) solve(logf func(string, ...any)) func(context.Context, milp.Solver) error {
	return func(ctx context.Context, solver milp.Solver) error {
		got, err := milp.Solve(ctx, solver, i.Model, nil)
		if err != nil {
			return err
		}
		// The numbers are printed also where all is well: the number of nodes tells how a change
		// of a back-end works.
		logf("objective %.10g, bound %.10g, %d nodes", got.Objective, got.Bound, got.Nodes)
		// Default options ask for proof, so Optimal is wanted and not only the value.
		if got.Status != milp.Optimal || math.Abs(got.Objective-i.Optimum) > catalogueTol {
			return fmt.Errorf("%v, objective %v, want %v", got.Status, got.Objective, i.Optimum)
		}
		return nil
	}
}
