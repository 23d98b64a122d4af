package embedded_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
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

// tightOptions draws five applications with three options each, of unlike demands, on servers of two kinds that they fill.
func tightOptions(seed uint64) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 0x7167))
	inst := &solver.Instance{LossBudget: 3, AdjustBudget: 9}
	for range 4 {
		inst.Capacity = append(inst.Capacity, apportion.Resources{3 + r.Int64N(5), 3 + r.Int64N(5)})
	}
	for a := range 5 {
		inst.Choices = append(inst.Choices, solver.Choice{Apps: []int{3 * a, 3*a + 1, 3*a + 2}, Required: true})
		for range 3 {
			inst.Apps = append(inst.Apps, solver.App{
				Demand: apportion.Resources{r.Int64N(4), 1 + r.Int64N(3)}, Min: 1, Max: 1 + r.Int64N(4), Elective: true, Cost: 1, Share: .2,
				Losses: []solver.LossPoint{{Loss: 1}, {N: 2, Loss: float64(r.IntN(4)) / 4}},
			})
		}
	}
	return instancetest.Finish(inst)
}

// What runs now gives way only to something better, with options as without: whatever the effort, an answer is worth no less
// than to leave all as it is, and at an equal worth loses no more.
func TestChoicesNoWorseThanNow(t *testing.T) {
	stay := 0
	for seed := range uint64(60) {
		inst := tightOptions(seed)
		for _, budget := range []int64{9, 0, 2} {
			inst.AdjustBudget = budget
			s, err := embedded.New(&embedded.Options{Effort: 1}).Solve(t.Context(), inst)
			if err != nil {
				t.Fatal(err)
			}
			now := make(solver.Counts, len(inst.Apps))
			for i := range inst.Apps {
				now[i] = inst.Apps[i].Previous
			}
			if inst.Check(now) == nil {
				stay++
				if !s.Status.HasSolution() || s.Objective < inst.Objective(now)-solver.ObjectiveTolerance {
					t.Errorf("seed %d, budget %d: %v, %g; %g now", seed, budget, s.Status, s.Objective, inst.Objective(now))
				} else if s.Objective <= inst.Objective(now)+solver.ObjectiveTolerance && inst.FairnessLoss(s.Counts) > inst.FairnessLoss(now)+solver.LossTolerance {
					t.Errorf("seed %d, budget %d: nothing gained, and loss %g; %g now", seed, budget, inst.FairnessLoss(s.Counts), inst.FairnessLoss(now))
				}
			}
			if !s.Status.HasSolution() {
				break
			}
			// The answer runs, and nothing may lose more than it does: what is found from scratch hardly holds that.
			inst.LossBudget = inst.FairnessLoss(s.Counts)
			for i := range inst.Apps {
				app := &inst.Apps[i]
				app.Previous, app.Running = s.Counts[i], len(s.Counts[i]) > 0
			}
		}
	}
	if stay < 60 {
		t.Errorf("in %d all may stay as it is", stay)
	}
}
