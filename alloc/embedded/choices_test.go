package embedded_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// Where the ways to fix all options are many, the answer is legal and within a hundredth of its bound in the mean, the
// prices prove the bound, and the same instance has the same answer.
func TestManyChoices(t *testing.T) {
	seeds, gaps := uint64(8), 0.0
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		inst := alloctest.Accelerators(seed, 8, 12, seed%2 == 1)
		s, err := embedded.New(nil).Solve(t.Context(), inst)
		if err != nil || !s.Status.HasSolution() {
			t.Fatalf("%d: %+v, %v", seed, s, err)
		}
		if err := inst.Check(s.Counts); err != nil {
			t.Errorf("%d: %v", seed, err)
		}
		if proven, err := s.Certified(inst); err != nil || s.Bound < s.Objective-solver.ObjectiveTolerance || proven > s.Bound+1e-8 && !s.Searched {
			t.Errorf("%d: bound %g for %g, proven %g, %v", seed, s.Bound, s.Objective, proven, err)
		}
		again, err := embedded.New(nil).Solve(t.Context(), inst)
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%d: another answer, %v", seed, err)
		}
		gaps += solver.Gap(s.Objective, s.Bound)
		t.Logf("%d: %.5g of %.5g", seed, s.Objective, s.Bound)
	}
	if mean := gaps / float64(seeds); mean > 0.01 {
		t.Errorf("the mean gap is %.4f", mean)
	}
}

// Where the ways to fix all options are few each is tried: as many answers are the optimum, and proven so, as without.
func TestFewChoices(t *testing.T) {
	optimal, proven, solvable := 0, 0, 0
	for seed := range uint64(300) {
		inst := solvertest.Choices(seed)
		best, _ := p2oracle.Best(inst)
		s, err := embedded.New(nil).Solve(t.Context(), inst)
		if err != nil || (best == nil) != (s.Status == solver.Infeasible) {
			t.Fatalf("%d: %v, %v", seed, s.Status, err)
		}
		if best == nil {
			continue
		}
		solvable++
		if s.Objective >= inst.Objective(best)-solver.ObjectiveTolerance {
			optimal++
		}
		if s.Status == solver.Optimal {
			proven++
		}
	}
	t.Logf("%d optimal, %d proven of %d", optimal, proven, solvable)
	if optimal < solvable || proven < solvable {
		t.Errorf("%d optimal, %d proven of %d", optimal, proven, solvable)
	}
}

// No optimum of HiGHS is above a bound here, and the answers are worth within a hundredth of it in the mean, on instances
// whose ways to fix all options are too many to try.
func TestChoicesAgainstHiGHS(t *testing.T) {
	seeds, behind, worst := uint64(16), 0.0, 0.0
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		inst := alloctest.Accelerators(seed, 4, 6, seed%2 == 1)
		opts := &mip.Options{Search: milp.Options{RelativeGap: 1e-9}}
		want, err := mip.New(ortools.HiGHS{}, mip.Disjunctive, opts).Solve(t.Context(), inst)
		if errors.Is(err, ortools.ErrUnavailable) {
			t.Skipf("NOT TESTED, OR-Tools is missing: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := embedded.New(nil).Solve(t.Context(), inst)
		if err != nil || got.Status.HasSolution() != want.Status.HasSolution() {
			t.Fatalf("%d: %v, %v; HiGHS %v", seed, got.Status, err, want.Status)
		}
		if got.Bound < want.Objective-1e-6 || want.Status == solver.Optimal && got.Objective > want.Objective+1e-6 {
			t.Errorf("%d: %g with bound %g, HiGHS has %g", seed, got.Objective, got.Bound, want.Objective)
		}
		behind += (want.Objective - got.Objective) / want.Objective
		worst = max(worst, (want.Objective-got.Objective)/want.Objective)
	}
	t.Logf("%.3f %% behind in the mean, %.3f %% at worst", 100*behind/float64(seeds), 100*worst)
	if behind > 0.01*float64(seeds) {
		t.Errorf("%.3f %% behind in the mean", 100*behind/float64(seeds))
	}
}
