// This file suspends applications for those of higher priority, or has them go elsewhere: [Program §3], point 2.

package alloc

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// preempt suspends others of lower priority for application i: one if that is enough, else more and more of
// them, and none in vain. Where it returns false the draft is what it was. Suspending counts against no budget; what
// admit then changes beside it does. O(victims) calls of admit.
func (a *admission) preempt(i int) bool {
	if !a.r.problem.Options.Preempt {
		return false
	}
	// before has what each one had, for whom suspending it turns out to be in vain.
	var victims []int
	before := make(map[int][]apportion.Placement)
	undo := func(v int) {
		a.enter(v)
		a.put(v, before[v])
	}
	list := a.preemptible(i)
	if !a.couldGive(i, list) {
		return false
	}
	// One is enough as a rule, and then the cheapest one that is.
	for at, v := range list {
		before[v] = a.suspend(v)
		// Others are asked to make room beside the first few alone, as that takes longest.
		if at < fewVictims && a.admit(i) || at >= fewVictims && a.enters(i) {
			victims = []int{v}
			break
		}
		undo(v)
	}
	// Else they go one after the other, until there is room, and others make some once all have gone.
	for at := 0; at < len(list) && !a.in[i]; at++ {
		before[list[at]] = a.suspend(list[at])
		victims = append(victims, list[at])
		_ = (at < fewVictims || at == len(list)-1) && a.admit(i) || a.enters(i)
	}
	// All of them together are not enough: everybody goes on as before.
	if !a.in[i] {
		for _, v := range victims {
			undo(v)
		}
		return false
	}
	for _, v := range victims {
		switch {
		// Who fits all the same goes on, and who fits elsewhere goes on there: to be suspended would have cost nothing either.
		case a.fits(v, before[v]):
			undo(v)
		case a.anew(v):
			a.enter(v)
			a.r.yielding[v] = true
			a.move(v)
		default:
			a.preempted[a.r.of[v]] = a.preemptedFor(v, i)
		}
	}
	return true
}

// fewVictims is beside how many suspended ones others are asked to make room as well.
const fewVictims = 2

// couldGive reports whether those in list and those who may be changed within the budget hold enough of every kind for
// application i, as shortKind does without list. O(kinds x applications).
func (a *admission) couldGive(i int, list []int) bool {
	n := a.least(i)
	for k, q := range a.r.problem.Applications[i].Demand {
		amount, _ := a.freeable(k)
		for _, v := range list {
			amount += solver.Containers(a.counts[v]) * a.r.problem.Applications[v].Demand[k]
		}
		if q > 0 && n > (a.free(k)+amount)/q {
			return false
		}
	}
	return true
}

// preemptible lists who may be suspended for application i: of the lowest priority first, then the cheapest,
// then the last that came. They run, hold something, are Preemptible and not pinned, and are of lower Priority than i;
// so nobody is suspended for one whom it could suspend in turn.
func (a *admission) preemptible(i int) []int {
	apps := a.r.problem.Applications
	var list []int
	// Backwards, so that the stable sort leaves the last that came first.
	for v := len(apps) - 1; v >= 0; v-- {
		if a.in[v] && a.r.mayBePreempted(v) && apps[v].Priority < apps[i].Priority && len(a.counts[v]) > 0 {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(v, w int) int {
		x, y := a.r.app(v), a.r.app(w)
		switch {
		case apps[v].Priority != apps[w].Priority:
			return cmp.Compare(apps[v].Priority, apps[w].Priority)
		default:
			return cmp.Compare(x.Cost, y.Cost)
		}
	})
	return list
}

// mayBePreempted reports whether application i, if it runs, may be suspended for one of higher priority.
func (r *resolved) mayBePreempted(i int) bool {
	return r.running(i) && r.problem.Applications[i].Preemptible && !r.pinned[i]
}

// preemptedFor says why application v is suspended: for application i, whose priority is higher.
// It has no Need and Have: what the other one takes is not what this one would have to be given.
func (a *admission) preemptedFor(v, i int) apportion.Reason {
	apps := a.r.problem.Applications
	return apportion.Reason{Constraint: solver.Capacity, Applications: []string{apps[i].ID},
		Text: fmt.Sprintf("it makes room for %q, which has priority %d above its %d", apps[i].ID, apps[i].Priority, apps[v].Priority)}
}
