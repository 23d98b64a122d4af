package embedded

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// Branch and bound alone finds the optimum of the exhaustive twin and proves it, or proves that there is
// no solution; what it unpacks is a solution worth as much.
func TestTreeAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst, s := splittable(t, draws(t))
		want, _ := p2oracle.Best(inst)
		l := newLeaves(s)
		l.states = 1 << 20
		tree := newTree(context.Background(), l, nil)
		if want != nil && tree.rootBound < inst.Objective(want)-solver.ObjectiveTolerance {
			t.Fatalf("root bound %.12g below %.12g", tree.rootBound, inst.Objective(want))
		}
		if !tree.run(context.Background(), 10_000, math.MaxInt64) {
			t.Fatalf("not finished: bound %g, value %g", tree.bound(), l.value)
		}
		if want == nil {
			if l.found || tree.bound() >= 0 {
				t.Fatalf("found %v, bound %g where there is no solution", l.found, tree.bound())
			}
			return
		}
		optimum := inst.Objective(want)
		if !l.found || math.Abs(l.value-optimum) > solver.ObjectiveTolerance || math.Abs(tree.bound()-optimum) > 2*solver.ObjectiveTolerance {
			t.Fatalf("value %.12g, bound %.12g, optimum %.12g", l.value, tree.bound(), optimum)
		}
		counts := s.p.decode(unpack(s, &l.best))
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
		inst := tiny(draws(t))
		p := newProblem(inst)
		if plainConflict(p) != nil {
			t.Skip("nothing to search")
		}
		want, _ := p2oracle.Best(inst)
		l := newRestLeaves(p)
		l.states = 1 << 20
		d := newDual(p, false)
		tree := newTreeOf(l, d, newPriceDescent(d))
		tree.each = 25
		if !tree.run(context.Background(), 10_000, math.MaxInt64) {
			t.Fatalf("not finished: bound %g, value %g", tree.bound(), l.value)
		}
		if want == nil {
			if l.found {
				t.Fatalf("found %v where there is no solution", l.best)
			}
			return
		}
		optimum := inst.Objective(want)
		if !l.found || math.Abs(l.value-optimum) > solver.ObjectiveTolerance || math.Abs(tree.bound()-optimum) > 2*solver.ObjectiveTolerance {
			t.Fatalf("value %.12g, bound %.12g, optimum %.12g", l.value, tree.bound(), optimum)
		}
		counts := p.decode(&l.best)
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
func bestOfEverySet(t rapid.TB, s *split) float64 {
	t.Helper()
	l := newLeaves(s)
	free := make([]bool, len(s.p.apps))
	best := math.Inf(-1)
	var visit func(i int, left int64)
	visit = func(i int, left int64) {
		if i < len(free) {
			visit(i+1, left)
			if s.p.apps[i].keepable && left > 0 {
				free[i] = true
				visit(i+1, left-1)
				free[i] = false
			}
			return
		}
		if !l.r.fix(func(i int32) bool { return free[i] }) {
			return
		}
		l.r.solve(math.Inf(-1))
		cut := math.Max(best, -1)
		if l.k.found = false; l.r.bound <= cut {
			return
		}
		if !l.k.settleExactly(context.Background(), cut, 1<<20) {
			t.Fatal("too many states")
		}
		if l.k.found {
			best = l.k.bestValue
		}
	}
	visit(0, s.p.budget)
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
		p := newProblem(inst)
		if plainConflict(p) != nil {
			continue
		}
		s := newSplit(p, mostPatterns)
		want := bestOfEverySet(t, s)
		l := newLeaves(s)
		r := newRestLeaves(p)
		l.states, r.states = 5000, 5000
		d := newDual(p, false)
		rest := newTreeOf(r, d, newPriceDescent(d))
		rest.leafRounds = int(seed % 5)
		for name, tree := range map[string]*tree{"patterns": newTree(context.Background(), l, nil), "rest": rest} {
			done := tree.run(context.Background(), 5000, math.MaxInt64)
			bound := tree.bound()
			if !done || tree.found != (want >= 0) || bound < want-solver.ObjectiveTolerance {
				t.Errorf("seed %d, %s: done %v, found %v with bound %g, want %g", seed, name, done, tree.found, bound, want)
			} else if tree.found && (math.Abs(tree.value-want) > solver.ObjectiveTolerance || bound > want+2*solver.ObjectiveTolerance) {
				t.Errorf("seed %d, %s: %.9g with bound %.9g, want %.9g", seed, name, tree.value, bound, want)
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
	p := newProblem(alloctest.Mixed(100, 10, 15, true))
	var settled [2]int64
	for n, rounds := range []int{0, 25} {
		d := newDual(p, false)
		l := newRestLeaves(p)
		l.states = 5000
		tree := newTreeOf(l, d, newPriceDescent(d))
		tree.leafRounds = rounds
		if !tree.run(t.Context(), math.MaxInt64, math.MaxInt64) {
			t.Fatalf("%d rounds: not finished", rounds)
		}
		settled[n] = l.judged
	}
	t.Logf("settled: %d without, %d with rounds at a leaf", settled[0], settled[1])
	if settled[1] > settled[0]/2 {
		t.Errorf("%d sets looked at, %d without rounds at a leaf", settled[1], settled[0])
	}
}

// No node is begun once the leaves have taken the work they may take, of patterns and of instances of their
// own, and what is left may be gone on with.
func TestTreeStopsByWork(t *testing.T) {
	p := newProblem(recorded("scarce"))
	d := newDual(p, false)
	l, r := newLeaves(newSplit(p, mostPatterns)), newRestLeaves(p)
	l.states, r.states = 500, 500
	for name, tree := range map[string]*tree{
		"patterns": newTree(t.Context(), l, nil), "rest": newTreeOf(r, d, newPriceDescent(d)),
	} {
		if tree.run(t.Context(), 300, math.MaxInt64) {
			t.Fatalf("%s: finished: nothing about its limit is tested", name)
		}
		before := tree.work
		if tree.run(t.Context(), math.MaxInt64, before+50) {
			t.Errorf("%s: finished", name)
		}
		// The last node may have as many leaves as there are applications.
		if took, most := tree.work-before, int64(50+len(p.apps)*(2+r.states/statesPerBox)); took < 50 || took > most {
			t.Errorf("%s: work %d, want 50 and at most %d", name, took, most)
		}
	}
}

// Where all are kept by choice the bound is that of a budget that leaves no choice.
func TestDualBoundOfKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := tiny(draws(t))
		inst.AdjustBudget = 1
		p := newProblem(inst)
		if p.keepable < int64(len(p.apps)) {
			t.Skip("not all may be kept")
		}
		d := newDual(p, false)
		choices := make([]choice, len(p.apps))
		d.decide(choices)
		for i := range choices {
			choices[i] = kept
		}
		d.decide(choices)
		x := make([]float64, d.dim())
		for c := range x {
			x[c] = rapid.Float64Range(0, 1).Draw(t, "price")
		}
		got := d.evaluate(x)
		inst.AdjustBudget = 0
		want, err := solver.DualBound(inst, d.multipliers(x))
		if err != nil || math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("bound %.12g, want %.12g, %v", got, want, err)
		}
	})
}

// With choices made, the prices by server bound every solution that agrees with them.
func TestDualBoundOfNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := tiny(draws(t))
		p := newProblem(inst)
		best, _ := p2oracle.Best(inst)
		if best == nil || plainConflict(p) != nil {
			t.Skip("no solution")
		}
		choices := make([]choice, len(p.apps))
		for i := range choices {
			if p.apps[i].keepable && rapid.Bool().Draw(t, "decided") {
				choices[i] = kept
				if inst.Apps[i].Adjusted(best[i]) {
					choices[i] = freed
				}
			}
		}
		d := newDual(p, false)
		d.decide(choices)
		x := make([]float64, d.dim())
		for c := range x {
			x[c] = rapid.Float64Range(0, 1).Draw(t, "price")
		}
		if bound := d.evaluate(x); bound < inst.Objective(best)-solver.ObjectiveTolerance {
			t.Fatalf("choices %v: bound %.12g below %.12g", choices, bound, inst.Objective(best))
		}
	})
}
