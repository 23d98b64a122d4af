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
	"github.com/apportion/apportion/internal/rapidtest"
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
		for _, start := range []func(){k.floor, k.fillPriced} {
			start()
			k.check(t)
			k.penalty, k.weight = 2, 1
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
		for _, penalty := range []float64{0, 2} {
			k.clear()
			k.penalty, k.weight = penalty, 3
			q, gain := k.better(0)
			if q < 0 {
				continue
			}
			before := k.total()
			k.move(0, q, 1)
			if got := k.total() - before; math.Abs(got-gain) > 1e-9 {
				t.Errorf("seed %d, penalty %v: gains %g, not %g", seed, penalty, got, gain)
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
	for i := range p.Apps {
		if !inc.Free[i] && p.Apps[i].Pinnable {
			value += p.Inst.Apps[i].Stay
		}
	}
	if math.Abs(value-inc.Objective) > 1e-9 {
		t.Fatalf("worth %g, said %g", value, inc.Objective)
	}
}

// A drop takes a container of the type that saves most of the excess for its value, never below the minimum,
// and there is none where no drop saves loss.
func TestDrop(t *testing.T) {
	dropped := 0
	eachLeaf(t, 200, func(seed uint64, l *Leaves, _ float64) {
		k, r := l.K, l.R
		for _, typ := range r.Types {
			k.count[typ] = r.Hi[typ]
		}
		for {
			k.measure()
			if k.loss <= r.Budget {
				break
			}
			before, most := slices.Clone(k.count), 0.0
			for _, typ := range r.Types {
				saves := r.Pools[typ].At(l.S.Problem.Types[typ].Delta, before[typ]) - r.Pools[typ].At(l.S.Problem.Types[typ].Delta, before[typ]-1)
				if before[typ] > r.Lo[typ] {
					most = math.Max(most, math.Min(saves, k.loss-r.Budget)/l.S.Problem.Types[typ].Value)
				}
			}
			loss, value := k.loss, k.value
			if !k.drop() {
				t.Fatalf("seed %d: nothing is dropped, %g could be saved for its value", seed, most)
			}
			k.measure()
			dropped++
			for _, typ := range r.Types {
				if k.count[typ] < r.Lo[typ] {
					t.Fatalf("seed %d: %d of type %d, %d is the least", seed, k.count[typ], typ, r.Lo[typ])
				}
			}
			if got := math.Min(loss-k.loss, loss-r.Budget) / (value - k.value); math.Abs(got-most) > 1e-9 {
				t.Fatalf("seed %d: saves %g for its value, %g was there", seed, got, most)
			}
		}
		copy(r.Lo, r.Hi)
		copy(k.count, r.Lo)
		r.Budget = -1
		if k.measure(); k.drop() || !slices.Equal(k.count, r.Lo) {
			t.Errorf("seed %d: %v is left of the minima %v", seed, k.count, r.Lo)
		}
	})
	if dropped == 0 {
		t.Error("nothing was dropped")
	}
}

// A packing is short exactly where the supply of a type is below its minimum, and none such is a solution.
func TestShort(t *testing.T) {
	met := 0
	eachLeaf(t, 200, func(seed uint64, l *Leaves, _ float64) {
		k := l.K
		for _, supply := range []func(typ int32) int64{
			func(typ int32) int64 { return l.R.Lo[typ] }, func(typ int32) int64 { return l.R.Hi[typ] },
		} {
			for _, typ := range l.R.Types {
				k.supply[typ] = supply(typ)
			}
			if k.short() {
				t.Errorf("seed %d: short with %v, the minima are %v", seed, k.supply, l.R.Lo)
			}
			for _, typ := range l.R.Types {
				if l.R.Lo[typ] == 0 {
					continue
				}
				met++
				k.supply[typ] = l.R.Lo[typ] - 1
				if !k.short() {
					t.Errorf("seed %d: not short with %v, the minima are %v", seed, k.supply, l.R.Lo)
				}
				if k.Found = false; k.settle() || k.Found {
					t.Errorf("seed %d: a solution with %v, the minima are %v", seed, k.supply, l.R.Lo)
				}
				k.supply[typ] = supply(typ)
			}
		}
	})
	if met == 0 {
		t.Error("no minimum was above 0")
	}
}

// Unpacked, a packing has on all servers together what it counted, and every pattern on as many servers as it
// said.
func TestUnpackUsesEveryGroup(t *testing.T) {
	several := 0
	eachLeaf(t, 200, func(seed uint64, l *Leaves, _ float64) {
		if l.K.pack(math.Inf(1)); !l.K.Found {
			return
		}
		l.Best.keep(&l.K, 0)
		if len(l.Best.groups) > 1 {
			several++
		}
		got := make([]int64, len(l.K.bestCount))
		for _, slots := range Unpack(l.S, &l.Best).On {
			for _, slot := range slots {
				got[slot.Type] += slot.Count
			}
		}
		if !slices.Equal(got, l.K.bestCount) {
			t.Errorf("seed %d: %v on the servers, %v were packed", seed, got, l.K.bestCount)
		}
	})
	if several == 0 {
		t.Error("no packing had two patterns")
	}
}

// What the kept applications are worth enters the cut of an instance of its own, and its bound.
func TestRestsCountTheKept(t *testing.T) {
	compared := 0
	rapidtest.Until(t, "nobody was kept", func() bool { return compared > 0 }, func(t *rapid.T) {
		_, s := cellstest.Draw(t, draws(t))
		p := s.Problem
		free := func(i int32) bool { return !p.Apps[i].Pinnable }
		l, r := NewLeaves(s), NewRests(p)
		l.States, r.States = 1<<16, 1<<16
		if l.Settle(t.Context(), free); !l.Found {
			return
		}
		if bound := r.Judge(free).bound; bound < l.Value-solver.ObjectiveTolerance {
			t.Fatalf("bound %g, the set is worth %g", bound, l.Value)
		}
		// Just below the best it is found again, and at the best nothing is left.
		for _, short := range []float64{1e-6, 0} {
			r = NewRests(p)
			r.States, r.step, r.Found, r.Value = 1<<16, 0, true, l.Value-short
			bound := r.Settle(t.Context(), free)
			if r.Best.Found != (short > 0) || math.Max(r.Value, bound) < l.Value-solver.ObjectiveTolerance || bound > l.Value+solver.ObjectiveTolerance {
				t.Fatalf("%g short of %g: found %v with %g, bound %g", short, l.Value, r.Best.Found, r.Value, bound)
			}
		}
		if p.Pinnable > 0 {
			compared++
		}
	})
}
