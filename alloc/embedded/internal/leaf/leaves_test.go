package leaf

import (
	"context"
	"fmt"
	"math"
	rand "math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/cellstest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// drawLeaf draws an instance whose containers fill its servers badly, and whose maxima and fairness budget
// bind; nil where it has no solution, else its utilization is optimum.
func drawLeaf(t *testing.T, seed uint64) (l *Leaves, optimum float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	draw := func(least, most int64) apportion.Resources {
		return apportion.Resources{least + r.Int64N(most-least+1), least + r.Int64N(most-least+1)}
	}
	inst := &solver.Instance{LossBudget: 0.3 + r.Float64()}
	for range 2 + r.IntN(4) {
		inst.Capacity = append(inst.Capacity, draw(7, 19))
	}
	for range 2 + r.IntN(4) {
		least := r.Int64N(2)
		inst.Apps = append(inst.Apps, solver.App{Demand: draw(2, 6), Min: least, Max: least + 1 + r.Int64N(5), Share: r.Float64() / 2})
	}
	l = NewLeaves(pattern.New(problem.New(instancetest.Finish(inst)), pattern.MostPatterns))
	if !l.R.Fix(everyone) {
		return nil, 0
	}
	l.R.Solve(math.Inf(-1))
	if !l.K.SettleExactly(context.Background(), -1, 1<<20) {
		t.Fatalf("seed %d: too many states", seed)
	}
	if !l.K.Found {
		return nil, 0
	}
	optimum, l.K.Found = l.K.BestValue, false
	return l, optimum
}

// eachLeaf draws leaves from that many seeds, fewer in short mode, and tests those with a solution.
func eachLeaf(t *testing.T, seeds uint64, test func(seed uint64, l *Leaves, optimum float64)) {
	t.Helper()
	if testing.Short() {
		seeds = min(seeds, 100)
	}
	for seed := range seeds {
		if l, optimum := drawLeaf(t, seed); l != nil {
			test(seed, l, optimum)
		}
	}
}

// Leaves that have answered sets of one instance answer those of another as new ones do.
func TestOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		used := &Leaves{}
		for range 3 {
			_, s := cellstest.Draw(t, draws(t))
			used.over(s)
			fresh := NewLeaves(s)
			for range 3 {
				free := rapid.SliceOfN(rapid.Bool(), len(s.Problem.Apps), -1).Draw(t, "free")
				is := func(i int32) bool { return free[i] }
				if got, want := used.Judge(is), fresh.Judge(is); got != want {
					t.Fatalf("judged %v, want %v", got, want)
				}
			}
			if used.Found != fresh.Found || used.Found && fmt.Sprint(used.Best) != fmt.Sprint(fresh.Best) {
				t.Fatalf("best %+v, want %+v", used.Best, fresh.Best)
			}
		}
	})
}

// The search by slack finds the optimum with the cut just below it too.
func TestSlackWithCutBelowOptimum(t *testing.T) {
	eachLeaf(t, 600, func(seed uint64, l *Leaves, optimum float64) {
		if !l.K.SettleExactly(context.Background(), optimum-1e-7, 1<<20) || !l.K.Found || math.Abs(l.K.BestValue-optimum) > solver.ObjectiveTolerance {
			t.Errorf("seed %d: found %v with %.9g, want %.9g", seed, l.K.Found, l.K.BestValue, optimum)
		}
	})
}

// What is supplied and not used counts once: two servers hold two containers each of an application that
// the fairness budget binds to three, or one of another that is worth less than the third. The program
// halves the second server, so that the fourth container has a price: all that the optimum is short of.
func TestSlackOfUnused(t *testing.T) {
	inst := instancetest.Finish(&solver.Instance{
		Capacity: []apportion.Resources{{4, 4}, {4, 4}}, LossBudget: 0.1875,
		Apps: []solver.App{{Demand: apportion.Resources{2, 2}, Max: 5, Share: 0.75}, {Demand: apportion.Resources{3, 0}, Max: 5, Share: 0.1875}},
	})
	l := NewLeaves(pattern.New(problem.New(inst), pattern.MostPatterns))
	if !l.R.Fix(everyone) {
		t.Fatal("does not fit")
	}
	l.R.Solve(math.Inf(-1))
	if want := 1.5 + l.R.Pi[0]; l.R.Pi[0] < 0.1 || math.Abs(l.R.Bound-want) > 1e-3 {
		t.Fatalf("bound %g with price %g, want %g", l.R.Bound, l.R.Pi[0], want)
	}
	if !l.K.SettleExactly(context.Background(), 1.5-1e-7, 1<<20) || !l.K.Found || math.Abs(l.K.BestValue-1.5) > solver.ObjectiveTolerance {
		t.Errorf("found %v with %.9g, want 1.5", l.K.Found, l.K.BestValue)
	}
}

