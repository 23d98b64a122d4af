package tree

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/cellstest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// A tree whose nodes take all the memory they may looks at none of them.
func TestOpenIsBounded(t *testing.T) {
	tree := New(t.Context(), leaf.NewLeaves(pattern.New(problem.New(instancetest.Recorded("fifth")), pattern.MostPatterns)), tuning.Standard(), nil)
	root := tree.Open[0]
	for len(tree.Open) < tree.mostOpen() {
		tree.Open = append(tree.Open, root)
	}
	if tree.Run(t.Context(), 1, math.MaxInt64); tree.Nodes != 0 {
		t.Errorf("%d nodes beyond the limit", tree.Nodes)
	}
	if each := cap(root.choices) + 8*cap(root.x)/2; each*tree.mostOpen() > mostOpenBytes {
		t.Errorf("%d nodes of %d bytes", tree.mostOpen(), each)
	}
	tree.Open = tree.Open[:1]
	if tree.Run(t.Context(), 1, math.MaxInt64); tree.Nodes != 1 {
		t.Errorf("%d nodes below it", tree.Nodes)
	}
}

// Branch and bound alone finds the optimum of the exhaustive twin and proves it, or proves that there is
// no solution; what it unpacks is a solution worth as much.
func TestTreeAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst, s := cellstest.Draw(t, draws(t))
		want, _ := p2oracle.Best(inst)
		l := leaf.NewLeaves(s)
		l.States = 1 << 20
		tree := New(context.Background(), l, tuning.Standard(), nil)
		if want != nil && tree.RootBound < inst.Objective(want)-solver.ObjectiveTolerance {
			t.Fatalf("root bound %.12g below %.12g", tree.RootBound, inst.Objective(want))
		}
		if !tree.Run(context.Background(), 10_000, math.MaxInt64) {
			t.Fatalf("not finished: bound %g, value %g", tree.Bound(), l.Value)
		}
		if want == nil {
			if l.Found || tree.Bound() >= 0 {
				t.Fatalf("found %v, bound %g where there is no solution", l.Found, tree.Bound())
			}
			return
		}
		optimum := inst.Objective(want)
		if !l.Found || math.Abs(l.Value-optimum) > solver.ObjectiveTolerance || math.Abs(tree.Bound()-optimum) > 2*solver.ObjectiveTolerance {
			t.Fatalf("value %.12g, bound %.12g, optimum %.12g", l.Value, tree.Bound(), optimum)
		}
		counts := s.Problem.Decode(leaf.Unpack(s, &l.Best))
		if err := inst.Check(counts); err != nil {
			t.Fatal(err)
		}
		if got := inst.Objective(counts); math.Abs(got-optimum) > solver.ObjectiveTolerance {
			t.Fatalf("unpacked %.12g, want %.12g", got, optimum)
		}
	})
}

// Branch and bound with prices by server at the nodes and instances of their own at the leaves agrees with
// the exhaustive twin just so.
func TestRestTreeAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		p := problem.New(inst)
		if p.Impossible() {
			t.Skip("nothing to search")
		}
		want, _ := p2oracle.Best(inst)
		l := leaf.NewRests(p)
		l.States = 1 << 20
		d := lagrange.NewDual(p, false)
		tree := Of(l, d, lagrange.NewPriceDescent(d), tuning.Standard())
		tree.Each = 25
		if !tree.Run(context.Background(), 10_000, math.MaxInt64) {
			t.Fatalf("not finished: bound %g, value %g", tree.Bound(), l.Value)
		}
		if want == nil {
			if l.Found {
				t.Fatalf("found %v where there is no solution", l.Best)
			}
			return
		}
		optimum := inst.Objective(want)
		if !l.Found || math.Abs(l.Value-optimum) > solver.ObjectiveTolerance || math.Abs(tree.Bound()-optimum) > 2*solver.ObjectiveTolerance {
			t.Fatalf("value %.12g, bound %.12g, optimum %.12g", l.Value, tree.Bound(), optimum)
		}
		counts := p.Decode(&l.Best)
		if err := inst.Check(counts); err != nil {
			t.Fatal(err)
		}
		if got := inst.Objective(counts); math.Abs(got-optimum) > solver.ObjectiveTolerance {
			t.Fatalf("decoded %.12g, want %.12g", got, optimum)
		}
	})
}

