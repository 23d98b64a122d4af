package ortools_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
)

const miplib = "../testdata/miplib"

func readMIPLIB(t testing.TB, name string) *milp.Model {
	t.Helper()
	file, err := os.Open(filepath.Join(miplib, name+".mps.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	model, err := milp.ReadMPS(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// Reference: [Bixby98], the catalogue's optimal values, given to four decimals. Every engine solves
// what it can state.
func TestMIPLIB(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten seconds")
	}
	all := engines(t)
	file, err := os.Open(filepath.Join(miplib, "optima.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		optimum, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		model := readMIPLIB(t, row[0])
		for _, e := range all {
			if !e.can(model.Needs()) {
				continue
			}
			t.Run(row[0]+"/"+e.name, func(t *testing.T) {
				got, err := milp.Solve(context.Background(), e.solver, model, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got.Status != milp.Optimal || math.Abs(got.Objective-optimum) > 1e-4 {
					t.Errorf("%v, objective %v, want %v", got.Status, got.Objective, optimum)
				}
				t.Logf("objective %.10g, bound %.17g, %d nodes", got.Objective, got.Bound, got.Nodes)
			})
		}
	}
}
