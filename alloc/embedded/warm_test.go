package embedded

import (
	"context"
	"fmt"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tree"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// next is the decision after counts: what was decided runs, two applications are done, two are new.
func next(inst *solver.Instance, counts solver.Counts, seed uint64) *solver.Instance {
	n := rerun(inst, counts)
	n.Apps = append(n.Apps[:3:3], n.Apps[5:]...)
	n.Apps = append(n.Apps, alloctest.Table2(seed, len(inst.Capacity), 2, false).Apps...)
	return n
}

// Along a chain of decisions a warm start proves the same utilization, and its root bound is lower after
// as many rounds.
func TestWarmStart(t *testing.T) {
	compared, lower := 0, 0
	chains := uint64(16)
	if testing.Short() {
		chains = 3
	}
	for seed := range chains {
		inst := alloctest.Table2(seed, 16, 24, true)
		sol := solve(t, nil, inst)
		for step := range uint64(3) {
			last := WarmFrom(inst, sol)
			inst = next(inst, sol.Counts, 100*seed+step)
			sol = solve(t, nil, inst)
			if sol.Status == solver.Infeasible {
				break
			}
			compared++
			again := solve(t, &Options{Warm: last}, inst)
			checkBound(t, inst, again, sol.Objective)
			if sol.Status == solver.Optimal && again.Objective > sol.Objective+solver.ObjectiveTolerance || again.Status == solver.Optimal && sol.Objective > again.Objective+solver.ObjectiveTolerance {
				t.Errorf("seed %d: %v %g, warm %v %g", seed, sol.Status, sol.Objective, again.Status, again.Objective)
			}
			root := func(w *Warm) float64 {
				r := newRun(problem.New(inst), &Options{Warm: w}, tuning.Standard())
				r.s = pattern.New(r.p, pattern.MostPatterns)
				return tree.New(t.Context(), leaf.NewLeaves(r.s), r.tune, r.warmStart()).RootBound
			}
			if root(last) < root(nil) {
				lower++
			}
		}
	}
	t.Logf("%d decisions, the root bound lower in %d", compared, lower)
	if !testing.Short() && (compared < 6 || 3*lower < 2*compared) {
		t.Error("warm starts are of no use")
	}
}

// Multipliers go to the applications and servers that they were of, wherever these stand in the list.
func TestWarmFollowsApplications(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.5, apportion.Placement{Server: 0, Count: 2}), instancetest.MF(0.5, apportion.Placement{Server: 0, Count: 1}, apportion.Placement{Server: 1, Count: 2}))
	sol := &solver.Solution{
		Status: solver.Feasible,
		Counts: solver.Counts{{{Server: 0, Count: 2}}, {{Server: 1, Count: 2}}}, // MF is adjusted
		Certificate: solver.Certificate{
			Copies: &solver.CopyPrices{Container: []float64{1, 2}, Loss: 3, Room: [][]float64{{4}, {5, 6}}},
		},
	}
	w := WarmFrom(inst, sol)
	inst.Apps[0], inst.Apps[1] = inst.Apps[1], inst.Apps[0]
	s := pattern.New(problem.New(inst), pattern.MostPatterns)
	x := make([]float64, lagrange.Dim(s))
	w.apply(s, x)
	m := lagrange.CopyPrices(s, x)
	if m.Container[0] != 2 || m.Container[1] != 1 || m.Loss != 3 || m.Room[1][0] != 4 || m.Room[0][0] != 0 || m.Room[0][1] != 0 {
		t.Errorf("%+v", m)
	}
	if w := WarmFrom(inst, &solver.Solution{Status: solver.Infeasible}); w != nil {
		t.Errorf("%+v from nothing", w)
	}
}

// Who was adjusted is known by where it is now; a set is tried only if all of it may be freed.
func TestWarmFreed(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.5, apportion.Placement{Server: 0, Count: 2}), instancetest.MF(0.5, apportion.Placement{Server: 0, Count: 1}, apportion.Placement{Server: 1, Count: 2}))
	sol := &solver.Solution{Status: solver.Feasible, Counts: solver.Counts{{{Server: 0, Count: 2}}, {{Server: 1, Count: 2}}}} // MF is adjusted
	w := WarmFrom(inst, sol)
	again := instancetest.Worked(instancetest.MF(0.5, apportion.Placement{Server: 1, Count: 2}), instancetest.LR(0.5, apportion.Placement{Server: 0, Count: 2}))
	for budget, want := range []string{"[]", "[true false]", "[true false]"} {
		again.AdjustBudget = int64(budget)
		if got := fmt.Sprint(w.set(problem.New(again))); got != want {
			t.Errorf("budget %d: %s, want %s", budget, got, want)
		}
	}
	elsewhere := instancetest.Worked(instancetest.MF(0.5, apportion.Placement{Server: 0, Count: 2}), instancetest.LR(0.5, apportion.Placement{Server: 0, Count: 2}))
	elsewhere.AdjustBudget = 2
	if got := w.set(problem.New(elsewhere)); got != nil {
		t.Errorf("%v, who are elsewhere now", got)
	}
}

// The set of a warm start is tried.
func TestWarmSetIsTried(t *testing.T) {
	inst := alloctest.Table2(2, 20, 30, true)
	w := &Warm{freed: map[string]bool{}}
	for i := range inst.Apps[:2] {
		w.freed[string(placeKey(problem.Key(nil, inst.Apps[i].Demand), inst.Apps[i].Previous))] = true
	}
	r := newRun(problem.New(inst), &Options{Effort: Quick, Warm: w}, tuning.Standard())
	r.search(t.Context())
	known := r.tree.Known()
	known.Identify(func(i int32) bool { return i < 2 })
	if _, tried := known.Seen[string(known.Key)]; !tried {
		t.Error("it was not tried")
	}
}

// A warm start from another cluster altogether does no harm.
func TestWarmFromElsewhere(t *testing.T) {
	other := alloctest.Table2(1, 12, 20, true)
	w := WarmFrom(other, solve(t, nil, other))
	inst := alloctest.Table2(2, 20, 30, true)
	want := solve(t, &Options{Effort: Prove}, inst)
	got, err := New(&Options{Effort: Prove, Warm: w}).Solve(context.Background(), inst)
	if err != nil || got.Status != solver.Optimal || got.Objective < want.Objective-solver.ObjectiveTolerance {
		t.Errorf("%v: %v %g, want %g", err, got.Status, got.Objective, want.Objective)
	}
}