// bestOfEverySet returns the utilization of the best solution over all sets of freed applications, each
// settled by slack alone, -Inf without one.
func bestOfEverySet(t rapid.TB, s *pattern.Cells) float64 {
	t.Helper()
	l := leaf.NewLeaves(s)
	free := make([]bool, len(s.Problem.Apps))
	best := math.Inf(-1)
	var visit func(i int, left int64)
	visit = func(i int, left int64) {
		if i < len(free) {
			visit(i+1, left)
			if s.Problem.Apps[i].Pinnable && left > 0 {
				free[i] = true
				visit(i+1, left-1)
				free[i] = false
			}
			return
		}
		if !l.R.Fix(func(i int32) bool { return free[i] }) {
			return
		}
		l.R.Solve(math.Inf(-1))
		cut := math.Max(best, -1)
		if l.K.Found = false; l.R.Bound <= cut {
			return
		}
		if !l.K.SettleExactly(context.Background(), cut, 1<<20) {
			t.Fatal("too many states")
		}
		if l.K.Found {
			best = l.K.BestValue
		}
	}
	visit(0, s.Problem.Budget)
	return best
}

// On instances too large for the exhaustive twin both trees agree with trying every set.
func TestTreesAgainstEverySet(t *testing.T) {
	instances := 40
	if testing.Short() {
		instances = 8
	}
	solved := 0
	for seed := range uint64(instances) {
		inst := alloctest.Table2(seed, 5+int(seed%3), 8+int(seed%5), true)
		inst.AdjustBudget = int64(seed % 4)
		inst.LossBudget = []float64{0.25, 0.5, 1, 2}[seed/4%4]
		p := problem.New(inst)
		if p.Impossible() {
			continue
		}
		s := pattern.New(p, pattern.MostPatterns)
		want := bestOfEverySet(t, s)
		l := leaf.NewLeaves(s)
		r := leaf.NewRests(p)
		l.States, r.States = 5000, 5000
		d := lagrange.NewDual(p, false)
		rest := Of(r, d, lagrange.NewPriceDescent(d), tuning.Standard())
		rest.LeafRounds = int(seed % 5)
		for name, tree := range map[string]*Tree{"patterns": New(context.Background(), l, tuning.Standard(), nil), "rest": rest} {
			done := tree.Run(context.Background(), 5000, math.MaxInt64)
			bound := tree.Bound()
			if !done || tree.Found != (want >= 0) || bound < want-solver.ObjectiveTolerance {
				t.Errorf("seed %d, %s: done %v, found %v with bound %g, want %g", seed, name, done, tree.Found, bound, want)
			} else if tree.Found && (math.Abs(tree.Value-want) > solver.ObjectiveTolerance || bound > want+2*solver.ObjectiveTolerance) {
				t.Errorf("seed %d, %s: %.9g with bound %.9g, want %.9g", seed, name, tree.Value, bound, want)
			}
		}
		if want >= 0 {
			solved++
		}
	}
	if !testing.Short() && solved < instances/2 {
		t.Errorf("only %d of %d have a solution", solved, instances)
	}
}

// Multipliers rule out most leaves before anything is packed.
func TestLeavesByMultipliers(t *testing.T) {
	p := problem.New(alloctest.Mixed(100, 10, 15, true))
	var settled [2]int64
	for n, rounds := range []int{0, 25} {
		d := lagrange.NewDual(p, false)
		l := leaf.NewRests(p)
		l.States = 5000
		tree := Of(l, d, lagrange.NewPriceDescent(d), tuning.Standard())
		tree.LeafRounds = rounds
		if !tree.Run(t.Context(), math.MaxInt64, math.MaxInt64) {
			t.Fatalf("%d rounds: not finished", rounds)
		}
		settled[n] = l.Judged
	}
	t.Logf("settled: %d without, %d with rounds at a leaf", settled[0], settled[1])
	if settled[1] > settled[0]/2 {
		t.Errorf("%d sets looked at, %d without rounds at a leaf", settled[1], settled[0])
	}
}

// No node is begun once the leaves have taken the work they may take, of patterns and of instances of their
// own, and what is left may be gone on with.
func TestTreeStopsByWork(t *testing.T) {
	p := problem.New(instancetest.Recorded("scarce"))
	d := lagrange.NewDual(p, false)
	l, r := leaf.NewLeaves(pattern.New(p, pattern.MostPatterns)), leaf.NewRests(p)
	l.States, r.States = 500, 500
	for name, tree := range map[string]*Tree{
		"patterns": New(t.Context(), l, tuning.Standard(), nil), "rest": Of(r, d, lagrange.NewPriceDescent(d), tuning.Standard()),
	} {
		if tree.Run(t.Context(), 300, math.MaxInt64) {
			t.Fatalf("%s: finished: nothing about its limit is tested", name)
		}
		before := tree.Work
		if tree.Run(t.Context(), math.MaxInt64, before+50) {
			t.Errorf("%s: finished", name)
		}
		// The last node may have as many leaves as there are applications.
		if took, most := tree.Work-before, int64(50+len(p.Apps)*(2+r.States/leaf.StatesPerSubproblem)); took < 50 || took > most {
			t.Errorf("%s: work %d, want 50 and at most %d", name, took, most)
		}
	}
}
