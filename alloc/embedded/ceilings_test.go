// This file tests instances with ceilings of groups against the exhaustive twin.

package embedded_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// grouped returns an instance with a group or two drawn over its applications, of ceilings that often bind.
func grouped(inst *solver.Instance, seed uint64) *solver.Instance {
	random := rand.New(rand.NewPCG(seed, 7))
	for range 1 + random.IntN(2) {
		group := solver.Group{Ceiling: make(apportion.Resources, len(inst.Total))}
		for i := range inst.Apps {
			if random.IntN(3) > 0 {
				group.Apps = append(group.Apps, i)
			}
		}
		for k, c := range inst.Total {
			group.Ceiling[k] = solver.NoLimit
			if random.IntN(3) > 0 {
				group.Ceiling[k] = random.Int64N(c + 1)
			}
		}
		inst.Groups = append(inst.Groups, group)
	}
	return inst
}

// No answer is wrong, no bound below the optimum, and few solutions are missed.
func TestCeilings(t *testing.T) {
	seeds := uint64(2000)
	if testing.Short() {
		seeds = 400
	}
	for name, draw := range map[string]func(uint64) *solver.Instance{"general": solvertest.General, "worth": solvertest.Worth} {
		solvable, found, optimal := 0, 0, 0
		for seed := range seeds {
			inst := grouped(draw(seed), seed)
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
				t.Errorf("%s %d: %v, bound %g, and the optimum is %g: %+v", name, seed, s.Status, s.Bound, want, s.Conflict)
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
		if float64(found) < .8*float64(solvable) || float64(optimal) < .5*float64(solvable) {
			t.Errorf("%s: of %d solvable instances %d solved, %d to the optimum", name, solvable, found, optimal)
		}
	}
}
