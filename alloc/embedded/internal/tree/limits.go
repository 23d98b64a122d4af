// This file branches on how much of a kind is used in all. Where a kind is scarce, as the 5 GPUs of the
// testbed of [Dorm] §V, one unit of it is worth more than the rest of the gap, and the relaxation uses a
// part of one.

package tree

import (
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

// TurnsOnUnit reports whether a unit of some kind is worth a good part of what is left of the gap.
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

// worthLimiting reports whether a unit of kind k is worth a good part of the gap.
func (t *Tree) worthLimiting(k int, gap float64) bool {
	if t.limitsAt < 0 || t.Problem.Unit[k] == 0 || t.Problem.Total[k] == 0 {
		return false
	}
	worth := float64(t.Problem.Unit[k]) / float64(t.Problem.Total[k])
	return t.tune.LeastUnit*gap <= worth
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
		return &node{choices: slices.Clone(t.choice), limits: l, x: x, bound: n.bound, order: t.Nodes, limited: true}
	}
	below, above = child(t.tune.Surcharge), child(-t.tune.Surcharge)
	below.limits.Hi[k], above.limits.Lo[k] = most, most+t.Problem.Unit[k]
	return below, above
}
