package embedded

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/p2"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

func solve(t rapid.TB, opts *Options, inst *p2.Instance) *p2.Solution {
	t.Helper()
	sol, err := New(opts).Solve(context.Background(), inst)
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	return sol
}

// The whole answer agrees with the exhaustive twin, down to the order of x.
func TestAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := tiny(t)
		want, _ := p2oracle.Best(inst)
		sol := solve(t, &Options{Effort: 50}, inst)
		if want == nil {
			if sol.Status != p2.Infeasible || sol.Conflict == nil || !math.IsInf(sol.Bound, -1) {
				t.Fatalf("status %v, bound %g, conflict %v; there is no solution", sol.Status, sol.Bound, sol.Conflict)
			}
			checkConflict(t, inst, sol.Conflict)
			return
		}
		if sol.Status != p2.Optimal || sol.Proven != p2.ByOrder {
			t.Fatalf("status %v proven by %v, want optimal by order", sol.Status, sol.Proven)
		}
		if diff := cmp.Diff(want, sol.Counts); diff != "" {
			t.Fatalf("counts (-want +got):\n%s", diff)
		}
		checkBound(t, inst, sol, inst.Objective(want))
	})
}

// checkBound asserts that Bound and Multipliers are bounds, recomputed by other code.
func checkBound(t rapid.TB, inst *p2.Instance, sol *p2.Solution, attained float64) {
	t.Helper()
	if sol.Bound < attained-p2.ObjectiveTolerance {
		t.Fatalf("bound %.12g below %.12g, which is attained", sol.Bound, attained)
	}
	dual, err := p2.DualBound(inst, sol.Multipliers)
	if err != nil {
		t.Fatalf("multipliers: %v", err)
	}
	if dual < attained-p2.ObjectiveTolerance || dual < sol.Bound-p2.ObjectiveTolerance {
		t.Fatalf("multipliers prove %.12g, the solution claims %.12g, attained %.12g", dual, sol.Bound, attained)
	}
}

// checkConflict asserts that the named constraints cannot hold together: without the others the
// instance still has no solution; and that the two sides contradict each other.
func checkConflict(t rapid.TB, inst *p2.Instance, c *p2.Conflict) {
	t.Helper()
	named := make(map[p2.Constraint]bool)
	for _, constraint := range c.Constraints {
		named[constraint] = true
	}
	relaxed := *inst
	relaxed.Apps = append([]p2.App(nil), inst.Apps...)
	if !named[p2.Fairness] {
		relaxed.LossBudget = 100
	}
	if !named[p2.Adjust] {
		relaxed.AdjustBudget = 100
	}
	for i := range relaxed.Apps {
		if !named[p2.Minimum] {
			relaxed.Apps[i].Min = 0
		}
	}
	if counts, _ := p2oracle.Best(&relaxed); counts != nil {
		t.Fatalf("%v can hold together: %v", c, counts)
	}
	if len(named) != len(c.Constraints) || !(c.Need > c.Have) {
		t.Fatalf("%+v: the sides do not contradict each other", c)
	}
}

// The search alone, without enumeration, gives solutions and bounds, and never calls a feasible
// instance infeasible.
func TestSearchAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := tiny(t)
		want, _ := p2oracle.Best(inst)
		p := newProblem(inst)
		if conflict := p.plainConflict(); conflict != nil {
			if want != nil {
				t.Fatalf("conflict %+v, but %v is a solution", conflict, want)
			}
			checkConflict(t, inst, conflict)
			return
		}
		r := &run{p: p, opts: Options{Effort: 50}, a: newAnnealer(newState(p), 1)}
		r.search(context.Background())
		sol := r.solution()
		if want == nil {
			if sol.Status != p2.Unknown {
				t.Fatalf("found %v where there is no solution", sol.Counts)
			}
			if conflict := r.pricedConflict(context.Background()); conflict != nil {
				checkConflict(t, inst, conflict)
			}
			return
		}
		if conflict := r.pricedConflict(context.Background()); conflict != nil {
			t.Fatalf("conflict %+v, but %v is a solution", conflict, want)
		}
		checkBound(t, inst, sol, inst.Objective(want))
		dual, _ := p2.DualBound(inst, sol.Multipliers)
		if math.Abs(dual-sol.Bound) > p2.ObjectiveTolerance {
			t.Fatalf("bound %.12g, its multipliers prove %.12g", sol.Bound, dual)
		}
		if sol.Status.HasSolution() && sol.Objective < inst.Objective(want)-p2.ObjectiveTolerance {
			t.Logf("search stays at %g of %g", sol.Objective, inst.Objective(want))
		}
	})
}
