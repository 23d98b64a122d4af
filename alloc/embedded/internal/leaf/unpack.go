// This file turns the best packing of a tree into a solution server by server.

package leaf

import (
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// Packed is a packing that was kept: who is free, and how many servers of which class have which
// pattern.
type Packed struct {
	Free   []bool
	groups []packedGroup
	count  []int64 // by type: containers used
	// Utilization and loss are those of the whole, the kept included; freed counts
	// pinnable applications.
	value float64
	loss  float64
	freed int
}

type packedGroup struct {
	class, pattern int32
	size           int64
}

// keep copies the best of k.
// The groups refer to classes of patterns, not to indices in the residual problem, as
// that goes on to other sets.
func (b *Packed) keep(k *packing, freed int) {
	b.Free = append(b.Free[:0], k.r.Free...)
	b.groups = b.groups[:0]
	// Groups of size 0 and empty patterns say nothing, and Unpack need not look at them.
	for _, g := range k.bestGroups {
		if g.size > 0 && g.pattern >= 0 {
			b.groups = append(b.groups, packedGroup{k.r.Class[g.class], g.pattern, g.size})
		}
	}
	b.count = append(b.count[:0], k.bestCount...)
	b.value, b.loss, b.freed = k.BestValue, k.totalLoss(), freed
}

// totalLoss returns the loss of the best, with the kept.
func (k *packing) totalLoss() float64 { return k.bestLoss + k.r.KeptLoss }

// Unpack deals the patterns out to the servers of their class, to each the one that overlaps most
// with what the free applications hold there. A pattern may have room for types of which no
// application is free: that room stays empty.
//
// Utilization, loss and who is freed are decided already: what depends on which server of a class has which
// pattern is how many containers move. The choice is greedy by overlap, server by server, and so a heuristic for
// that last criterion. O(servers x patterns in use x types).
func Unpack(s *pattern.Cells, b *Packed) *problem.Incumbent {
	p := s.Problem
	inc := &problem.Incumbent{
		Found: true, Free: append([]bool(nil), b.Free...), On: make([][]problem.Slot, p.Servers),
		Objective: b.value, Loss: b.loss, Freed: int64(b.freed),
	}
	byClass := make(map[int32][]int)
	// The sizes are used up below, and b has to stay what it was.
	groups := append([]packedGroup(nil), b.groups...)
	for g := range groups {
		byClass[groups[g].class] = append(byClass[groups[g].class], g)
	}
	// left_t is what may still be placed: what a pattern has beyond it is room that nobody uses.
	left := wantedBy(s, b)
	held := make([]int64, len(p.Types))
	for j := range p.Servers {
		class := s.ClassUnder(&s.Cells[s.CellOf[j]], b.Free)
		// Held counts by type, since within a type containers are anybody's.
		clear(held)
		for s, i := range p.Residents[j] {
			if b.Free[i] {
				held[p.Apps[i].Type] += p.Holding[j][s]
			}
		}
		best, most := -1, int64(math.MinInt64)
		for _, g := range byClass[class] {
			if groups[g].size == 0 {
				continue
			}
			var overlap int64
			for t, c := range s.Lists.Pattern(class, int(groups[g].pattern)) {
				// Overlap is in containers that need not move.
				overlap += min(int64(c), held[t], left[t])
			}
			// Ties go to the group that was there first, not to map order.
			if overlap > most {
				best, most = g, overlap
			}
		}
		// Its class has more servers than patterns: this one stays empty.
		if best < 0 {
			continue
		}
		groups[best].size--
		for t, c := range s.Lists.Pattern(class, int(groups[best].pattern)) {
			// Supply above count is not used: the last servers get less than their pattern.
			if n := min(int64(c), left[t]); n > 0 {
				inc.On[j] = append(inc.On[j], problem.Slot{Type: int32(t), Count: n})
				left[t] -= n
			}
		}
	}
	return inc
}

// wantedBy returns how many containers of each type the free applications get.
func wantedBy(s *pattern.Cells, b *Packed) []int64 {
	wanted := make([]int64, len(s.Problem.Types))
	// Without a free application the count of a type is that of an earlier set, or none.
	for i, free := range b.Free {
		if t := s.Problem.Apps[i].Type; free {
			wanted[t] = b.count[t]
		}
	}
	return wanted
}
