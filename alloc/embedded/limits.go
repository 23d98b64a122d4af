// This file branches on how much of a kind is used in all. Where a kind is scarce, as the 5 GPUs of the
// testbed of [Dorm] §V, one unit of it is worth more than the rest of the gap, and the relaxation uses a
// part of one.

package embedded

import (
	"context"
	"math"
	"slices"
)

const (
	// leastUnit and mostUnit are what a unit of a kind must add to the utilization, in parts of the gap,
	// for its use to be branched on. With less, a part of a unit is hardly the reason for the gap; with
	// more, the relaxation hardly uses a part of one.
	leastUnit, mostUnit = 0.3, 1.6
	// whole is how near to a whole unit the mean use of a kind counts as whole.
	whole = 0.1
	// firstToll is where the multiplier of a limit starts, and tollScale its scale, in what a unit adds
	// to the utilization.
	firstToll, tollScale = 0.95, 0.3
	// levelRounds are the rounds towards one level; levels end below leastLevel in parts of the gap.
	levelRounds, leastLevel = 60, 0.1
	// roundsWorth is how many of these rounds cost as much of the effort as one of a node without.
	roundsWorth = 3
)

// dearLoss are the parts by which the price on loss starts higher at a limit from below, in case it
// leaves nothing that the loss budget allows: then only large prices prove that.
var dearLoss = [...]float64{30, 100}

// limits bound by kind how much the applications use in all, lo_k <= sum_i d_ik n_i <= hi_k. The
// decomposition prices them with sigma_k of any sign: the bound gains
//
//	sum_k max(sigma_k lo_k, sigma_k hi_k)
//
// and a container of type t costs sum_k sigma_k d_tk more, of whatever application.
type limits struct{ lo, hi []int64 }

// noLimits is what every solution keeps.
func noLimits(p *problem) limits { return limits{make([]int64, p.kinds), p.total} }

// charge sets the tolls of the types at multipliers sigma.
func (ev *splitEval) charge(sigma []float64) {
	clear(ev.total)
	for t := range ev.toll {
		ev.toll[t] = 0
		for k, q := range ev.s.p.demandOf(int32(t)) {
			ev.toll[t] += float64(sigma[k] * float64(q))
		}
	}
}

// heed adds the limits' part to the bound, and sets that of the subgradient.
func (ev *splitEval) heed(sigma, slope []float64) {
	p := ev.s.p
	for k := range p.kinds {
		var used float64
		for t, n := range ev.total {
			used += float64(float64(p.demandOf(int32(t))[k]) * float64(n))
		}
		ev.used[k] += used
		lo, hi := float64(ev.limits.lo[k]), float64(ev.limits.hi[k])
		limit := math.Min(math.Max(used, lo), hi) // at sigma = 0 any between has the same bound
		if sigma[k] > 0 {
			limit = hi
		} else if sigma[k] < 0 {
			limit = lo
		}
		ev.bound += float64(sigma[k] * limit)
		slope[k] = limit - used
	}
}

// limit sets the limits of a node, and lets the descent move the multipliers of those.
func (t *tree) limit(l limits) {
	if t.limitsAt < 0 {
		return
	}
	t.sel.limits = l
	for k, total := range t.p.total {
		t.d.scale[t.limitsAt+k] = 0
		if l.hi[k] < total || l.lo[k] > 0 {
			t.d.scale[t.limitsAt+k] = tollScale / float64(total)
		}
	}
}

// turnsOnUnit reports whether what is left of the gap is about what a unit of some kind is worth.
func (t *tree) turnsOnUnit() bool {
	for k := range t.p.unit {
		if t.worthLimiting(k, t.bound()-t.value) {
			return true
		}
	}
	return false
}

// beginLimits begins the tree again, with limits.
func (t *tree) beginLimits() {
	t.limiting, t.proven, t.lost = true, t.bound(), math.Inf(-1)
	t.open = nodes{{choices: make([]choice, len(t.p.apps)), limits: noLimits(t.p), x: t.rootX, bound: t.rootBound}}
}

