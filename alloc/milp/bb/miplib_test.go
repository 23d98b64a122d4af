package bb_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
)

const miplib = "../testdata/miplib"

// instance is one model with its optimum in the catalogue.
type instance struct {
	name    string
	optimum float64
}

// instances reads optima.csv. [Bixby98] and the catalogue that comes with MIPLIB 3.
func instances(t testing.TB) []instance {
	t.Helper()
	file, err := os.Open(filepath.Join(miplib, "optima.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []instance
	for _, row := range rows[1:] {
		optimum, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, instance{row[0], optimum})
	}
	return all
}

func (i instance) read(t testing.TB) *milp.Model {
	t.Helper()
	file, err := os.Open(filepath.Join(miplib, i.name+".mps.gz"))
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

// Reference: [Bixby98], the catalogue's optimal values, given to four decimals.
func TestMIPLIB(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	for _, i := range instances(t) {
		t.Run(i.name, func(t *testing.T) {
			start := time.Now()
			got, err := milp.Solve(context.Background(), bb.Solver{}, i.read(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != milp.Optimal || math.Abs(got.Objective-i.optimum) > 1e-4 {
				t.Errorf("%v, objective %v, want %v", got.Status, got.Objective, i.optimum)
			}
			t.Logf("objective %.10g, bound %.10g, %d nodes, %v", got.Objective, got.Bound, got.Nodes, time.Since(start))
		})
	}
}
