// This file walks over the sets of freed applications by ruin and recreate, [Schrimpf00]: it frees some that
// sit together on one server, and keeps others for them.

package sets

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/rng"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
)

// Search is a set of freed applications, and what they are worth at the prices of the root, [Geoffrion74]:
//
//	U(F) = lambda L + sum_kept keep_i + sum_free phi_i + sum_j best pattern of what F leaves on j
//
// U bounds every F: it is the bound of the decomposition without multipliers on copies, since every server
// knows what a fixed F leaves it. U is cheap and weak, so that it says only who is missed least; the residual
// problem judges a set.
//
// Invariant: only pinnable applications are in the set.
type Search struct {
	leaves *leaf.Leaves
	tune   *tuning.Sets
	rng    rng.Source
	free   []bool
	n      int64     // applications in the set
	best   []float64 // by class of patterns, at the prices
	gain   []float64 // phi_i - keep_i of an application that may stay
	cellAt []int32   // of an entry
	// crowded lists the cells where more than one set may be freed.
	crowded []int32
}

// New returns a search that starts at the best set that l knows, or at the empty one, and prices at the
// multipliers x of the root. The seed alone decides where the search goes.
func New(l *leaf.Leaves, x []float64, seed uint64, tune *tuning.Numbers) *Search {
	s, p := l.S, l.S.Problem
	q := &Search{
		leaves: l, tune: &tune.Sets, rng: rng.Source(seed), free: make([]bool, len(p.Apps)),
		best: make([]float64, len(s.Lists.Classes)), gain: make([]float64, len(p.Apps)), cellAt: make([]int32, len(s.EntryApp)),
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
	// Prices are taken once, at the root: the walk is over sets, and prices by set would cost a descent for
	// each.
	q.price(x)
	q.load(l.Best.Free)
	return q
}

// price computes best and gain at the multipliers x. A container is worth v - p to a server, and the rest of v
// to its application; where v - p is negative no server has to take it.
func (q *Search) price(x []float64) {
	s, p := q.leaves.S, q.leaves.S.Problem
	// x is p_t by type, then lambda, then mu: mu is not looked at, as every server knows its own set here.
	worth, lambda := make([]float64, len(p.Types)), x[len(p.Types)]
	for t := range worth {
		// worth_t = max(0, v_t - p_t), in utilization per container.
		worth[t] = math.Max(0, p.Types[t].Value-x[t])
	}
	for g := range q.best {
		// One search for each class of patterns; each set that the walk meets then costs a look-up for a
		// server.
		_, q.best[g] = s.Lists.Best(int32(g), worth)
	}
	for i := range p.Apps {
		if t := p.Apps[i].Type; p.Apps[i].Pinnable {
			// phi_i = max over n of (v - worth) n - lambda loss_i(n), and gain = phi_i - keep_i, p2_solver.md
			// §3.
			_, phi := p.Wanted(int32(i), p.Types[t].Value-worth[t], lambda)
			q.gain[i] = phi - p.KeepWorth(int32(i), lambda)
		}
	}
}

// load makes those of set who may stay the set; nil is the empty one. More than the budget may be loaded.
func (q *Search) load(set []bool) {
	q.n = 0
	for i := range q.free {
		// Those that must move are free in every set, and do not count as members.
		if q.free[i] = set != nil && set[i] && q.leaves.S.Problem.Apps[i].Pinnable; q.free[i] {
			q.n++
		}
	}
}

// missed returns by how much U sinks when i, who is free, stays: +Inf where the server of i cannot hold all
// who stay then. Only the servers of i show a difference, O(servers of i x residents).
func (q *Search) missed(i int32) float64 {
	s := q.leaves.S
	// loss = gain_i + sum over the servers of i of (best with i freed - best with i kept).
	loss := q.gain[i]
	for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
		c := &s.Cells[q.cellAt[e]]
		with := s.ClassUnder(c, q.free)
		// The set is changed and put back, so that ClassUnder sees it with and without i.
		q.free[i] = false
		without := s.ClassUnder(c, q.free)
		q.free[i] = true
		if without == pattern.NoClass {
			return math.Inf(1)
		}
		// More than the budget may be free on the way, which no class is listed for: no number stands for
		// what such a server is worth.
		if with != pattern.NoClass {
			loss += q.best[with] - q.best[without]
		}
	}
	return loss
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
				q.free[i] = true
				q.n++
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
		loss, r := q.missed(int32(i)), 1
		if spared[int32(i)] {
			r = 2
		}
		// Ties go to the lowest index, so that the walk depends on the seed alone.
		if who < 0 || r < rank || r == rank && loss < least {
			who, least, rank = int32(i), loss, r
		}
	}
	q.free[who] = false
	q.n--
}

// value is that of the best packing that is found for the set, as [leaf.Leaves.Judge] says.
func (q *Search) value() float64 {
	return q.leaves.Judge(func(i int32) bool { return q.free[i] }).Value
}

// Run tries so many sets, each a perturbation of the last one that was accepted. The leaves keep the best
// packing, so that a worse set may be accepted: by a random part of Slack, so that small losses are accepted
// often and large ones rarely. Without that the search stays where one perturbation never gains.
func (q *Search) Run(ctx context.Context, tries int64) {
	// Nothing can be freed: there is one set.
	if len(q.crowded) == 0 {
		return
	}
	// at is the set that the walk returns to when a try is refused.
	at, value := append([]bool(nil), q.free...), q.value()
	for ; tries > 0 && ctx.Err() == nil; tries-- {
		q.perturb()
		// v > value - slack |value| u, u uniform in [0, 1): the walk goes on from sets within .3 % of the last
		// (p2_solver.md §4).
		if v := q.value(); v > value-float64(q.tune.Slack*math.Abs(value)*q.rng.Float()) {
			value = v
			copy(at, q.free)
		} else {
			q.load(at)
		}
	}
}
