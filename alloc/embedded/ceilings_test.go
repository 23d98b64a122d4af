// This file tests instances with ceilings of groups against the exhaustive twin.

package embedded_test

import (
	"testing"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// No answer is wrong, no bound below the optimum, and every solution is found.
func TestCeilings(t *testing.T) {
	seeds := uint64(2000)
	if testing.Short() {
		seeds = 400
	}
	for name, draw := range map[string]func(uint64) *solver.Instance{"general": solvertest.General, "worth": solvertest.Worth} {
		solvable, found, optimal := 0, 0, 0
		for seed := range seeds {
			inst := solvertest.Grouped(draw(seed), seed)
			best, _ := p2oracle.Best(inst)
			s, err := embedded.New(nil).Solve(t.Context(), inst)
			if err != nil {
				t.Fatal(err)
			}
			if best == nil {
				if s.Status.HasSolution() {
					t.Errorf("%s %d: %v where there is no solution", name, seed, s.Counts)
				}
				continue
			}
			solvable++
			want := inst.Objective(best)
			if s.Status == solver.Infeasible || s.Bound < want-solver.ObjectiveTolerance {
				t.Errorf("%s %d: %v, bound %g, and the optimum is %g", name, seed, s.Status, s.Bound, want)
			}
			if !s.Status.HasSolution() {
				continue
			}
			found++
			if err := inst.Check(s.Counts); err != nil {
				t.Errorf("%s %d: %v", name, seed, err)
			}
			if s.Objective >= want-solver.ObjectiveTolerance {
				optimal++
			} else if s.Status == solver.Optimal {
				t.Errorf("%s %d: %g is called optimal, and %g is", name, seed, s.Objective, want)
			}
		}
		t.Logf("%s: of %d solvable instances %d solved, %d to the optimum", name, solvable, found, optimal)
		if found < solvable || optimal < solvable {
			t.Errorf("%s: of %d solvable instances %d solved, %d to the optimum", name, solvable, found, optimal)
		}
	}
}
