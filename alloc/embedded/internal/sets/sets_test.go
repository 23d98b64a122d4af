package sets

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/internal/rapidtest"
)

// newSearch returns a search of a small cluster at the given multipliers, or at none.
func newSearch(seed uint64, x []float64) *Search {
	s := pattern.New(problem.New(alloctest.Table2(seed, 8, 12, true)), pattern.MostPatterns)
	if x == nil {
		x = make([]float64, lagrange.Dim(s))
	}
	return New(leaf.NewLeaves(s), x, seed, tuning.Standard())
}

// bound computes U of a set afresh, less what is the same for all of them; -Inf where a server cannot hold who
// stays.
func (q *Search) bound() float64 {
	s, sum := q.leaves.S, 0.0
	for i, in := range q.free {
		if in {
			sum += q.root.gain[i]
		}
	}
	for c := range s.Cells {
		class := s.ClassUnder(&s.Cells[c], q.free)
		if class == pattern.NoClass {
			return math.Inf(-1)
		}
		sum += s.Cells[c].Size * q.root.best[class]
	}
	return sum
}

// By how much a member is missed is the difference of two values of U.
func TestMissedIsADifference(t *testing.T) {
	compared := 0
	rapidtest.Until(t, "nothing was compared", func() bool { return compared > 0 }, func(t *rapid.T) {
		seed := rapid.Uint64Range(0, 50).Draw(t, "seed")
		x := make([]float64, len(newSearch(seed, nil).leaves.S.EntryApp)+100)
		for c := range x[:20] {
			x[c] = rapid.Float64Range(0, 1).Draw(t, "multiplier")
		}
		q := newSearch(seed, x)
		set := make([]bool, len(q.free))
		for n := int64(0); n < q.leaves.S.Problem.Budget; n++ {
			set[rapid.IntRange(0, len(set)-1).Draw(t, "application")] = true
		}
		q.load(set)
		for i, in := range q.free {
			if !in {
				continue
			}
			missed, with := q.missedBy(int32(i)), q.bound()
			q.toggle(int32(i))
			without := q.bound()
			q.toggle(int32(i))
			if math.IsInf(with, -1) {
				continue
			}
			if compared++; math.IsInf(missed, 1) != math.IsInf(without, -1) || !math.IsInf(missed, 1) && math.Abs(with-missed-without) > 1e-9 {
				t.Fatalf("U goes from %g to %g without application %d, who is missed by %g", with, without, i, missed)
			}
		}
	})
}

// U bounds what any set within the budget is worth, whatever the multipliers.
func TestPricesBoundSets(t *testing.T) {
	for seed := range uint64(5) {
		q := newSearch(seed, nil)
		p := q.leaves.S.Problem
		x := make([]float64, lagrange.Dim(q.leaves.S))
		for c := range p.Types {
			x[c] = float64((seed+uint64(c))%5) / 4 * p.Types[c].Value
		}
		x[len(p.Types)] = 0.1 * float64(seed)
		q.price(x)
		same := x[len(p.Types)] * p.Inst.LossBudget
		for i := range p.Apps {
			typ := p.Apps[i].Type
			if p.Apps[i].Pinnable {
				same += p.KeepWorth(int32(i), x[len(p.Types)])
			} else {
				_, phi := p.Wanted(int32(i), min(x[typ], p.Types[typ].Value), x[len(p.Types)])
				same += phi
			}
		}
		checkPrices(t, q, x)
		for range 20 {
			q.perturb()
			if value, bound := q.value(), same+q.bound(); value > bound+1e-9 {
				t.Errorf("seed %d: a set is worth %g, U is %g", seed, value, bound)
			}
		}
	}
}

// checkPrices compares the prices of q with their definitions, by trying every count and every pattern.
func checkPrices(t *testing.T, q *Search, x []float64) {
	t.Helper()
	s, p, lambda := q.leaves.S, q.leaves.S.Problem, x[len(q.leaves.S.Problem.Types)]
	for i := range p.Apps {
		a, phi := &p.Apps[i], math.Inf(-1)
		for n := a.Min; n <= a.Max; n++ {
			phi = max(phi, x[a.Type]*float64(n)-lambda*p.Loss(int32(i), n))
		}
		if want := phi - p.KeepWorth(int32(i), lambda); a.Pinnable && math.Abs(q.root.gain[i]-want) > 1e-9 {
			t.Errorf("application %d gains %g, want %g", i, q.root.gain[i], want)
		}
	}
	for g := range s.Lists.Classes {
		want := math.Inf(-1)
		for at := range s.Lists.Classes[g].Size {
			var sum float64
			for c, n := range s.Lists.Pattern(int32(g), at) {
				sum += (p.Types[c].Value - x[c]) * float64(n)
			}
			want = max(want, sum)
		}
		if math.Abs(q.root.best[g]-want) > 1e-9 {
			t.Errorf("the best pattern of class %d is worth %g, want %g", g, q.root.best[g], want)
		}
	}
}

