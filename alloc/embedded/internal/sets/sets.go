// This file walks over the sets of freed applications by ruin and recreate, [Schrimpf00]: it frees some that
// sit together on one server, and keeps others for them.

package sets

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
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
		q.rootWorth[t] = math.Max(0, p.Types[t].Value-x[t])
	}
	q.rootLambda = x[len(p.Types)]
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
	q.stale[i] = true
	for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
		c := &s.Cells[q.cellAt[e]]
		q.mask[q.cellAt[e]] ^= 1 << (e - c.Entry)
		for _, other := range s.EntryApp[c.Entry : c.Entry+c.Residents] {
			q.stale[other] = true
		}
	}
}

// missedBy returns by how much U sinks when i, who is free, stays: +Inf where a server of i cannot hold all who stay
// then.
func (q *Search) missedBy(i int32) float64 {
	if q.stale[i] {
		q.missed[i], q.stale[i] = -q.change(&q.root, i), false
	}
	return q.missed[i]
}

// perturb frees a set of residents of one server together, since no exchange of one for one frees two that
// are in the way of the same container; then it keeps those who are missed least until the budget holds. It
// does not keep those that it has just freed, unless there is nobody else.
func (q *Search) perturb() {
	s := q.leaves.S
	c := &s.Cells[q.crowded[q.rng.Below(len(q.crowded))]]
	// The sets that are listed make room: one of them less, and the server would be of another class.
	// Bit b of the mask is resident b of the cell.
	freed := s.Subsets[int(c.First)+q.rng.Below(int(c.Last-c.First))].Mask
	residents := s.EntryApp[c.Entry : c.Entry+c.Residents]
	spared := make(map[int32]bool, len(residents))
	for b, i := range residents {
		if freed>>b&1 != 0 {
			spared[i] = true
			if !q.free[i] {
				q.toggle(i)
			}
		}
	}
	// n falls by one each time, so that the loop ends: the budget is not negative past counting.
	for q.n > s.Problem.Budget {
		q.keepOne(spared)
	}
}

// keepOne keeps the member of the set that U misses least, ties to the first; those that are spared only if
// there is no other.
func (q *Search) keepOne(spared map[int32]bool) {
	who, least, rank := int32(-1), 0.0, 0
	for i, in := range q.free {
		if !in {
			continue
		}
		// rank 1 goes before rank 2, whatever is missed: a set that has just been freed would otherwise be
		// undone at once.
		loss, r := q.missedBy(int32(i)), 1
		if spared[int32(i)] {
			r = 2
		}
		// Ties go to the lowest index, so that the walk depends on the seed alone.
		if who < 0 || r < rank || r == rank && loss < least {
			who, least, rank = int32(i), loss, r
		}
	}
	q.toggle(who)
}

// value is that of the best packing that is found for the set, as [leaf.Leaves.Judge] says.
func (q *Search) value() float64 {
	return q.leaves.Judge(func(i int32) bool { return q.free[i] }).Value
}

// Run judges so many sets, first those of a climb, then each a perturbation of the last one that was accepted. The
// leaves keep the best packing, so that a worse set may be accepted: by a random part of Slack, so that small losses are
// accepted often and large ones rarely. Without that the search stays where one perturbation never gains.
func (q *Search) Run(ctx context.Context, tries int64) {
	// Nothing can be freed: there is one set.
	if len(q.crowded) == 0 {
		return
	}
	tries -= q.climb(ctx, tries)
	// at is the set that the walk returns to when a try is refused.
	at, value := append([]bool(nil), q.free...), q.value()
	for ; tries > 0 && ctx.Err() == nil; tries-- {
		q.perturb()
		// v > value - slack u, u uniform in [0, 1).
		if v := q.value(); v > value-float64(q.slack(value)*q.rng.Float()) {
			value = v
			copy(at, q.free)
		} else {
			q.load(at)
		}
	}
}

// slack returns how far below value a set may be: a part of value, but no more than a container or so,
// which is a far smaller part on a large cluster.
func (q *Search) slack(value float64) float64 {
	return math.Min(q.tune.Slack*math.Abs(value), q.tune.SlackUnits*q.unit)
}
