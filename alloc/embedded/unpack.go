// This file turns the best packing of a tree into a solution server by server.

package embedded

import "math"

// packed is a packing that was kept: who is free, and how many servers of which class have which
// pattern.
type packed struct {
	free   []bool
	groups []packedGroup
	count  []int64 // by type: containers used
	value  float64
	loss   float64
	freed  int
}

type packedGroup struct {
	class, pattern int32
	size           int64
}

// keep copies the best of k.
func (b *packed) keep(k *packing, freed int) {
	b.free = append(b.free[:0], k.r.free...)
	b.groups = b.groups[:0]
	for _, g := range k.bestGroups {
		if g.size > 0 && g.pattern >= 0 {
			b.groups = append(b.groups, packedGroup{k.r.class[g.class], g.pattern, g.size})
		}
	}
	b.count = append(b.count[:0], k.bestCount...)
	b.value, b.loss, b.freed = k.bestValue, k.totalLoss(), freed
}

// totalLoss returns the loss of the best, with the kept.
func (k *packing) totalLoss() float64 { return k.bestLoss + k.r.keptLoss }

// unpack deals the patterns out to the servers of their class, to each the one that overlaps most
// with what the free applications hold there. A pattern may have room for types of which no
// application is free: that room stays empty.
func unpack(s *split, b *packed) *incumbent {
	p := s.p
	inc := &incumbent{
		found: true, free: append([]bool(nil), b.free...), on: make([][]slot, p.servers),
		objective: b.value, loss: b.loss, freed: int64(b.freed),
	}
	byClass := make(map[int32][]int)
	groups := append([]packedGroup(nil), b.groups...)
	for g := range groups {
		byClass[groups[g].class] = append(byClass[groups[g].class], g)
	}
	left := wantedBy(s, b)
	held := make([]int64, len(p.types))
	for j := range p.servers {
		class := s.classUnder(&s.cells[s.cellOf[j]], b.free)
		clear(held)
		for s, i := range p.lodgers[j] {
			if b.free[i] {
				held[p.apps[i].typ] += p.holding[j][s]
			}
		}
		best, most := -1, int64(math.MinInt64)
		for _, g := range byClass[class] {
			if groups[g].size == 0 {
				continue
			}
			var overlap int64
			for t, c := range s.ps.pattern(class, int(groups[g].pattern)) {
				overlap += min(int64(c), held[t], left[t])
			}
			if overlap > most {
				best, most = g, overlap
			}
		}
		if best < 0 {
			continue
		}
		groups[best].size--
		for t, c := range s.ps.pattern(class, int(groups[best].pattern)) {
			if n := min(int64(c), left[t]); n > 0 {
				inc.on[j] = append(inc.on[j], slot{typ: int32(t), count: n})
				left[t] -= n
			}
		}
	}
	return inc
}

// wantedBy returns how many containers of each type the free applications get.
func wantedBy(s *split, b *packed) []int64 {
	wanted := make([]int64, len(s.p.types))
	for i, free := range b.free {
		if t := s.p.apps[i].typ; free {
			wanted[t] = b.count[t]
		}
	}
	return wanted
}
