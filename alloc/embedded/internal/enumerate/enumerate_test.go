package enumerate

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// plain enumerates inst without prices.
// All prices are 0, so that the bound is the sum of the best values alone: valid, and
// weak.
func plain(ctx context.Context, inst *solver.Instance, limit int64) (*Enumeration, bool) {
	d := lagrange.NewDual(problem.New(inst), false)
	x := make([]float64, d.Dim())
	// The scores of this evaluation bound the suffixes.
	d.Evaluate(x)
	return Run(ctx, d, x, nil, limit)
}

// Enumeration alone, without a solution from the search to start with, is the exhaustive twin.
func TestEnumerationAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		want, _ := p2oracle.Best(inst)
		if problem.New(inst).Impossible() {
			t.Skip("not reached")
		}
		e, done := plain(context.Background(), inst, 1<<20)
		if !done || e.Found != (want != nil) {
			t.Fatalf("done %v, found %v, want %v", done, e.Found, want)
		}
		if e.Found {
			if diff := cmp.Diff(want, e.Counts()); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}

// Equal servers are interchangeable only while they hold the same: moving for a smaller x is no
// gain.
func TestEnumerationKeepsWhatRuns(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.25, apportion.Placement{Server: 0, Count: 2}))
	inst.Capacity[0][1] = 0
	inst.Apps[0].Max = 2
	e, done := plain(context.Background(), instancetest.Finish(inst), 1<<20)
	want := solver.Counts{{{Server: 0, Count: 2}}}
	if diff := cmp.Diff(want, e.Counts()); diff != "" || !done {
		t.Errorf("done %v (-want +got):\n%s", done, diff)
	}
}

// Servers that hold as much of each type alone are not interchangeable: only the larger one holds both.
func TestEnumerationTellsServersApart(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{5}, {4}}, LossBudget: 10}
	inst.Apps = []solver.App{{Demand: apportion.Resources{2}, Max: 1}, {Demand: apportion.Resources{3}, Max: 2}}
	e, done := plain(context.Background(), instancetest.Finish(inst), 1<<20)
	want := solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 1}, {Server: 1, Count: 1}}}
	if diff := cmp.Diff(want, e.Counts()); diff != "" || !done {
		t.Errorf("done %v (-want +got):\n%s", done, diff)
	}
}

// Enumeration stops at its limit and at the end of the context, and then proves nothing.
func TestEnumerationStops(t *testing.T) {
	inst := alloctest.Table2(1, 4, 5, false)
	if e, done := plain(context.Background(), inst, 5000); done || e.Nodes != 5001 {
		t.Errorf("done %v after %d nodes", done, e.Nodes)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if e, done := plain(ctx, inst, 1<<40); done || e.Nodes > lookEvery {
		t.Errorf("done %v after %d nodes", done, e.Nodes)
	}
}

// Among solutions of equal utilization and loss fewer adjusted come first, then fewer moved.
func TestCompareMoves(t *testing.T) {
	ranks := []Rank{{Adjusted: 1, Moved: 3}, {Adjusted: 1, Moved: 4}, {Adjusted: 2}} // from best to worst
	for a := range ranks {
		for b := range ranks {
			if got, want := ranks[a].compareMoves(&ranks[b]), a-b; (got > 0) != (want > 0) || (got < 0) != (want < 0) {
				t.Errorf("compareMoves(%v, %v) = %d", ranks[a], ranks[b], got)
			}
		}
	}
}

// Containers of two sizes that differ by less than a part in a million: thousands of solutions, each within the
// tolerance of the next and with less loss. What is called optimal is within it of the best.
func TestEnumerationDoesNotDrift(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{1e15}}, LossBudget: 2}
	for _, demand := range []int64{1_998_000_000_000, 1_998_000_400_000} {
		inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{demand}, Max: 500, Share: 0.4995})
	}
	e, done := plain(context.Background(), instancetest.Finish(inst), 1<<20)
	const optimum = 0.9990002 // 500 containers of the second
	if got := inst.Objective(e.Counts()); !done || got < optimum-solver.ObjectiveTolerance {
		t.Errorf("done %v, utilization %.12g, want %.12g", done, got, optimum)
	}
}
