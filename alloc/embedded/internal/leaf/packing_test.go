// This file tests packings by their invariants, and what they are turned into.

package leaf

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/cellstest"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// check tests the invariants: groups hold the servers of their class, and supply what their patterns do.
func (k *packing) check(t *testing.T) {
	t.Helper()
	sizes, supply := make([]float64, len(k.r.Class)), make([]int64, len(k.supply))
	for _, g := range k.groups {
		if g.size < 0 {
			t.Fatalf("a group of %d servers", g.size)
		}
		sizes[g.class] += float64(g.size)
		if g.pattern >= 0 {
			for at, c := range k.r.S.Lists.Pattern(k.r.Class[g.class], int(g.pattern)) {
				supply[at] += g.size * int64(c)
			}
		}
	}
	if !slices.Equal(sizes, k.r.Size) || !slices.Equal(supply, k.supply) {
		t.Fatalf("groups of %v servers supply %v, want %v and %v", sizes, supply, k.r.Size, k.supply)
	}
}

// Every start and every climb keeps the books, never lowers the merit, and ends where no move raises it.
func TestPackingKeepsTheBooks(t *testing.T) {
	eachLeaf(t, 100, func(seed uint64, l *Leaves, _ float64) {
		k := l.K
		for _, start := range []func(){k.floor, func() { k.fillPriced(0) }, func() { k.fillPriced(nudge) }} {
			start()
			k.check(t)
			k.strict, k.lambda, k.weight = false, l.R.Lambda, 1
			before := k.total()
			for range mostSweeps {
				if !k.sweep() {
					break
				}
			}
			k.check(t)
			if after := k.total(); after < before-1e-9 {
				t.Errorf("seed %d: merit from %g down to %g", seed, before, after)
			}
			for at := range k.groups {
				if _, gain := k.better(at); k.groups[at].size > 0 && gain > leastRise {
					t.Errorf("seed %d: a sweep is left that gains %g", seed, gain)
				}
			}
		}
	})
}

// total returns the merit of the packing, computed afresh.
func (k *packing) total() float64 {
	var worth, loss float64
	for _, t := range k.r.Types {
		w, l := k.worthOf(t, k.supply[t])
		worth, loss = worth+w, loss+l
	}
	return k.merit(worth, loss)
}

// What better promises for a move is the difference of the merits before and after.
func TestBetterAgainstMerit(t *testing.T) {
	moved := 0
	eachLeaf(t, 100, func(seed uint64, l *Leaves, _ float64) {
		k := l.K
		for _, strict := range []bool{false, true} {
			k.clear()
			k.strict, k.lambda, k.penalty, k.weight = strict, 0.3, 2, 3
			q, gain := k.better(0)
			if q < 0 {
				continue
			}
			before := k.total()
			k.move(0, q, 1)
			if got := k.total() - before; math.Abs(got-gain) > 1e-9 {
				t.Errorf("seed %d, strict %v: gains %g, not %g", seed, strict, got, gain)
			}
			moved++
		}
	})
	if moved == 0 {
		t.Error("nothing was better")
	}
}

// A settled packing keeps its counts within supply and bounds and its loss within the budget.
func TestSettledPackings(t *testing.T) {
	settled := 0
	eachLeaf(t, 100, func(seed uint64, l *Leaves, optimum float64) {
		k := l.K
		if k.pack(math.Inf(1)); !k.Found {
			return
		}
		settled++
		value, loss := l.R.Fixed, 0.0
		for _, typ := range l.R.Types {
			n := k.bestCount[typ]
			if n < l.R.Lo[typ] || n > l.R.Hi[typ] {
				t.Errorf("seed %d: %d of type %d, the bounds are %d and %d", seed, n, typ, l.R.Lo[typ], l.R.Hi[typ])
			}
			value += l.S.Problem.Types[typ].Value * float64(n)
			loss += l.R.Pools[typ].At(l.S.Problem.Types[typ].Delta, n)
		}
		if math.Abs(value-k.BestValue) > 1e-9 || math.Abs(loss-k.bestLoss) > 1e-9 || loss > l.R.Budget || value > optimum+solver.ObjectiveTolerance {
			t.Errorf("seed %d: worth %g with loss %g, said %g and %g; budget %g, optimum %g", seed, value, loss, k.BestValue, k.bestLoss, l.R.Budget, optimum)
		}
	})
	if settled == 0 {
		t.Error("nothing was packed")
	}
}

// Judging a set by lists of all sets or of its own gives bounds and solutions that do not contradict, and
// unpacked solutions fit their servers.
func TestRestsAgainstLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s := cellstest.Draw(t, draws(t))
		p := s.Problem
		set := make([]bool, len(p.Apps))
		freed := 0
		for i := range set {
			set[i] = rapid.Bool().Draw(t, "free")
			if set[i] && p.Apps[i].Pinnable {
				freed++
			}
		}
		if int64(freed) > p.Budget {
			t.Skip("more than the budget")
		}
		free := func(i int32) bool { return set[i] }
		l, r := NewLeaves(s), NewRests(p)
		l.States, r.States = 1<<16, 1<<16
		l.Settle(t.Context(), free)
		r.Settle(t.Context(), free)
		if l.Found != r.Found || l.Found && math.Abs(l.Value-r.Value) > solver.ObjectiveTolerance {
			t.Fatalf("by all lists %v with %g, by its own %v with %g", l.Found, l.Value, r.Found, r.Value)
		}
		if l.Found {
			checkFits(t, s, Unpack(s, &l.Best))
			checkFits(t, s, &r.Best)
		}
	})
}

// checkFits tests that a solution fits beside those that it keeps, and is worth what it says.
func checkFits(t *rapid.T, s *pattern.Cells, inc *problem.Incumbent) {
	p := s.Problem
	var value float64
	left := slices.Clone(p.Capacity)
	take := func(j int, typ int32, n int64) {
		value += p.Types[typ].Value * float64(n)
		for k, q := range p.DemandOf(typ) {
			if left[j*p.Kinds+k] -= n * q; left[j*p.Kinds+k] < 0 {
				t.Fatalf("server %d holds too much of kind %d", j, k)
			}
		}
	}
	for j := range p.Servers {
		for b, i := range p.Residents[j] {
			if !inc.Free[i] {
				take(j, p.Apps[i].Type, p.Holding[j][b])
			}
		}
		for _, slot := range inc.On[j] {
			take(j, slot.Type, slot.Count)
		}
	}
	if math.Abs(value-inc.Objective) > 1e-9 {
		t.Fatalf("worth %g, said %g", value, inc.Objective)
	}
}