// worthLimiting reports whether the gap is about what a unit of kind k is worth.
func (t *tree) worthLimiting(k int, gap float64) bool {
	if t.limitsAt < 0 || t.p.unit[k] == 0 || t.p.total[k] == 0 {
		return false
	}
	worth := float64(t.p.unit[k]) / float64(t.p.total[k])
	return leastUnit*gap <= worth && worth <= mostUnit*gap
}

// scarce returns the kind whose use to branch on at node n, of which a unit is worth most, and the most of
// it that one branch uses; -1 for none.
func (t *tree) scarce(n *node) (kind int, most int64) {
	kind = -1
	worth := 0.0
	for k, unit := range t.p.unit {
		each := float64(unit) / float64(t.p.total[k])
		if !t.limiting || !t.worthLimiting(k, t.d.bound-t.value) || each <= worth {
			continue
		}
		mean := t.sel.used[k] / float64(t.sel.rounds) / float64(unit)
		at := int64(math.Floor(mean)) * unit
		if math.Abs(mean-math.Round(mean)) < whole || at < n.limits.lo[k] || at+unit > n.limits.hi[k] {
			continue
		}
		kind, most, worth = k, at, each
	}
	return kind, most
}

// part makes of n a node with at most most of kind k, and one with a unit more at least.
func (t *tree) part(n *node, k int, most int64) (below, above *node) {
	child := func(toll float64) *node {
		x := slices.Clone(t.d.best)
		x[t.limitsAt+k] = toll / float64(t.p.total[k])
		l := limits{lo: slices.Clone(n.limits.lo), hi: slices.Clone(n.limits.hi)}
		return &node{choices: slices.Clone(t.choice), limits: l, x: x, bound: n.bound, order: t.nodes}
	}
	below, above = child(firstToll), child(-firstToll)
	below.limits.hi[k], above.limits.lo[k] = most, most+t.p.unit[k]
	below.isNew, above.isNew = fromAbove, fromBelow
	return below, above
}

// newLimit says which limit a node has that its parent has not.
type newLimit int8

const (
	none newLimit = iota
	fromAbove
	fromBelow
)

// settleLimits improves the multipliers at a node with a new limit, from several starts: where they are,
// where a descent begins that knows nothing, and, with a limit from below, with dearLoss.
func (t *tree) settleLimits(ctx context.Context, n *node) {
	best, bound, rounds := slices.Clone(t.d.best), t.d.bound, t.d.rounds
	for start := range 2 + len(dearLoss) {
		if bound <= t.cut() || start > 1 && n.isNew != fromBelow {
			break
		}
		copy(t.d.x, n.x)
		if start == 1 {
			copy(t.d.x[:t.limitsAt], t.cold)
		} else if start > 1 {
			t.dear(n, dearLoss[start-2])
		}
		t.d.start()
		t.approach(ctx)
		if t.d.bound < bound {
			bound = t.d.bound
			copy(best, t.d.best)
		}
	}
	copy(t.d.x, best)
	t.d.start()
	t.nodes += (t.d.rounds - rounds) / int64(roundsWorth*t.each)
}

// dear raises the price on loss by a factor, and what it pays for the limits from below: as much as a
// container is allowed to lose that uses just that kind.
func (t *tree) dear(n *node, factor float64) {
	const least = 0.01
	lambda := factor * math.Max(least, n.x[len(t.p.types)])
	t.d.x[len(t.p.types)] = lambda
	for k, total := range t.p.total {
		if n.limits.lo[k] > 0 {
			t.d.x[t.limitsAt+k] = -lambda / float64(total)
		}
	}
}

// approach descends to a level below the best bound, and to half of that each time it gets little
// nearer: the steps towards a target out of reach are too long.
func (t *tree) approach(ctx context.Context) {
	for level := t.d.bound - t.target(); level > leastLevel*(t.d.bound-t.value) && t.d.bound > t.cut() && ctx.Err() == nil; {
		before := t.d.bound
		t.d.theta = t.d.firstStep
		t.d.run(ctx, levelRounds, math.Max(t.target(), before-level), t.cut())
		if before-t.d.bound < level/8 {
			level /= 2
		}
	}
}