// Branching on counts leaves none out: with the cut just below the optimum of a leaf it is found, or the
// bound says that it may be there.
func TestBoxesHoldEveryCount(t *testing.T) {
	drawn, branched := 0, 0
	eachLeaf(t, 600, func(seed uint64, l *Leaves, optimum float64) {
		drawn++
		l.step, l.States = 0, 1<<20
		l.Found, l.Value = true, optimum-1e-6
		l.standing.Accept(l.Value, math.Inf(1))
		subproblems := 1000
		bound := l.settleWithin(context.Background(), 0, &subproblems)
		if subproblems < 998 {
			branched++
		}
		if math.Max(l.Value, bound) < optimum-solver.ObjectiveTolerance || l.Value > optimum+solver.ObjectiveTolerance {
			t.Errorf("seed %d: %.9g, the rest at most %.9g, want %.9g", seed, l.Value, bound, optimum)
		}
	})
	t.Logf("%d leaves, %d of them branch", drawn, branched)
	if !testing.Short() && branched < 5 {
		t.Errorf("only %d of %d leaves branch", branched, drawn)
	}
}

// What a target gap leaves unsought is not ruled out: the bound of a leaf covers an optimum that is within
// the gap of the incumbent.
func TestLeafWithGap(t *testing.T) {
	within := 0
	eachLeaf(t, 3000, func(seed uint64, l *Leaves, optimum float64) {
		l.step, l.States, l.Gap = 0, 1<<20, 0.01
		l.Found, l.Value = true, optimum*0.995
		l.standing.Accept(l.Value, math.Inf(1))
		bound := l.Settle(context.Background(), everyone)
		if math.Max(l.Value, bound) < optimum-solver.ObjectiveTolerance {
			t.Errorf("seed %d: %.9g, the rest at most %.9g, want %.9g", seed, l.Value, bound, optimum)
		}
		if l.Value < optimum-solver.ObjectiveTolerance {
			within++
		}
	})
	if !testing.Short() && within == 0 {
		t.Error("no leaf was left unsought")
	}
}

// The search by slack looks at its context before every state, those of the last layer too: an ended one
// stops it at once.
func TestSlackCancelled(t *testing.T) {
	for seed := range uint64(20) {
		l, _ := drawLeaf(t, seed)
		if l == nil {
			continue
		}
		start := []slackState{{supply: make([]int64, len(l.R.Pools))}}
		q := &slackSearch{r: &l.R, room: l.R.Bound + 1, limit: 1 << 20, layers: [][]slackState{start}}
		if q.server(instancetest.NewFuse(0), 0) || q.states > 0 {
			t.Errorf("seed %d: a layer of %d states after the end", seed, q.states)
		}
		layers := instancetest.NewFuse(1 << 30)
		for g := range l.R.Class {
			for range int(l.R.Size[g]) {
				q.server(layers, int32(g))
			}
		}
		if looks := 1<<30 - layers.Left; l.K.SettleExactly(instancetest.NewFuse(looks), -1, 1<<20) || l.K.Found {
			t.Errorf("seed %d: settled by a search that ended with its %d looks at layers", seed, looks)
		}
	}
}

// A leaf gives up as soon as its context has ended; what it returns is still a bound on the leaf.
func TestLeafCancelled(t *testing.T) {
	long := 0
	seeds := uint64(60)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		for left := 0; ; left = 2*left + 1 {
			l, optimum := drawLeaf(t, seed)
			if l == nil {
				break
			}
			l.step, l.States = 0, 1<<20
			ctx := instancetest.NewFuse(left)
			subproblems := 1000
			bound := l.settleWithin(ctx, 0, &subproblems)
			if math.Max(l.Value, bound) < optimum-solver.ObjectiveTolerance {
				t.Errorf("seed %d, after %d looks: %.9g, the rest at most %.9g, want %.9g", seed, left, l.Value, bound, optimum)
			}
			if ctx.Left >= 0 {
				break // it had the time
			}
			if left > 4 {
				long++
			}
			// Every subproblem that it was in looks once more at most.
			if after := -ctx.Left; after > 40 {
				t.Errorf("seed %d: %d looks after the end, which came after %d", seed, after, left)
			}
		}
	}
	if !testing.Short() && long < 5 {
		t.Errorf("only %d leaves took long enough to be cut short", long)
	}
}
