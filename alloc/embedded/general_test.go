package embedded

import (
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// Search and bound alone, without the enumeration that settles small instances, cope with all that [Program]
// has: no answer is wrong, no bound below the optimum, and hardly any solution is missed.
func TestSearchOfGeneral(t *testing.T) { checkSearch(t, solvertest.General, .99) }

// And with all that worths by number add.
func TestSearchOfWorth(t *testing.T) { checkSearch(t, solvertest.Worth, .98) }

// With losses by number the bound knows every number, and the search meets numbers between which losses jump, and misses a few.
func TestSearchOfLoss(t *testing.T) { checkSearch(t, solvertest.Loss, .96) }

// checkSearch compares search and bound with the optimum, on instances drawn by seed; of those solved such a part at
// least must be optimal, and nearly all found.
func checkSearch(t *testing.T, draw func(seed uint64) *solver.Instance, optima float64) {
	seeds := uint64(2000)
	if testing.Short() {
		seeds = 400
	}
	solvable, found, optimal := 0, 0, 0
	for seed := range seeds {
		inst := draw(seed)
		best, _ := p2oracle.Best(inst)
		tune := tuning.Standard()
		tune.MostCells = 0
		r := newRun(problem.New(inst), &Options{Effort: Default}, tune)
		r.search(t.Context())
		s := r.solution()
		if best == nil {
			if s.Status.HasSolution() {
				t.Errorf("%d: %v where there is no solution", seed, s.Counts)
			}
			continue
		}
		solvable++
		want := inst.Objective(best)
		if s.Bound < want-solver.ObjectiveTolerance {
			t.Errorf("%d: bound %g below the optimum %g", seed, s.Bound, want)
		}
		if !s.Status.HasSolution() {
			continue
		}
		found++
		if s.Objective > want+solver.ObjectiveTolerance {
			t.Errorf("%d: %g, and the optimum is %g", seed, s.Objective, want)
		}
		if math.Abs(s.Objective-want) <= solver.ObjectiveTolerance {
			optimal++
		}
	}
	t.Logf("%d have a solution: %d found, %d of these are optimal", solvable, found, optimal)
	if float64(found) < math.Min(.99, optima+.02)*float64(solvable) || float64(optimal) < optima*float64(found) {
		t.Errorf("of %d with a solution %d are found, %d of these are optimal", solvable, found, optimal)
	}
}

// A bound that leaves no other objective above the one that is attained proves it, and one a whole step above proves nothing.
func TestBoundBetweenObjectives(t *testing.T) {
	const step = 1.0 / 8
	for _, c := range []struct {
		above, bound float64
		status       solver.Status
	}{{0, 0, solver.Optimal}, {1e-7, 0, solver.Optimal}, {0.99 * step, 0, solver.Optimal}, {step, step, solver.Feasible}, {3 * step, 3 * step, solver.Feasible}} {
		inst := instancetest.Crowd(2, 1, 4, 1, 0)
		counts := solver.Counts{{{Server: 0, Count: 1}}}
		if err := inst.Check(counts); err != nil {
			t.Fatal(err)
		}
		attained := inst.Objective(counts)
		p := &programmer{Solver: New(nil), inst: inst, sol: &solver.Solution{Status: solver.Feasible, Counts: counts, Objective: attained, Bound: attained + 1}, step: step}
		p.lower(attained + c.above)
		if p.sol.Status != c.status || p.sol.Bound != attained+c.bound {
			t.Errorf("%g above %g: %v, bound %g", c.above, attained, p.sol.Status, p.sol.Bound)
		}
	}
}
