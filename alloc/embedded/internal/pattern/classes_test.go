// This file tests cells against the servers that they stand for, and the bounds on lists.

package pattern

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// For any set of freed applications the class of a cell is that of what is left on each of its servers, and
// a listed subset of the set leaves the same.
func TestCellsAgainstServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem.New(instancetest.Tiny(draws(t)))
		if p.Budget < 0 {
			t.Skip("no solution")
		}
		s := New(p, MostPatterns)
		var servers float64
		for c := range s.Cells {
			servers += s.Cells[c].Size
		}
		if servers != float64(p.Servers) {
			t.Fatalf("cells of %g servers, want %d", servers, p.Servers)
		}
		free := make([]bool, len(p.Apps))
		for i := range free {
			free[i] = rapid.Bool().Draw(t, "free")
		}
		left := make([]int64, p.Kinds)
		for j := range p.Servers {
			copy(left, p.Capacity[j*p.Kinds:])
			c := &s.Cells[s.CellOf[j]]
			var mask uint32
			for b, i := range p.Residents[j] {
				if s.EntryApp[int(c.Entry)+b] != i {
					t.Fatalf("server %d: entry %d is of %d, want %d", j, b, s.EntryApp[int(c.Entry)+b], i)
				}
				if free[i] {
					mask |= 1 << b
					continue
				}
				for k, q := range p.DemandOf(p.Apps[i].Type) {
					left[k] -= p.Holding[j][b] * q
				}
			}
			want := s.Lists.classOf(left)
			if int64(bits.OnesCount32(mask)) > p.Budget {
				want = NoClass
			}
			if got := s.ClassUnder(c, free); got != want {
				t.Fatalf("server %d without %b: class %d, want %d", j, mask, got, want)
			}
			listed := want == NoClass
			for _, sub := range s.Subsets[c.First:c.Last] {
				listed = listed || sub.Class == want && sub.Mask&^mask == 0
			}
			if !listed {
				t.Fatalf("server %d: no subset of %b with class %d in %v", j, mask, want, s.Subsets[c.First:c.Last])
			}
		}
	})
}

// Entries of an application are those that name it, in the order of the servers.
func TestEntries(t *testing.T) {
	s := New(problem.New(alloctest.Table2(3, 12, 10, true)), MostPatterns)
	seen := 0
	for i := range s.Problem.Apps {
		last := int32(-1)
		for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
			if s.EntryApp[e] != int32(i) || e <= last {
				t.Errorf("application %d: entry %d after %d is of %d", i, e, last, s.EntryApp[e])
			}
			last = e
			seen++
		}
	}
	if seen == 0 || seen != len(s.EntryApp) {
		t.Errorf("%d entries, want %d", seen, len(s.EntryApp))
	}
}

// The best pattern is worth what the best of all that fit is worth, maximal or not.
func TestBestAgainstTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem.New(instancetest.Tiny(draws(t)))
		if len(p.Types) == 0 {
			t.Skip("no types")
		}
		ps := NewLists(p, MostPatterns)
		left, worth := make([]int64, p.Kinds), make([]float64, len(p.Types))
		for k := range left {
			left[k] = rapid.Int64Range(0, 6).Draw(t, "left")
		}
		for at := range worth {
			worth[at] = float64(rapid.IntRange(0, 4).Draw(t, "worth"))
		}
		g := ps.classOf(left)
		q, got := ps.Best(g, worth)
		var most func(at int, sum float64) float64
		most = func(at int, sum float64) float64 {
			if at == len(worth) {
				return sum
			}
			best := most(at+1, sum)
			for k, d := range p.DemandOf(int32(at)) {
				if left[k] < d {
					return best
				}
			}
			for k, d := range p.DemandOf(int32(at)) {
				left[k] -= d
			}
			best = max(best, most(at, sum+worth[at]))
			for k, d := range p.DemandOf(int32(at)) {
				left[k] += d
			}
			return best
		}
		if want := most(0, 0); got != want {
			t.Fatalf("best is worth %g, want %g", got, want)
		}
		var sum float64
		for at, n := range ps.Pattern(g, q) {
			sum += worth[at] * float64(n)
		}
		if sum != got {
			t.Fatalf("pattern %d is worth %g, not %g", q, sum, got)
		}
	})
}

// Lists end at their limit of patterns, and servers with too many residents have none.
func TestListsEnd(t *testing.T) {
	p := problem.New(alloctest.Table2(1, 4, 20, false))
	full := NewLists(p, MostPatterns)
	if Of(full) == nil {
		t.Fatal("too large")
	}
	for _, limit := range []int{1, full.Total - 1} {
		if ps := NewLists(p, limit); Of(ps) != nil || ps.Total > limit+1 {
			t.Errorf("limit %d: %d patterns", limit, ps.Total)
		}
	}
	for residents, want := range map[int]bool{mostResidents: true, mostResidents + 1: false} {
		inst := instancetest.Crowd(1, residents, int64(residents), 1, 0)
		for i := range inst.Apps {
			inst.Apps[i].Cost = 1
			inst.Apps[i].Running = true
			inst.Apps[i].Previous = []apportion.Placement{{Server: 0, Count: 1}}
		}
		if got := New(problem.New(instancetest.Finish(inst)), MostPatterns) != nil; got != want {
			t.Errorf("%d residents: lists %v, want %v", residents, got, want)
		}
	}
}
