// This file asks every solver by its name.

package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/internal/must"
)

// askSolver runs a subcommand with a solver and reads its objective and bound. Without the library of
// an engine the error says how to install it, and the test is skipped.
func askSolver(t *testing.T, input, subcommand, solver string) (objective, bound float64) {
	t.Helper()
	code, out, errs := call(t, input, subcommand, "-solver", solver)
	if strings.Contains(errs, ortools.ErrUnavailable.Error()) && os.Getenv("APPORTION_REQUIRE_ORTOOLS") == "" {
		if code != failed || !strings.Contains(errs, "install OR-Tools") {
			t.Errorf("exit %d: %s", code, errs)
		}
		t.Skip("the library of OR-Tools is not available")
	}
	var answer struct{ Objective, Bound float64 }
	if err := json.Unmarshal([]byte(out), &answer); code != answered || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	return answer.Objective, answer.Bound
}

// Every solver decides the example of the README, whose optimum is 3.
func TestDormSolvers(t *testing.T) {
	input := must.Have(os.ReadFile("cluster.json"))(t)
	for _, b := range backend.All() {
		t.Run(b.Name, func(t *testing.T) {
			objective, bound := askSolver(t, string(input), "dorm", b.Name)
			if math.Abs(objective-3) > 1e-6 || bound < objective-1e-6 {
				t.Errorf("objective %g, bound %g, want 3", objective, bound)
			}
		})
	}
}

// Every general solver solves a program; the embedded one, and CP-SAT where a variable has no upper
// bound, say that they cannot.
func TestSolveSolvers(t *testing.T) {
	// max 2x + 3y, 4x + 5y <= 11, whole numbers up to 2: y = 2, x = 0.
	const knapsack = `NAME knapsack
OBJSENSE
    MAX
ROWS
 N z
 L weight
COLUMNS
 M 'MARKER' 'INTORG'
 x z 2 weight 4
 y z 3 weight 5
 E 'MARKER' 'INTEND'
RHS
 rhs weight 11
BOUNDS
 UP bound x 2
 UP bound y 2
ENDATA
`
	for _, b := range backend.All()[1:] {
		t.Run(b.Name, func(t *testing.T) {
			if objective, bound := askSolver(t, knapsack, "solve", b.Name); math.Abs(objective-6) > 1e-6 || bound < 6-1e-6 {
				t.Errorf("objective %g, bound %g, want 6", objective, bound)
			}
		})
	}
	code, _, errs := call(t, knapsack, "solve", "-solver", backend.Embedded)
	if code != misused || !strings.Contains(errs, "decides P2 only") {
		t.Errorf("exit %d: %s", code, errs)
	}
	unbounded := strings.ReplaceAll(knapsack, " UP bound y 2\n", " PL bound y\n")
	code, _, errs = call(t, unbounded, "solve", "-solver", backend.CPSAT)
	if code != failed || !strings.Contains(errs, "cannot do: infinite bounds") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
