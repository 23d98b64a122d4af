// This file walks over the sets of freed applications by ruin and recreate, [Schrimpf00]: it frees some that
// sit together on one server, and keeps others for them.

package sets

import (
	"context"
	"math"
)

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
	// n falls by one each time, so that the loop ends: the budget is not negative where the problem is not Impossible.
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
	return min(q.tune.Slack*math.Abs(value), q.tune.SlackUnits*q.unit)
}
