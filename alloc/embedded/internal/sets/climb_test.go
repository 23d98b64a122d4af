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

// newClimb returns a search of a cluster where 20 of 200 may be adjusted, at what a descent from the root comes to.
func newClimb(t *testing.T, seed uint64) *Search {
	s := pattern.New(problem.New(alloctest.Table2(seed, 200, 200, true)), pattern.MostPatterns)
	ev := lagrange.NewDecomposition(s)
	ev.Decide(make([]problem.Choice, len(s.Problem.Apps)))
	d := lagrange.NewCopyDescent(ev)
	d.Start()
	d.Run(t.Context(), 60, lagrange.BlindTarget*d.Bound, 0)
	return New(leaf.NewLeaves(s), d.Best, seed, tuning.Standard())
}

// boundAt computes U of the set afresh at prices u, less what is the same for all sets; -Inf where a server cannot hold
// who stays.
func (q *Search) boundAt(u *prices) float64 {
	root := q.root
	q.root = *u
	defer func() { q.root = root }()
	return q.bound()
}

// A change is the difference of two values of U, of joining and of leaving, at either prices, and what is known of a
// member is never of an earlier set.
func TestChangeIsADifference(t *testing.T) {
	compared := 0
	rapidtest.Until(t, "nothing was compared", func() bool { return compared > 0 }, func(t *rapid.T) {
		q := newSearch(rapid.Uint64Range(0, 50).Draw(t, "seed"), nil)
		types := len(q.leaves.S.Problem.Types)
		for _, u := range []*prices{&q.root, &q.local} {
			worth := make([]float64, types)
			for c := range worth {
				worth[c] = rapid.Float64Range(0, 1).Draw(t, "worth")
			}
			u.set(q.leaves.S, worth, rapid.Float64Range(0, 1).Draw(t, "lambda"))
		}
		for range rapid.IntRange(1, 12).Draw(t, "toggles") {
			i := int32(rapid.IntRange(0, len(q.free)-1).Draw(t, "application"))
			if !q.leaves.S.Problem.Apps[i].Pinnable {
				continue
			}
			for _, u := range []*prices{&q.root, &q.local} {
				before, change := q.boundAt(u), q.change(u, i)
				q.toggle(i)
				after := q.boundAt(u)
				q.toggle(i)
				if math.IsInf(before, -1) || math.IsInf(after, -1) {
					continue
				}
				if compared++; math.Abs(after-before-change) > 1e-9 {
					t.Fatalf("U goes from %g to %g with application %d, said to change by %g", before, after, i, change)
				}
			}
			q.toggle(i)
			for j, in := range q.free {
				if in && q.missedBy(int32(j)) != -q.change(&q.root, int32(j)) {
					t.Fatalf("after %d changed, %d is missed by %g, known as %g", i, j, -q.change(&q.root, int32(j)), q.missedBy(int32(j)))
				}
			}
		}
	})
}

// The one who changes U most is the one that a look at all finds, by the lesser of both prices.
func TestMost(t *testing.T) {
	q := newClimb(t, 1)
	q.priceHere()
	for n := range 20 {
		for _, members := range []bool{true, false} {
			want, most := int32(-1), math.Inf(-1)
			for i := range q.free {
				if q.free[i] != members || !q.leaves.S.Problem.Apps[i].Pinnable {
					continue
				}
				least := math.Inf(1)
				for _, u := range []*prices{&q.root, &q.local} {
					before := q.boundAt(u)
					q.toggle(int32(i))
					least = min(least, q.boundAt(u)-before)
					q.toggle(int32(i))
				}
				if least > most+1e-12 {
					want, most = int32(i), least
				}
			}
			if got, change := q.most(members); want >= 0 && (math.Abs(change-most) > 1e-9 || got < 0 || q.free[got] != members) {
				t.Fatalf("after %d: of members %v %d changes U most, by %g; want %d, by %g", n, members, got, change, want, most)
			}
		}
		in, _ := q.most(false)
		q.toggle(in)
	}
}

