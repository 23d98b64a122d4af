// This file lists, for every server, which sets of its residents may be freed and what class each leaves.

package pattern

import (
	"math/bits"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// mostRows bounds the rows of a residual program: its inverse takes 8 bytes times their square, and a pivot
// as many multiplications.
const mostRows = 600

const (
	// mostResidents bounds the residents of a server whose sets are listed.
	mostResidents = 10
	// mostSubsets bounds the sets of all servers together, of 12 bytes each.
	mostSubsets = 2_000_000
)

// Cells evaluates, for prices p_t on the containers of a type (of any sign), lambda >= 0 on the loss
// and mu_ij >= 0 for each resident i of server j,
//
//	bound = lambda L + sum_new phi_i + sum_kept keep_i + sum_j a_j + the budget largest positive score_i
//	phi_i   = max over n in [min, max] of p_t n - lambda loss_i(n)
//	keep_i  = v n0_i - lambda loss_i(n0_i)
//	a_j     = max over sets S of the residents of j of
//	          best pattern of what the others leave, worth v_t - p_t a container, - sum_{i in S} mu_ij
//	score_i = phi_i - keep_i + sum_j mu_ij
//
// The prices relax that containers wanted by free applications are those in patterns, and that a
// server counts on the room of a resident only if it is freed. A set whose class is the same without
// one of its members is never needed.
//
// The bound is exact in sets and patterns, and linear only in the prices; package lagrange lowers it.
type Cells struct {
	Problem *problem.Problem
	Lists   *Lists
	Cells   []Cell
	Subsets []Subset
	// entries lists the pairs (resident, server) that have a multiplier: entry e is about the
	// application EntryApp[e]; those of application i are EntriesOf[FirstEntry[i]:FirstEntry[i+1]].
	EntryApp   []int32
	EntriesOf  []int32
	FirstEntry []int32
	// CellOf is the cell of each server.
	CellOf []int32
	// ClassOfMask[table+mask] is the class that a cell is left in without the residents of mask, or
	// NoClass where the others do not fit or more are freed than the budget allows.
	ClassOfMask []int32
}

// Cell is a server with residents, or all servers without that are of one class.
// Its subsets are Subsets[First:Last], ascending by mask, the empty one first where it
// is allowed.
type Cell struct {
	Size        float64
	First, Last int32 // its subsets
	Entry       int32 // of its resident 0; those of the others follow
	Residents   int32
	Table       int32 // of its classes by mask in ClassOfMask
}

// Subset is a set of the residents of a server, as a mask, and the class that freeing them leaves.
type Subset struct {
	Mask  uint32
	Class int32
}

// New returns nil where the instance is too large for lists of limit patterns, or of sets.
func New(p *problem.Problem, limit int) *Cells { return Of(NewLists(p, limit)) }

// Of lists the cells of the problem of ps by its lists; nil where that is too much.
//
// Servers without residents merge by class; each of the others is a cell of its own. Invariant: Subsets and ClassOfMask
// end with what the last cell that stays has.
func Of(ps *Lists) *Cells {
	p := ps.p
	s := &Cells{Problem: p, Lists: ps, CellOf: make([]int32, p.Servers)}
	merged, left := make(map[int32]int32), make([]int64, p.Kinds)
	for j := range p.Servers {
		// 2^residents sets are listed for a server: the test comes before anything is allocated for them.
		if len(p.Residents[j]) > mostResidents {
			return nil
		}
		c := Cell{Size: 1, First: int32(len(s.Subsets)), Entry: int32(len(s.EntryApp)),
			Residents: int32(len(p.Residents[j])), Table: int32(len(s.ClassOfMask))}
		s.listSubsets(j, left)
		if s.Lists.failed || len(s.ClassOfMask) > mostSubsets {
			return nil
		}
		c.Last = int32(len(s.Subsets))
		s.EntryApp = append(s.EntryApp, p.Residents[j]...)
		if c.Residents == 0 {
			// What was listed for an equal cell is cut off again, so that the lists grow with the cells.
			at, known := merged[s.Subsets[c.First].Class]
			if known {
				s.Subsets, s.ClassOfMask = s.Subsets[:c.First], s.ClassOfMask[:c.Table]
				s.Cells[at].Size++
				s.CellOf[j] = at
				continue
			}
			merged[s.Subsets[c.First].Class] = int32(len(s.Cells))
		}
		s.CellOf[j] = int32(len(s.Cells))
		s.Cells = append(s.Cells, c)
	}
	if s.rows() > mostRows {
		return nil
	}
	s.linkEntries()
	return s
}

// rows bounds the rows of a residual program: two for each type, one for each class that a cell may be of
// at a time, and one for the loss.
func (s *Cells) rows() int {
	return 2*len(s.Problem.Types) + 1 + min(len(s.Cells), len(s.Lists.Classes))
}

// listSubsets appends the sets of residents of server j that may be needed, the empty one first. left is scratch, by kind.
// O(2^residents x (kinds + residents)), besides classes that are new. A set with a member that can be left
// out for the same class is dominated: it is worth as much and pays one multiplier, mu >= 0, more.
func (s *Cells) listSubsets(j int, left []int64) {
	p := s.Problem
	residents := p.Residents[j]
	// All masks are kept, not only the needed ones: any set may be asked for.
	table := len(s.ClassOfMask)
	s.ClassOfMask = slices.Grow(s.ClassOfMask, 1<<len(residents))[:table+1<<len(residents)]
	all := s.ClassOfMask[table:] // mask -> class
	for mask := range all {
		// More than the budget can never be freed on one server alone.
		if int64(bits.OnesCount(uint(mask))) > p.Budget {
			all[mask] = NoClass
			continue
		}
		// Bit s of mask is resident s: those without their bit stay.
		p.ResidualOf(left, j, func(s int, _ int32) bool { return mask>>s&1 == 0 })
		all[mask] = s.Lists.classOf(left)
		if s.Lists.failed {
			return
		}
		// NoClass: those that stay do not fit together, so that a larger set is needed.
		needed := all[mask] != NoClass
		for b := range residents {
			needed = needed && (mask>>b&1 == 0 || all[mask&^(1<<b)] != all[mask])
		}
		if needed {
			s.Subsets = append(s.Subsets, Subset{uint32(mask), all[mask]})
		}
	}
}

// linkEntries lists the entries of every application.
// This is a counting sort by application, O(entries + applications), which keeps the
// order of the servers.
func (s *Cells) linkEntries() {
	s.FirstEntry = make([]int32, len(s.Problem.Apps)+1)
	for _, i := range s.EntryApp {
		s.FirstEntry[i+1]++
	}
	// Prefix sums: the entries of application i start where those before it end.
	for i := range s.Problem.Apps {
		s.FirstEntry[i+1] += s.FirstEntry[i]
	}
	s.EntriesOf = make([]int32, len(s.EntryApp))
	next := slices.Clone(s.FirstEntry)
	for e, i := range s.EntryApp {
		s.EntriesOf[next[i]] = int32(e)
		next[i]++
	}
}

// ClassUnder returns the class of a cell when exactly the residents marked in free are gone.
// It is NoClass where the others do not fit. O(residents).
func (s *Cells) ClassUnder(c *Cell, free []bool) int32 {
	mask := int32(0)
	for b := range c.Residents {
		// The mask has the order of Residents, the same in which listSubsets numbered them.
		if free[s.EntryApp[c.Entry+b]] {
			mask |= 1 << b
		}
	}
	return s.ClassOfMask[c.Table+mask]
}
