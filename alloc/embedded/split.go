// This file builds the Lagrangean decomposition of P2, [Guignard87]: every server has a copy of its own
// of who of its lodgers is freed, so that what it packs stays whole.

package embedded

import (
	"math/bits"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

const (
	// mostLodgers bounds the lodgers of a server whose sets are listed.
	mostLodgers = 10
	// mostSubsets bounds the sets of all servers together, of 12 bytes each.
	mostSubsets = 2_000_000
)

// split evaluates, for prices p_t on the containers of a type (of any sign), lambda >= 0 on the loss
// and mu_ij >= 0 for each lodger i of server j,
//
//	bound = lambda L + sum_new phi_i + sum_kept keep_i + sum_j a_j + the budget largest positive score_i
//	phi_i   = max over n in [min, max] of p_t n - lambda loss_i(n)
//	keep_i  = v n0_i - lambda loss_i(n0_i)
//	a_j     = max over sets S of the lodgers of j of
//	          best pattern of what the others leave, worth v_t - p_t a container, - sum_{i in S} mu_ij
//	score_i = phi_i - keep_i + sum_j mu_ij
//
// The prices relax that containers wanted by free applications are those in patterns, and that a
// server counts on the room of a lodger only if it is freed. A set whose class is the same without
// one of its members is never needed.
type split struct {
	p       *problem
	ps      *patterns
	cells   []cell
	subsets []subset
	// entries lists the pairs (lodger, server) that have a multiplier: entry e is about the
	// application entryApp[e]; those of application i are entriesOf[firstEntry[i]:firstEntry[i+1]].
	entryApp   []int32
	entriesOf  []int32
	firstEntry []int32
	cellOf     []int32
	// classOfMask[table+mask] is the class that a cell is left in without the lodgers of mask, or
	// noClass where the others do not fit or more are freed than the budget allows.
	classOfMask []int32
}

// cell is a server with lodgers, or all servers without that are of one class.
type cell struct {
	size        float64
	first, last int32 // its subsets
	entry       int32 // of its lodger 0; those of the others follow
	lodgers     int32
	table       int32 // of its classes by mask in classOfMask
}

// subset is a set of the lodgers of a server, as a mask, and the class that freeing them leaves.
type subset struct {
	mask  uint32
	class int32
}

// newSplit returns nil where the instance is too large for lists of limit patterns, or of sets.
func newSplit(p *problem, limit int) *split { return splitBy(newPatterns(p, limit)) }

func splitBy(ps *patterns) *split {
	p := ps.p
	s := &split{p: p, ps: ps, cellOf: make([]int32, p.servers)}
	merged := make(map[int32]int32)
	for j := range p.servers {
		if len(p.lodgers[j]) > mostLodgers {
			return nil
		}
		c := cell{size: 1, first: int32(len(s.subsets)), entry: int32(len(s.entryApp)),
			lodgers: int32(len(p.lodgers[j])), table: int32(len(s.classOfMask))}
		s.listSubsets(j)
		if s.ps.failed || len(s.classOfMask) > mostSubsets {
			return nil
		}
		c.last = int32(len(s.subsets))
		s.entryApp = append(s.entryApp, p.lodgers[j]...)
		if c.lodgers == 0 {
			at, known := merged[s.subsets[c.first].class]
			if known {
				s.subsets, s.classOfMask = s.subsets[:c.first], s.classOfMask[:c.table]
				s.cells[at].size++
				s.cellOf[j] = at
				continue
			}
			merged[s.subsets[c.first].class] = int32(len(s.cells))
		}
		s.cellOf[j] = int32(len(s.cells))
		s.cells = append(s.cells, c)
	}
	if s.rows() > mostRows {
		return nil
	}
	s.linkEntries()
	return s
}

// rows bounds the rows of a residual program: two for each type, one for each class that a cell may be of
// at a time, and one for the loss.
func (s *split) rows() int { return 2*len(s.p.types) + 1 + min(len(s.cells), len(s.ps.classes)) }

// listSubsets appends the sets of lodgers of server j that may be needed, the empty one first.
func (s *split) listSubsets(j int) {
	p := s.p
	lodgers := p.lodgers[j]
	all := make([]int32, 1<<len(lodgers)) // mask -> class
	left := make([]int64, p.kinds)
	for mask := range all {
		if int64(bits.OnesCount(uint(mask))) > p.budget {
			all[mask] = noClass
			continue
		}
		p.residual(left, j, func(s int, _ int32) bool { return mask>>s&1 == 0 })
		all[mask] = s.ps.classOf(left)
		if s.ps.failed {
			return
		}
		needed := all[mask] != noClass
		for b := range lodgers {
			needed = needed && (mask>>b&1 == 0 || all[mask&^(1<<b)] != all[mask])
		}
		if needed {
			s.subsets = append(s.subsets, subset{uint32(mask), all[mask]})
		}
	}
	s.classOfMask = append(s.classOfMask, all...)
}

// residual sets left to what server j has left beside those lodgers that stay.
func (p *problem) residual(left []int64, j int, stays func(s int, i int32) bool) {
	copy(left, p.capacity[j*p.kinds:(j+1)*p.kinds])
	for s, i := range p.lodgers[j] {
		if stays(s, i) {
			n := p.holding[j][s]
			for k, q := range p.demandOf(p.apps[i].typ) {
				left[k] -= n * q
			}
		}
	}
}

// linkEntries lists the entries of every application.
func (s *split) linkEntries() {
	s.firstEntry = make([]int32, len(s.p.apps)+1)
	for _, i := range s.entryApp {
		s.firstEntry[i+1]++
	}
	for i := range s.p.apps {
		s.firstEntry[i+1] += s.firstEntry[i]
	}
	s.entriesOf = make([]int32, len(s.entryApp))
	next := slices.Clone(s.firstEntry)
	for e, i := range s.entryApp {
		s.entriesOf[next[i]] = int32(e)
		next[i]++
	}
}

// The multipliers are one vector: types prices, then lambda, then mu by entry, then one by
// kind, of any sign, for the limits.
func splitDim(s *split) int { return limitsAt(s) + s.p.kinds }

func limitsAt(s *split) int { return len(s.p.types) + 1 + len(s.entryApp) }

// classUnder returns the class of a cell when exactly the lodgers marked in free are gone.
func (s *split) classUnder(c *cell, free []bool) int32 {
	mask := int32(0)
	for b := range c.lodgers {
		if free[s.entryApp[c.entry+b]] {
			mask |= 1 << b
		}
	}
	return s.classOfMask[c.table+mask]
}

// copyPrices spells x out for solver.CopyBound.
func copyPrices(s *split, x []float64) *solver.CopyPrices {
	p, types := s.p, len(s.p.types)
	m := &solver.CopyPrices{Container: make([]float64, len(p.apps)), Loss: x[types], Room: make([][]float64, len(p.apps))}
	for i := range p.apps {
		m.Container[i] = x[p.apps[i].typ]
		// Entries come in the order of the servers, as those of Previous.
		for _, e := range s.entriesOf[s.firstEntry[i]:s.firstEntry[i+1]] {
			m.Room[i] = append(m.Room[i], x[types+1+int(e)])
		}
	}
	return m
}