// An exchange keeps within the budget, moves one each at most, and gains at both prices together; one that gains nothing
// changes nothing.
func TestExchange(t *testing.T) {
	swapped := 0
	for seed := range uint64(3) {
		q := newClimb(t, seed)
		for range 60 {
			// Prices of the empty set would have nobody leave.
			q.priceHere()
			before, n := slices.Clone(q.free), q.n
			atRoot, atLocal := q.boundAt(&q.root), q.boundAt(&q.local)
			if !q.exchange() {
				if !slices.Equal(before, q.free) || q.n != n {
					t.Fatalf("seed %d: an exchange that is not made changes the set", seed)
				}
				break
			}
			joined, left := 0, 0
			for i, in := range q.free {
				switch {
				case in && !before[i]:
					joined++
				case !in && before[i]:
					left++
				}
			}
			swapped += left
			full := n == q.leaves.S.Problem.Budget
			if joined != 1 || left != 0 && !full || left != 1 && full || q.n > q.leaves.S.Problem.Budget {
				t.Fatalf("seed %d: %d joined and %d left, of %d; %d may be adjusted", seed, joined, left, n, q.leaves.S.Problem.Budget)
			}
			if q.boundAt(&q.root) < atRoot+leastRise/2 || q.boundAt(&q.local) < atLocal+leastRise/2 {
				t.Fatalf("seed %d: U goes from %g to %g at the root, from %g to %g here", seed, atRoot, q.boundAt(&q.root), atLocal, q.boundAt(&q.local))
			}
		}
	}
	if swapped == 0 {
		t.Error("nobody left for one who joined")
	}
}

// A climb ends at the best set that it met, no worse than where it began, within its tries and its context, and is worth
// more than as many tries of the walk.
func TestClimb(t *testing.T) {
	const tries = 25
	var climbed, walked float64
	for seed := range uint64(4) {
		q := newClimb(t, seed)
		start := q.value()
		judged := q.leaves.Judged
		n := q.climb(t.Context(), tries)
		if n > tries || q.leaves.Judged-judged > n {
			t.Errorf("seed %d: %d sets judged, %d counted, want at most %d", seed, q.leaves.Judged-judged, n, tries)
		}
		if got := q.value(); got < q.leaves.Value-leastRise || got < start {
			t.Errorf("seed %d: a climb from %g ends at %g, the best was %g", seed, start, got, q.leaves.Value)
		}
		climbed += q.value()
		walk := newClimb(t, seed)
		walk.tune = &tuning.Sets{Slack: 0.003, SlackUnits: 0.3}
		walk.Run(t.Context(), tries)
		walked += walk.leaves.Value
	}
	if climbed <= walked {
		t.Errorf("climbs end at %g in all, walks of as many sets at %g", climbed, walked)
	}
	for most := range int64(4) {
		q := newClimb(t, 1)
		if n := q.climb(t.Context(), most); n != most {
			t.Errorf("%d sets judged, want %d", n, most)
		}
		// A context that ends after one look ends before the first exchange.
		q = newClimb(t, 1)
		if n := q.climb(instancetest.NewFuse(int(min(most, 1))), tries); n > 0 {
			t.Errorf("%d sets judged after the context ended", n)
		}
	}
}

// Where a stride would be a single exchange there is no climb.
func TestStride(t *testing.T) {
	q := newClimb(t, 1)
	for _, c := range []struct{ budget, part, want int64 }{{20, 8, 2}, {16, 8, 2}, {15, 8, 0}, {500, 8, 62}, {20, 0, 0}, {0, 8, 0}} {
		q.leaves.S.Problem.Budget, q.tune = c.budget, &tuning.Sets{Stride: c.part}
		if got := q.stride(); got != c.want {
			t.Errorf("a budget of %d in %d parts: stride %d, want %d", c.budget, c.part, got, c.want)
		}
	}
	q.leaves.S.Problem.Budget = 15
	if judged := q.leaves.Judged; q.climb(t.Context(), 10) != 0 || q.leaves.Judged != judged {
		t.Error("a climb without a stride judges sets")
	}
}
