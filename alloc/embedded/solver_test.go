package embedded

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// Whenever the context ends, the answer is a solution with a valid bound, and says so.
func TestCancelled(t *testing.T) {
	for _, inst := range []*solver.Instance{alloctest.Table2(1, 20, 30, true), alloctest.Mixed(2, 20, 30, false)} {
		full := solve(t, nil, inst)
		finished := 0
		for _, left := range []int{0, 1, 2, 5, 10, 50, 100, 200, 400, 800, 1 << 20} {
			sol, err := New(nil).Solve(instancetest.NewFuse(left), inst)
			if err != nil {
				t.Fatal(err)
			}
			if !sol.Interrupted {
				finished++
				if diff := cmp.Diff(full, sol); diff != "" {
					t.Errorf("not cut short, but different:\n%s", diff)
				}
				continue
			}
			// At first there may be no solution yet; a few hundred moves on there is one.
			if sol.Status.HasSolution() {
				if err := inst.Check(sol.Counts); err != nil {
					t.Errorf("after %d looks: %v", left, err)
				}
			} else if sol.Status != solver.Unknown || left >= 200 {
				t.Errorf("after %d looks: status %v", left, sol.Status)
			}
			checkBound(t, inst, sol, full.Objective)
			if sol.Effort > full.Effort || left == 0 && sol.Effort > 0 {
				t.Errorf("after %d looks: effort %d, uncut %d", left, sol.Effort, full.Effort)
			}
		}
		if full.Interrupted || finished == 0 {
			t.Errorf("%d fuses reached the end, want the longest", finished)
		}
	}
}

// The same instance gives the same answer, also from one Solver in several goroutines.
func TestDeterministic(t *testing.T) {
	for _, inst := range []*solver.Instance{
		alloctest.Table2(1, 12, 15, true), alloctest.Mixed(2, 12, 15, true), alloctest.Mixed(3, 12, 15, false),
	} {
		before := instancetest.Clone(inst)
		s := New(&Options{Effort: Quick})
		want := solve(t, &Options{Effort: Quick}, inst)
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				got, err := s.Solve(context.Background(), inst)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("error %v, answer (-want +got):\n%s", err, diff)
				}
			})
		}
		group.Wait()
		if diff := cmp.Diff(before, inst); diff != "" {
			t.Errorf("Solve changed the instance:\n%s", diff)
		}
		if other := solve(t, &Options{Effort: Quick, Seed: 9}, inst); other.Effort == want.Effort && cmp.Equal(other, want) {
			t.Errorf("another seed takes the same way")
		}
	}
}

// rerun makes counts what runs now.
func rerun(inst *solver.Instance, counts solver.Counts) *solver.Instance {
	next := instancetest.Clone(inst)
	running := 0
	for i := range next.Apps {
		app := &next.Apps[i]
		app.Displaced, app.Previous = false, counts[i]
		app.Cost = 1
		if app.Running = len(counts[i]) > 0; app.Running {
			running++
		}
	}
	next.AdjustBudget = int64(running+9) / 10
	return next
}

// With its own answer as what runs now, the solver changes something only for more utilization, or
// for less loss at the same; as soon as it finds neither, nothing changes for ever.
func TestFixedPoint(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for _, inst := range []*solver.Instance{
			alloctest.Table2(seed, 12, 15, true), alloctest.Mixed(seed, 12, 15, true), alloctest.Table2(seed, 8, 6, false),
		} {
			sol := solve(t, nil, inst)
			for round := 0; ; round++ {
				inst = rerun(inst, sol.Counts)
				next := solve(t, nil, inst)
				more := next.Objective - sol.Objective
				less := inst.FairnessLoss(sol.Counts) - inst.FairnessLoss(next.Counts)
				if more < -solver.ObjectiveTolerance || more <= solver.ObjectiveTolerance && less < -solver.LossTolerance {
					t.Fatalf("seed %d round %d: utilization %+g, loss %+g", seed, round, more, -less)
				}
				if more <= solver.ObjectiveTolerance && less <= solver.LossTolerance {
					if adjusted := inst.AdjustedApps(next.Counts); adjusted > 0 {
						t.Errorf("seed %d round %d: nothing gained, %d adjusted", seed, round, adjusted)
					}
					break
				}
				if round > 30 {
					t.Fatalf("seed %d: no end", seed)
				}
				sol = next
			}
		}
	}
}

// A fixed point of an instance that is proven: nothing may change in the very next round.
func TestFixedPointProven(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.75))
	sol := solve(t, nil, inst)
	again := solve(t, nil, rerun(inst, sol.Counts))
	if diff := cmp.Diff(sol.Counts, again.Counts); diff != "" || again.Proven != solver.ByOrder {
		t.Errorf("proven by %v (-first +second):\n%s", again.Proven, diff)
	}
}

// A target gap stops the search early, with that gap or a better one.
func TestGap(t *testing.T) {
	for _, test := range []struct {
		inst   *solver.Instance
		gap    float64
		polish float64 // of which the gap saves nothing
	}{{alloctest.Table2(4, 20, 30, true), 0.2, tuning.Standard().MostPolish}, {alloctest.Mixed(1, 20, 30, false), 0.05, 0}} {
		full, early := solve(t, nil, test.inst), solve(t, &Options{Gap: test.gap}, test.inst)
		if early.Gap() > test.gap {
			t.Errorf("gap %g", early.Gap())
		}
		polish := int64(tuning.Standard().Polish * test.polish)
		if early.Effort-polish >= (full.Effort-polish)*9/10 {
			t.Errorf("effort %d, without a target %d", early.Effort, full.Effort)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, opts := range []*Options{nil, {}, {Effort: -5}, {Gap: math.NaN()}, {Gap: -1}, {Gap: 2}} {
		if got := New(opts).opts; got != (Options{Effort: Default}) {
			t.Errorf("New(%v) uses %v", opts, got)
		}
	}
	opts := Options{Effort: Quick, Gap: 0.5, Seed: 3}
	if got := New(&opts).opts; got != opts {
		t.Errorf("New(%v) uses %v", opts, got)
	}
}

// More effort may be any number; the largest one ends with the context.
func TestLargestEffort(t *testing.T) {
	inst := alloctest.Mixed(1, 20, 30, true)
	sol, err := New(&Options{Effort: math.MaxInt64}).Solve(instancetest.NewFuse(500), inst)
	if err != nil || !sol.Interrupted || !sol.Status.HasSolution() {
		t.Errorf("%v, %+v", err, sol)
	}
}

// Prices are always there, those of the bound, and Adjust is what one more adjustment is worth:
// with that budget the bound at the same prices rises by just as much.
func TestAdjustPrice(t *testing.T) {
	inst := alloctest.Table2(1, 20, 30, true)
	sol := solve(t, nil, inst)
	more := *inst
	more.AdjustBudget++
	now, err := solver.DualBound(inst, sol.Multipliers)
	if err != nil {
		t.Fatal(err)
	}
	then, err := solver.DualBound(&more, sol.Multipliers)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(then-now-sol.Multipliers.Adjust) > 1e-9 || sol.Multipliers.Adjust <= 0 {
		t.Errorf("Adjust %g, the bound rises by %g", sol.Multipliers.Adjust, then-now)
	}
}
