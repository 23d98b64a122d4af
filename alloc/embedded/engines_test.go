// This file has the solver and general ones answer the same instances of the whole program.

package embedded_test

import (
	"errors"
	"flag"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

var (
	engineInstances = flag.Int("engines", 30, "how many instances of the whole program TestEverythingAgainstEngines looks at")
	engineSeed      = flag.Uint64("engineseed", 0, "the seed of the first of them")
)

// engineTolerance is how far general solvers may be off: both work to tolerances, CP-SAT with scaled numbers.
const engineTolerance = 1e-6

// With everything that an instance may have, too large for enumeration: what is answered is a solution, no better than
// the optimum that HiGHS and CP-SAT prove; the bound is not below that; what is proven is it; and hardly anything is
// missed. For 2,000 others:
//
//	go test -run TestEverythingAgainstEngines -v ./alloc/embedded -engines 2000 -engineseed 1000000
func TestEverythingAgainstEngines(t *testing.T) {
	instances := *engineInstances
	if testing.Short() {
		instances = min(instances, 8)
	}
	var solvable, infeasible, found, optimal, proven int
	for seed := *engineSeed; seed < *engineSeed+uint64(instances); seed++ {
		inst := solvertest.Everything(seed)
		want := optimumOfEngines(t, seed, inst)
		// The first solution that is found shows what is wrong with a bound, which the best one would hide.
		checkAgainst(t, seed, inst, &embedded.Options{Effort: 1, Gap: 1}, want)
		got := checkAgainst(t, seed, inst, nil, want)
		if want.Status == solver.Infeasible {
			infeasible++
			continue
		}
		solvable++
		if !got.Status.HasSolution() {
			continue
		}
		found++
		if math.Abs(got.Objective-want.Objective) <= engineTolerance {
			optimal++
		}
		if got.Status == solver.Optimal {
			proven++
		}
	}
	t.Logf("%d have a solution and %d none: %d found, %d of these are optimal and %d proven", solvable, infeasible, found, optimal, proven)
	// Few instances may have an unlucky one among them.
	if float64(found) < .95*float64(solvable)-1 || float64(optimal) < .8*float64(found)-1 {
		t.Errorf("of %d with a solution %d are found, %d of these optimal, %d proven", solvable, found, optimal, proven)
	}
}

// checkAgainst returns the answer with these options, and reports what contradicts the proof of the engines.
func checkAgainst(t *testing.T, seed uint64, inst *solver.Instance, opts *embedded.Options, want *solver.Solution) *solver.Solution {
	t.Helper()
	got, err := embedded.New(opts).Solve(t.Context(), inst)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if want.Status == solver.Infeasible {
		if got.Status.HasSolution() {
			t.Errorf("seed %d: %v where the engines prove that there is no solution", seed, got.Counts)
		}
		return got
	}
	if got.Status == solver.Infeasible || got.Bound < want.Objective-engineTolerance {
		t.Errorf("seed %d: %v with bound %g below the optimum %g", seed, got.Status, got.Bound, want.Objective)
	}
	if got.Status.HasSolution() && (inst.Check(got.Counts) != nil || got.Objective > want.Objective+engineTolerance) {
		t.Errorf("seed %d: %v with %g, and the optimum is %g", seed, inst.Check(got.Counts), got.Objective, want.Objective)
	}
	if got.Status == solver.Optimal && got.Objective < want.Objective-engineTolerance {
		t.Errorf("seed %d: %g is proven, and the optimum is %g", seed, got.Objective, want.Objective)
	}
	return got
}

// optimumOfEngines returns what HiGHS proves, on the disjunctive form, and holds CP-SAT to it.
func optimumOfEngines(t *testing.T, seed uint64, inst *solver.Instance) *solver.Solution {
	t.Helper()
	var answers [2]*solver.Solution
	for e, engine := range []milp.Solver{ortools.HiGHS{}, ortools.CPSAT{}} {
		opts := &mip.Options{Search: milp.Options{RelativeGap: 1e-9}}
		s, err := mip.New(engine, mip.Disjunctive, opts).Solve(t.Context(), inst)
		if errors.Is(err, ortools.ErrUnavailable) {
			t.Skipf("NOT TESTED, OR-Tools is missing: %v", err)
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if s.Status != solver.Infeasible && s.Status != solver.Optimal {
			t.Fatalf("seed %d: engine %d says %v", seed, e, s.Status)
		}
		answers[e] = s
	}
	a, b := answers[0], answers[1]
	if a.Status != b.Status || math.Abs(a.Objective-b.Objective) > engineTolerance {
		t.Errorf("seed %d: HiGHS says %v with %g, CP-SAT %v with %g", seed, a.Status, a.Objective, b.Status, b.Objective)
	}
	return a
}