// A perturbation keeps the books and the budget, and those that it has freed, as far as the budget goes.
func TestPerturb(t *testing.T) {
	for seed := range uint64(20) {
		q := newSearch(seed, nil)
		p := q.leaves.S.Problem
		moved := false
		for range 30 {
			before := slices.Clone(q.free)
			q.perturb()
			var n int64
			for i, in := range q.free {
				if in {
					n++
				}
				if in && !p.Apps[i].Pinnable {
					t.Fatalf("seed %d: application %d cannot stay anyway", seed, i)
				}
			}
			if n != q.n || n > p.Budget {
				t.Fatalf("seed %d: %d are free, counted %d, the budget is %d", seed, n, q.n, p.Budget)
			}
			moved = moved || !slices.Equal(before, q.free)
		}
		if !moved && p.Budget > 0 {
			t.Errorf("seed %d: 30 perturbations move nothing", seed)
		}
	}
}

// Who was just freed is kept last, be it missed least; among the others the one who is missed least.
func TestKeepOne(t *testing.T) {
	q := newSearch(3, nil)
	var members []int32
	for i := range q.free {
		if len(members) == 3 || !q.leaves.S.Problem.Apps[i].Pinnable {
			continue
		}
		// Where more are free than the budget allows on one server no class is listed.
		if q.toggle(int32(i)); math.IsInf(q.missedBy(int32(i)), 1) {
			q.toggle(int32(i))
			continue
		}
		members = append(members, int32(i))
	}
	// Prices of 0 make all classes alike: the gains alone tell who is missed.
	clear(q.root.best)
	q.root.gain[members[0]], q.root.gain[members[1]], q.root.gain[members[2]] = 1, 3, 2
	for i := range q.stale {
		q.stale[i] = true
	}
	spared := map[int32]bool{members[0]: true}
	for _, want := range []int32{members[2], members[1], members[0]} {
		before := slices.Clone(q.free)
		q.keepOne(spared)
		if before[want] == q.free[want] {
			t.Fatalf("application %d is not kept, of %v", want, members)
		}
	}
	if q.n != 0 {
		t.Errorf("%d are counted, none is left", q.n)
	}
}

// Those who may not stay are never loaded; nil is the empty set.
func TestLoad(t *testing.T) {
	q := newSearch(1, nil)
	all := slices.Repeat([]bool{true}, len(q.free))
	if q.load(all); q.n != q.leaves.S.Problem.Pinnable {
		t.Errorf("%d of all are loaded, %d may stay", q.n, q.leaves.S.Problem.Pinnable)
	}
	if q.load(nil); q.n != 0 || slices.Contains(q.free, true) {
		t.Errorf("%d of none are loaded", q.n)
	}
}

// A walk is no worse than where it starts, says the same twice, judges no more sets than it may, and goes on
// from sets that are a little worse only.
func TestRun(t *testing.T) {
	const tries = 30
	for seed := range uint64(4) {
		var values []float64
		for range 2 {
			q := newSearch(seed, nil)
			start := q.value()
			judged := q.leaves.Judged
			q.Run(t.Context(), tries)
			if q.leaves.Value < start {
				t.Errorf("seed %d: from %g down to %g", seed, start, q.leaves.Value)
			}
			if q.leaves.Judged > judged+tries {
				t.Errorf("seed %d: %d sets judged, want at most %d", seed, q.leaves.Judged-judged, tries)
			}
			values = append(values, q.leaves.Value)
		}
		if values[0] != values[1] {
			t.Errorf("seed %d: %g, then %g", seed, values[0], values[1])
		}
	}
	q := newSearch(1, nil)
	if q.Run(instancetest.NewFuse(5), 100); q.leaves.Judged > 6 {
		t.Errorf("%d sets judged after 5 looks at the context", q.leaves.Judged)
	}
}

// Each set that is walked on from is at most Slack below the last one; without slack it is the best so far.
func TestSlackBoundsTheWalk(t *testing.T) {
	for _, slack := range []float64{0, 0.05} {
		q := newSearch(2, nil)
		q.tune = &tuning.Sets{Tries: 1, Slack: slack, SlackUnits: math.Inf(1)}
		last, down := q.value(), 0
		for range 60 {
			q.Run(t.Context(), 1)
			v := q.value()
			if v < last-slack*math.Abs(last) {
				t.Fatalf("slack %g: from %g to %g", slack, last, v)
			}
			if v < last {
				down++
			}
			last = v
		}
		if (down > 0) != (slack > 0) {
			t.Errorf("slack %g: %d steps down", slack, down)
		}
	}
	q := newSearch(2, nil)
	q.tune = &tuning.Sets{Tries: 1}
	if q.Run(t.Context(), 60); q.value() != q.leaves.Value {
		t.Errorf("the walk ends at %g, the best set is worth %g", q.value(), q.leaves.Value)
	}
}
