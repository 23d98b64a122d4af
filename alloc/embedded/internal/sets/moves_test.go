// This file tests the bookkeeping of the search, and that it keeps to the budget.

package sets

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// newSearch returns a search of a small cluster without prices at the root.
func newSearch(seed uint64) *Search {
	s := pattern.New(problem.New(alloctest.Table2(seed, 8, 12, true)), pattern.MostPatterns)
	return New(leaf.NewLeaves(s), make([]float64, lagrange.Dim(s)), seed, tuning.Standard())
}

// check tests the invariants: members, free and mask say the same.
func (q *Search) check(t interface{ Fatalf(string, ...any) }) {
	members := slices.Sorted(slices.Values(q.members))
	var free []int32
	for i, in := range q.free {
		if in {
			free = append(free, int32(i))
		}
		if in && !q.S.Problem.Apps[i].Pinnable {
			t.Fatalf("application %d cannot be pinned", i)
		}
	}
	if !slices.Equal(members, free) {
		t.Fatalf("members %v, free are %v", members, free)
	}
	for c := range q.S.Cells {
		for b := range q.S.Cells[c].Residents {
			i := q.S.EntryApp[q.S.Cells[c].Entry+b]
			if in := q.mask[c]>>b&1 != 0; in != q.free[i] {
				t.Fatalf("cell %d: bit %d is %v, application %d is %v", c, b, in, i, q.free[i])
			}
		}
	}
}

// Swaps and their reversal, loads and perturbations keep the books, and the budget where it held before.
func TestMovesKeepTheBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newSearch(rapid.Uint64Range(0, 20).Draw(t, "seed"))
		q.Load(make([]bool, len(q.free)))
		for range 20 {
			q.takePrices()
			q.rank()
			if !slices.IsSortedFunc(q.moves, func(a, b swap) int {
				if a.bound > b.bound {
					return -1
				}
				return 0
			}) {
				t.Fatal("moves are not in the order of their bounds")
			}
			before := slices.Clone(q.free)
			if len(q.moves) > 0 {
				m := q.moves[rapid.IntRange(0, len(q.moves)-1).Draw(t, "move")]
				q.apply(m)
				q.check(t)
				if m.in >= 0 && !q.free[m.in] || m.out >= 0 && q.free[m.out] {
					t.Fatalf("%+v has not been made", m)
				}
				if q.revert(m); !slices.Equal(before, q.free) {
					t.Fatalf("%+v has not been undone", m)
				}
				q.apply(m)
			}
			q.perturb()
			q.check(t)
			if int64(len(q.members)) > q.S.Problem.Budget {
				t.Fatalf("%d members, the budget is %d", len(q.members), q.S.Problem.Budget)
			}
		}
		all := make([]bool, len(q.free))
		for i := range all {
			all[i] = true
		}
		q.Load(all)
		q.check(t)
		if int64(len(q.members)) != q.S.Problem.Pinnable {
			t.Fatalf("%d members, %d may be pinned", len(q.members), q.S.Problem.Pinnable)
		}
		q.trim(&q.S.Cells[0], 0)
		if q.check(t); int64(len(q.members)) > q.S.Problem.Budget {
			t.Fatalf("trimmed to %d, the budget is %d", len(q.members), q.S.Problem.Budget)
		}
	})
}

// A search is no worse than where it starts, says the same twice, and judges as often as it may.
func TestRun(t *testing.T) {
	for seed := range uint64(4) {
		var values []float64
		for range 2 {
			q := newSearch(seed)
			q.Load(make([]bool, len(q.free)))
			start := q.worthNow()
			judged := q.Judged
			q.Run(context.Background(), 30)
			if q.Value < start {
				t.Errorf("seed %d: from %g down to %g", seed, start, q.Value)
			}
			// Each perturbation judges where it has led to besides, and pays one try for that.
			if q.Judged > judged+30+1 {
				t.Errorf("seed %d: %d judgements, want at most 31", seed, q.Judged-judged)
			}
			values = append(values, q.Value)
		}
		if values[0] != values[1] {
			t.Errorf("seed %d: %g, then %g", seed, values[0], values[1])
		}
	}
}
