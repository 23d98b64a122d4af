// This file branches on how much of a kind is used in all. Where a kind is scarce, as the 5 GPUs of the
// testbed of [Dorm] §V, one unit of it is worth more than the rest of the gap, and the relaxation uses a
// part of one.

package tree

import (
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// limit sets the limits of a node, and lets the descent move the multipliers of those.
func (t *Tree) limit(l lagrange.Limits) {
	if t.limitsAt < 0 {
		return
	}
	t.sel.Limits = l
	for k, total := range t.Problem.Total {
		t.Descent.Scale[t.limitsAt+k] = 0
		if l.Hi[k] < total || l.Lo[k] > 0 {
			t.Descent.Scale[t.limitsAt+k] = t.tune.SurchargeScale / float64(total)
		}
	}
}

// TurnsOnUnit reports whether what is left of the gap is about what a unit of some kind is worth.
func (t *Tree) TurnsOnUnit() bool {
	for k := range t.Problem.Unit {
		if t.worthLimiting(k, t.Bound()-t.Value) {
			return true
		}
	}
	return false
}

// BeginLimits begins the tree again, with limits.
func (t *Tree) BeginLimits() {
	t.limiting, t.proven, t.Lost = true, t.Bound(), math.Inf(-1)
	t.Open = nodes{{choices: make([]problem.Choice, len(t.Problem.Apps)), limits: lagrange.NoLimits(t.Problem), x: t.RootX, bound: t.RootBound}}
}

// worthLimiting reports whether the gap is about what a unit of kind k is worth.
func (t *Tree) worthLimiting(k int, gap float64) bool {
	if t.limitsAt < 0 || t.Problem.Unit[k] == 0 || t.Problem.Total[k] == 0 {
		return false
	}
	worth := float64(t.Problem.Unit[k]) / float64(t.Problem.Total[k])
	return t.tune.LeastUnit*gap <= worth && worth <= t.tune.MostUnit*gap
}

// scarce returns the kind whose use to branch on at node n, of which a unit is worth most, and the most of
// it that one branch uses; -1 for none.
func (t *Tree) scarce(n *node) (kind int, most int64) {
	kind = -1
	worth := 0.0
	for k, unit := range t.Problem.Unit {
		each := float64(unit) / float64(t.Problem.Total[k])
		if !t.limiting || !t.worthLimiting(k, t.Descent.Bound-t.Value) || each <= worth {
			continue
		}
		mean := t.sel.Used[k] / float64(t.sel.Rounds) / float64(unit)
		at := int64(math.Floor(mean)) * unit
		if math.Abs(mean-math.Round(mean)) < t.tune.Whole || at < n.limits.Lo[k] || at+unit > n.limits.Hi[k] {
			continue
		}
		kind, most, worth = k, at, each
	}
	return kind, most
}

// part makes of n a node with at most most of kind k, and one with a unit more at least.
func (t *Tree) part(n *node, k int, most int64) (below, above *node) {
	child := func(surcharge float64) *node {
		x := slices.Clone(t.Descent.Best)
		x[t.limitsAt+k] = surcharge / float64(t.Problem.Total[k])
		l := lagrange.Limits{Lo: slices.Clone(n.limits.Lo), Hi: slices.Clone(n.limits.Hi)}
		return &node{choices: slices.Clone(t.choice), limits: l, x: x, bound: n.bound, order: t.Nodes}
	}
	below, above = child(t.tune.Surcharge), child(-t.tune.Surcharge)
	below.limits.Hi[k], above.limits.Lo[k] = most, most+t.Problem.Unit[k]
	below.isNew, above.isNew = fromAbove, fromBelow
	return below, above
}

// settleLimits improves the multipliers at a node with a new limit, from several starts: where they are,
// where a descent begins that knows nothing, and, with a limit from below, with t.tune.DearLoss.
func (t *Tree) settleLimits(ctx context.Context, n *node) {
	best, bound, rounds := slices.Clone(t.Descent.Best), t.Descent.Bound, t.Descent.Rounds
	for start := range 2 + len(t.tune.DearLoss) {
		if bound <= t.Cut() || start > 1 && n.isNew != fromBelow {
			break
		}
		copy(t.Descent.X, n.x)
		if start == 1 {
			copy(t.Descent.X[:t.limitsAt], t.cold)
		} else if start > 1 {
			t.dear(n, t.tune.DearLoss[start-2])
		}
		t.Descent.Start()
		t.approach(ctx)
		if t.Descent.Bound < bound {
			bound = t.Descent.Bound
			copy(best, t.Descent.Best)
		}
	}
	copy(t.Descent.X, best)
	t.Descent.Start()
	t.Nodes += (t.Descent.Rounds - rounds) / int64(t.tune.Worth*t.Each)
}

// dear raises the price on loss by a factor, and what it pays for the limits from below: as much as a
// container is allowed to lose that uses just that kind.
func (t *Tree) dear(n *node, factor float64) {
	const least = 0.01
	lambda := factor * math.Max(least, n.x[len(t.Problem.Types)])
	t.Descent.X[len(t.Problem.Types)] = lambda
	for k, total := range t.Problem.Total {
		if n.limits.Lo[k] > 0 {
			t.Descent.X[t.limitsAt+k] = -lambda / float64(total)
		}
	}
}

// approach descends to a level below the best bound, and to half of that each time it gets little
// nearer: the steps towards a target out of reach are too long.
func (t *Tree) approach(ctx context.Context) {
	for level := t.Descent.Bound - t.target(); level > t.tune.LeastLevel*(t.Descent.Bound-t.Value) && t.Descent.Bound > t.Cut() && ctx.Err() == nil; {
		before := t.Descent.Bound
		t.Descent.Theta = t.Descent.FirstStep
		t.Descent.Run(ctx, t.tune.LevelRounds, math.Max(t.target(), before-level), t.Cut())
		if before-t.Descent.Bound < level/8 {
			level /= 2
		}
	}
}
