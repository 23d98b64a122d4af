// This file holds one set of freed applications, and what its members and others would bring or cost it at prices.

package sets

import (
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/rng"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// leastRise is the least gain that counts.
const leastRise = 1e-10

// Search is a set of freed applications, and what sets are worth at the prices of the root and at those of the set.
//
// Invariant: only pinnable applications are in the set.
type Search struct {
	leaves *leaf.Leaves
	tune   *tuning.Sets
	rng    rng.Source
	free   []bool
	n      int64   // applications in the set
	mask   []int32 // by cell: its residents in the set
	cellAt []int32 // of an entry
	// root are the prices of the root, local those of the set that priceHere saw last.
	root, local prices
	// rootWorth and rootLambda are what root was set to, worth what local was.
	rootWorth, worth []float64
	rootLambda       float64
	// missed[i] is by how much U sinks when i, who is free, stays; stale tells that it is of an earlier set.
	missed []float64
	stale  []bool
	// unit is the mean value of a container.
	unit float64
	// crowded lists the cells where more than one set may be freed.
	crowded []int32
}

// New returns a search that starts at the best set that l knows, or at the empty one, and prices at the
// multipliers x of the root. The seed alone decides where the search goes.
func New(l *leaf.Leaves, x []float64, seed uint64, tune *tuning.Numbers) *Search {
	s, p := l.S, l.S.Problem
	q := &Search{
		leaves: l, tune: &tune.Sets, rng: rng.Source(seed), free: make([]bool, len(p.Apps)), mask: make([]int32, len(s.Cells)),
		cellAt: make([]int32, len(s.EntryApp)), root: newPrices(s), local: newPrices(s),
		rootWorth: make([]float64, len(p.Types)), worth: make([]float64, len(p.Types)),
		missed: make([]float64, len(p.Apps)), stale: make([]bool, len(p.Apps)),
	}
	// cellAt is the reverse of Cells: an entry, one application on one server, names its cell.
	for c := range s.Cells {
		for b := range s.Cells[c].Residents {
			q.cellAt[s.Cells[c].Entry+b] = int32(c)
		}
		// A cell with a single subset has no choice about who is freed there; to perturb it would be idle.
		if s.Cells[c].Last-s.Cells[c].First > 1 {
			q.crowded = append(q.crowded, int32(c))
		}
	}
	// What a container brings in the mean, by application: gains are told from noise in this unit.
	for i := range p.Apps {
		q.unit += p.Types[p.Apps[i].Type].Value / float64(len(p.Apps))
	}
	q.price(x)
	q.load(l.Best.Free)
	return q
}

// price sets the prices of the root to the multipliers x. A container is worth v - p to a server, and the rest of v
// to its application; where v - p is negative no server has to take it.
func (q *Search) price(x []float64) {
	s, p := q.leaves.S, q.leaves.S.Problem
	// x is p_t by type, then lambda, then mu: mu is not looked at, as every server knows its own set here.
	for t := range q.rootWorth {
		// worth_t = max(0, v_t - p_t), in utilization per container.
		q.rootWorth[t] = max(0, p.Types[t].Value-x[t])
	}
	q.rootLambda = x[len(p.Types)]
	// Nothing that was computed at other prices holds any more.
	q.root.set(s, q.rootWorth, q.rootLambda)
	for i := range q.stale {
		q.stale[i] = true
	}
}

// load makes those of set who may stay the set; nil is the empty one. More than the budget may be loaded.
func (q *Search) load(set []bool) {
	for i := range q.free {
		// Those that must move are free in every set, and do not count as members.
		if in := set != nil && set[i] && q.leaves.S.Problem.Apps[i].Pinnable; in != q.free[i] {
			q.toggle(int32(i))
		}
	}
}

// toggle adds i to the set or takes it out. What its neighbours are missed by has to be computed again.
func (q *Search) toggle(i int32) {
	s := q.leaves.S
	if q.free[i] = !q.free[i]; q.free[i] {
		q.n++
	} else {
		q.n--
	}
	// Whoever shares a server with i is missed by more or less from now on.
	q.stale[i] = true
	for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
		c := &s.Cells[q.cellAt[e]]
		q.mask[q.cellAt[e]] ^= 1 << (e - c.Entry)
		for _, other := range s.EntryApp[c.Entry : c.Entry+c.Residents] {
			q.stale[other] = true
		}
	}
}

// change returns what U gains when i joins the set or leaves it: -Inf where a server could not hold all who stay then.
// Only the servers of i show a difference, O(servers of i).
func (q *Search) change(u *prices, i int32) float64 {
	s := q.leaves.S
	// What i itself gains by being free, the other way round if it leaves the set; then what its servers gain or lose.
	gain := u.gain[i]
	if q.free[i] {
		gain = -gain
	}
	for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
		cell := q.cellAt[e]
		c := &s.Cells[cell]
		before := s.ClassOfMask[c.Table+q.mask[cell]]
		after := s.ClassOfMask[c.Table+(q.mask[cell]^1<<(e-c.Entry))]
		if after == pattern.NoClass {
			return math.Inf(-1)
		}
		// More than the budget may be free on the way, which no class is listed for: no number stands for
		// what such a server is worth.
		if before != pattern.NoClass {
			gain += u.best[after] - u.best[before]
		}
	}
	return gain
}

// missedBy returns by how much U sinks when i, who is free, stays: +Inf where a server of i cannot hold all who stay
// then.
func (q *Search) missedBy(i int32) float64 {
	// Most are asked for again and again between two changes of their servers.
	if q.stale[i] {
		q.missed[i], q.stale[i] = -q.change(&q.root, i), false
	}
	return q.missed[i]
}

// value is that of the best packing that is found for the set, as [leaf.Leaves.Judge] says.
func (q *Search) value() float64 {
	return q.leaves.Judge(func(i int32) bool { return q.free[i] }).Value
}
