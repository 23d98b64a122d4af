// This file lists the maximal patterns of servers: what whole containers of every type fit together,
// the columns of [Gilmore61].

package pattern

import (
	"math"
	"math/bits"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

const (
	// mostCounts bounds the counts in all lists, of 4 bytes each, twice; mostResiduals the residuals whose
	// class is known, of about 100 bytes.
	mostCounts, mostResiduals = 4_000_000, 200_000
	// NoClass marks a residual that is negative: no pattern, not even the empty one.
	NoClass = int32(-1)
)

// MostPatterns bounds the maximal patterns of all classes together, and the steps that one class
// may take to list; beyond, servers are too large for lists.
const MostPatterns = 20_000

// Lists holds the classes of residual servers: two residual vectors with the same maximal patterns
// are one class. A pattern c says how many containers c_t of each type fit together; it is maximal
// when no further container fits.
// Maximal patterns suffice wherever containers have worth at least 0: any pattern fits into a maximal one,
// which is worth no less. Memory is 8 bytes a count and about 100 a residual, bounded by the constants.
type Lists struct {
	p       *problem.Problem
	Classes []Class
	// residuals has the canonical ones, one row of kinds after the other, which index numbers, and ofResidual their classes; classes are
	// numbered by their lists.
	index, lists problem.Index
	residuals    []int64
	ofResidual   []int32
	// Total counts the patterns of all classes together.
	Total  int
	counts int // in the lists of all classes
	limit  int
	// failed: the lists grew beyond limit.
	failed bool
	most   []int64 // containers of a type in a pattern
	// left, count and list are scratch of the class that is being listed: what is left,
	// the containers so far, and the maximal patterns met.
	left   []int64
	count  []int32
	list   []int32
	visits int
}

// Class is the maximal patterns of one class: count of type t in pattern q at q*types+t.
// Two classes never have the same list.
type Class struct {
	List []int32
	Size int // patterns
}

// NewLists returns lists that may hold limit patterns in all.
func NewLists(p *problem.Problem, limit int) *Lists {
	ps := &Lists{
		p: p, limit: limit,
		most: make([]int64, len(p.Types)), left: make([]int64, p.Kinds), count: make([]int32, len(p.Types)),
	}
	for t := range ps.most {
		ps.most[t] = math.MaxInt64
	}
	return ps
}

// Capped leaves no more containers of a type in a pattern than its applications may have: lists get
// shorter, but [solver.CopyBound] knows nothing of that.
// It must be called before the first class is asked for.
func (ps *Lists) Capped() *Lists {
	clear(ps.most)
	for i := range ps.p.Apps {
		a := &ps.p.Apps[i]
		ps.most[a.Type] = problem.AddSaturated(ps.most[a.Type], a.Max)
	}
	return ps
}

// ClassOf returns the class of a server with left, or NoClass. It must not be used after failed.
// Two levels of equality keep classes few: residuals are lowered to what can be used, and those that still
// differ are compared by their lists. The caller's left is not changed.
func (ps *Lists) classOf(left []int64) int32 {
	for k, q := range left {
		if q < 0 {
			return NoClass
		}
		// left is copied into scratch, which canonical lowers.
		ps.left[k] = q
	}
	ps.canonical()
	kinds := len(ps.left)
	n, known := ps.index.Of(problem.Hash(ps.left), func(n int32) bool { return slices.Equal(ps.residuals[int(n)*kinds:][:kinds], ps.left) })
	if known {
		return ps.ofResidual[n]
	}
	ps.residuals = append(ps.residuals, ps.left...)
	ps.list, ps.visits = ps.list[:0], 0
	ps.extend(0)
	// The limit on residuals bounds the index, whose entries stay for the life of the lists.
	if ps.failed = ps.failed || len(ps.ofResidual) == mostResiduals; ps.failed {
		return NoClass
	}
	// The order of enumeration is fixed, so that equal sets of patterns are equal lists.
	g, known := ps.lists.Of(problem.Hash(ps.list), func(g int32) bool { return slices.Equal(ps.Classes[g].List, ps.list) })
	if !known {
		size := 1 // without types only the empty pattern
		if len(ps.p.Types) > 0 {
			size = len(ps.list) / len(ps.p.Types)
		}
		ps.counts += len(ps.list)
		ps.Classes = append(ps.Classes, Class{List: slices.Clone(ps.list), Size: size})
	}
	// The canonical residual is remembered with its class: many residuals of a large cluster have the same.
	ps.ofResidual = append(ps.ofResidual, g)
	return g
}

// canonical lowers every left[k] to the most that any pattern can use of it: by each other kind c
// alone, left[c] max_t d_tk/d_tc. Residuals that differ only in what cannot be used become equal.
//
//	left_k <- min(left_k, floor(left_c max_t d_tk / d_tc)) for every c
//
// is valid since a pattern that uses left_c of c at most uses sum_t n_t d_tk <= max_t (d_tk / d_tc) sum_t n_t d_tc
// of k. The quotient of each type is rounded down before the largest is taken, which comes to the same. One pass is
// not a fixed point: canonical only has to be valid and the same every time. O(kinds^2 x types).
func (ps *Lists) canonical() {
	p := ps.p
	for k := range ps.left {
		for c := range ps.left {
			if c == k {
				continue
			}
			// most is unsigned: quotients of 64 bits that leave int64 compare as what they are, too large to
			// bound anything.
			var most uint64
			for t := range p.Types {
				d := p.DemandOf(int32(t))
				if d[k] == 0 {
					continue
				}
				// A type that uses k and not c is not bounded by c at all.
				if d[c] == 0 {
					most = math.MaxInt64
					break
				}
				// left_c d_tk takes 128 bits. A quotient beyond 64 bits bounds nothing.
				hi, lo := bits.Mul64(uint64(ps.left[c]), uint64(d[k]))
				if hi >= uint64(d[c]) {
					most = math.MaxInt64
					break
				}
				quotient, _ := bits.Div64(hi, lo, uint64(d[c]))
				most = max(most, quotient)
			}
			if most < uint64(ps.left[k]) {
				ps.left[k] = int64(most)
			}
		}
	}
}

// extend tries every number of containers of type t and later ones, most first.
// Depth-first; invariant: left is the residual less the containers counted for types before t, and extend
// leaves it as it was. Most first makes the lists descend in lexicographic order.
func (ps *Lists) extend(t int) {
	if ps.failed {
		return
	}
	// Visits are bounded besides patterns, as a search through many counts can end in few
	// maximal ones.
	if ps.visits++; ps.visits > ps.limit {
		ps.failed = true
		return
	}
	if t == len(ps.p.Types) {
		if ps.maximal() {
			ps.Total++
			// Total is over all classes, as the residual program prices all of their patterns.
			ps.failed = ps.Total > ps.limit || ps.counts+len(ps.list) > mostCounts
			ps.list = append(ps.list, ps.count...)
		}
		return
	}
	d := ps.p.DemandOf(int32(t))
	// More than limit of one type would take more visits than there are.
	n := min(int64(ps.limit), ps.most[t])
	for k, q := range d {
		if q > 0 {
			n = min(n, ps.left[k]/q)
		}
	}
	// Quantities are taken for the most at once, and given back one container at a time.
	for k, q := range d {
		ps.left[k] -= n * q
	}
	for ; ; n-- {
		ps.count[t] = int32(n)
		ps.extend(t + 1)
		if n == 0 {
			return
		}
		for k, q := range d {
			ps.left[k] += q
		}
	}
}

// maximal reports whether no container of any type fits into what is left.
// A type at its cap does not spoil maximality, be there room for it or not. O(types x
// kinds).
func (ps *Lists) maximal() bool {
	for t := range ps.p.Types {
		fits := int64(ps.count[t]) < ps.most[t]
		for k, q := range ps.p.DemandOf(int32(t)) {
			fits = fits && q <= ps.left[k]
		}
		if fits {
			return false
		}
	}
	return true
}

// Best returns the pattern of class g that is worth most at the given worths of a container by
// type, none of them negative, and its worth; ties go to the first.
// The inner product is summed in the order of types, so that results are the same on
// every machine.
func (ps *Lists) Best(g int32, worth []float64) (int, float64) {
	types := len(worth)
	at, most := 0, math.Inf(-1)
	list := ps.Classes[g].List
	for q := range ps.Classes[g].Size {
		var sum float64
		for t, c := range list[q*types : (q+1)*types] {
			// sum = sum_t worth_t c_t, in utilization of one server.
			sum += float64(worth[t] * float64(c))
		}
		if sum > most {
			at, most = q, sum
		}
	}
	return at, most
}

// Pattern returns the counts of pattern q of class g, by type.
// The slice is part of the list: it must not be changed.
func (ps *Lists) Pattern(g int32, q int) []int32 {
	types := len(ps.p.Types)
	return ps.Classes[g].List[q*types : (q+1)*types]
}
