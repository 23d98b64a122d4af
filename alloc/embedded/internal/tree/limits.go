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
	// Prices by server have no sigma_k: a limit would then be nothing that the bound sees.
	if t.limitsAt < 0 {
		return
	}
	t.sel.Limits = l
	for k, total := range t.Problem.Total {
		// A scale of 0 holds sigma_k where it is. A limit that does not bind adds noise to the direction, and
		// the bound falls more slowly.
		t.Descent.Scale[t.limitsAt+k] = 0
		// The limits bind where they are narrower than [0, total].
		if l.Hi[k] < total || l.Lo[k] > 0 {
			// The scale is in utilization per unit of k: what a whole cluster of k is worth in P2 is 1, (10),
			// and so a unit 1/total.
			t.Descent.Scale[t.limitsAt+k] = t.tune.SurchargeScale / float64(total)
		}
	}
}

// TurnsOnUnit reports whether a unit of some kind is worth a good part of what is left of the gap.
func (t *Tree) TurnsOnUnit() bool {
	// One kind is enough. O(kinds).
	for k := range t.Problem.Unit {
		if t.worthLimiting(k, t.Bound()-t.Value) {
			return true
		}
	}
	return false
}

// BeginLimits begins the tree again, with limits.
func (t *Tree) BeginLimits() {
	// proven keeps the bound of the tree so far, and with that Lost may begin anew: the new root holds all
	// solutions again.
	t.limiting, t.proven, t.Lost = true, t.Bound(), math.Inf(-1)
	// The root's multipliers are used again. They are as good as before, since at the root no limit binds.
	t.Open = nodes{{choices: make([]problem.Choice, len(t.Problem.Apps)), limits: lagrange.NoLimits(t.Problem), x: t.RootX, bound: t.RootBound}}
}

// worthLimiting reports whether a unit of kind k is worth a good part of the gap.
func (t *Tree) worthLimiting(k int, gap float64) bool {
	// Total[k] = 0 has no unit to lose, and the division below would be by 0.
	if t.limitsAt < 0 || t.Problem.Unit[k] == 0 || t.Problem.Total[k] == 0 {
		return false
	}
	// A step of Unit[k], in the units of kind k, moves the objective (10) by Unit/Total.
	worth := float64(t.Problem.Unit[k]) / float64(t.Problem.Total[k])
	return t.tune.LeastUnit*gap <= worth
}

// scarce returns the kind whose use to branch on at node n, of which a unit is worth most, and the most of
// it that one branch uses; -1 for none.
func (t *Tree) scarce(n *node) (kind int, most int64) {
	// kind stays -1 where limits are off or every use is nearly whole.
	kind = -1
	worth := 0.0
	for k, unit := range t.Problem.Unit {
		// each is +Inf or NaN for a kind with no total; worthLimiting is false for it before each is compared
		// with a merit.
		each := float64(unit) / float64(t.Problem.Total[k])
		if !t.limiting || !t.worthLimiting(k, t.Descent.Bound-t.Value) || each <= worth {
			continue
		}
		// mean is in steps of unit: the use of each round is summed in Used over Rounds rounds, and the mean
		// approximates that of the relaxation.
		mean := t.sel.Used[k] / float64(t.sel.Rounds) / float64(unit)
		// at = floor(mean) unit is the most of the lower branch, at + unit the least of the upper: no solution
		// uses an amount between, as unit divides every demand.
		at := int64(math.Floor(mean)) * unit
		// A mean that is nearly whole gives no branch that cuts it off, and one outside of the limits would
		// give a child without solutions.
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
		// Each child has an x of its own, unlike in visit: they differ in sigma_k.
		x := slices.Clone(t.Descent.Best)
		// sigma_k starts near what a unit is worth: positive where use is limited from above, negative where
		// it is from below. Started at 0 the descent would spend its rounds on the way there.
		x[t.limitsAt+k] = surcharge / float64(t.Problem.Total[k])
		// The limits are cloned because other children of n share them.
		l := lagrange.Limits{Lo: slices.Clone(n.limits.Lo), Hi: slices.Clone(n.limits.Hi)}
		return &node{choices: slices.Clone(t.choice), limits: l, x: x, bound: n.bound, order: t.Nodes, limited: true}
	}
	below, above = child(t.tune.Surcharge), child(-t.tune.Surcharge)
	below.limits.Hi[k], above.limits.Lo[k] = most, most+t.Problem.Unit[k]
	return below, above
}
