// This file holds growth back for what waits within a guarantee, [Program §7], point 6.

package alloc

import (
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// restrain bounds by Share.Most what P2 may give to those that compete with something that waits within its guarantee: they grow as far as
// the guarantees above them go, the first ones first. O(sorts that wait x applications x (depth + classes)).
func (a *admission) restrain() {
	waiting := a.heldUp()
	if len(waiting) == 0 {
		return
	}
	left := make([]apportion.Resources, len(a.r.nodes))
	for q := range left {
		if guarantee := a.r.nodes[q].guarantee; guarantee != nil {
			left[q] = less(guarantee, a.used[q])
		}
	}
	a.r.restraint = make([]int64, len(a.counts))
	for _, i := range a.taken() {
		if !a.competesAny(waiting, i) {
			continue
		}
		numbers, has := a.r.numbers(i), solver.Containers(a.counts[i])
		most := max(has, solver.Containers(a.r.previous[i]))
		// What was shrunk for another one stays so, and so does what shrank in a queue that may have grown since.
		if a.r.yielding[i] || a.within(i, 0) {
			most = max(has, numbers.AtMost(has+a.unusedAbove(left, i)))
		}
		for q := a.r.leaf[i]; q > 0; q = a.r.nodes[q].parent {
			take(left[q], most-has, a.r.problem.Applications[i].Demand)
		}
		a.r.restraint[i] = max(most, numbers.AtLeast(1))
	}
}

// unusedAbove returns how many more containers of application i have room in all that is left of the guarantees above it; 0 where there is none.
func (d *draft) unusedAbove(left []apportion.Resources, i int) int64 {
	n, any := int64(math.MaxInt64), false
	for q := d.r.leaf[i]; q > 0; q = d.r.nodes[q].parent {
		if left[q] != nil {
			n, any = min(n, d.r.problem.Applications[i].Demand.CountIn(left[q])), true
		}
	}
	if !any {
		return 0
	}
	return n
}

// heldUp lists one of each sort that waits though it stays within its guarantee, and for which no servers are reserved.
func (d *draft) heldUp() (list []int) {
	if !d.r.guaranteed {
		return nil
	}
	seen := make(map[string]bool)
	for o, entries := range d.r.entries {
		options := d.r.fitting(entries[0])
		if len(options) == 0 || slices.ContainsFunc(entries, func(e int) bool { return d.in[e] }) || slices.ContainsFunc(d.reserved, func(v *reserved) bool {
			return d.r.of[v.i] == o && v.servers != nil
		}) {
			continue
		}
		for _, i := range options {
			app := &d.r.problem.Applications[i]
			sort := fmt.Sprintf("%q %d %d %d", app.Queue, app.Demand, d.least(i), d.r.classes(i))
			if !seen[sort] && d.within(i, max(0, d.least(i))) {
				list = append(list, i)
			}
			seen[sort] = true
		}
	}
	return list
}

// competesAny reports whether application i could grow by what any of those that wait was refused for.
func (d *draft) competesAny(waiting []int, i int) bool {
	return len(d.r.options(i)) == 1 && slices.ContainsFunc(waiting, func(w int) bool { return d.competes(w, i) })
}

// competes reports whether applications w and i demand a kind and may be on a server both; where a ceiling is what lacks for w, whether it is
// above i too.
func (d *draft) competes(w, i int) bool {
	if d.ceilingRoom(w) < d.least(w) && !d.sharesCeiling(w, i) {
		return false
	}
	both := false
	for k, q := range d.r.problem.Applications[w].Demand {
		both = both || q > 0 && d.r.problem.Applications[i].Demand[k] > 0
	}
	x, y := d.r.classes(w), d.r.classes(i)
	return both && (x == nil || y == nil || slices.ContainsFunc(x, func(class int) bool { return slices.Contains(y, class) }))
}

// setRestrained takes over from a decision about apps with these counts how far they may grow, and refuses that where nothing may wait for it.
// It refuses growth beyond a guarantee, too, where something waits for that, below no ceiling.
func (r *resolved) setRestrained(d *Decision, apps []int, counts solver.Counts) error {
	after, alone := newDraft(r), newDraft(r)
	after.holdAll(apps, counts)
	alone.holdAll(apps, make(solver.Counts, len(counts)))
	waiting, could := after.heldUp(), alone.heldUp()
	waiting = slices.DeleteFunc(waiting, func(w int) bool { return r.tree != nil && len(r.above[w]) > 0 })
	most, positions := make([]int64, len(counts)), appIndex(r.given.Applications)
	for _, share := range d.Shares {
		o, known := positions[share.ID]
		if !known {
			continue
		}
		i := r.entries[o][0]
		numbers, has := r.numbers(i), solver.Containers(counts[i])
		first := numbers.AtLeast(1)
		if r.problem.Applications[i].Most == 0 && has > max(first, solver.Containers(r.previous[i])) && !after.within(i, 0) && after.competesAny(waiting, i) {
			return mismatch("Shares.Containers", fmt.Sprintf("%q grows beyond what its queue is guaranteed, and %s within its own", share.ID, waitsFor(r.ids(waiting))))
		}
		if most[i] = share.Most; most[i] != 0 && (most[i] < max(1, first, has) || !alone.competesAny(could, i)) {
			return mismatch("Shares.Most", fmt.Sprintf("%d for %q, which has %d, or for which nothing waits", most[i], share.ID, has))
		}
	}
	if slices.Max(append(most, 0)) > 0 {
		r.restraint = most
	}
	return nil
}

// restrained says why application i may have no more than it has, by those that wait under the counts of this draft.
func (d *draft) restrained(i int) apportion.Reason {
	waiting := slices.DeleteFunc(d.heldUp(), func(w int) bool { return !d.competes(w, i) })
	n, ids := d.r.restraint[i], d.r.ids(waiting)
	return apportion.Reason{Constraint: Guarantee, Need: float64(n + 1), Have: float64(n), Applications: ids,
		Blockers: []apportion.Blocker{{Cause: ByGuarantee, Limit: n, Applications: ids, Setting: "queues.guarantee"}},
		Text:     fmt.Sprintf("it may have %d for now: more is beyond what its queue is guaranteed, and %s within its own", n, waitsFor(ids))}
}

// waitsFor says which applications wait, or that one does.
func waitsFor(ids []string) string {
	if len(ids) == 0 {
		return "an application waits"
	}
	return listIDs(ids) + " waits"
}

// ids names the applications of these entries.
func (r *resolved) ids(list []int) []string {
	ids := make([]string, len(list))
	for at, i := range list {
		ids[at] = r.problem.Applications[i].ID
	}
	return ids
}
