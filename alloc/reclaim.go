// This file takes room for one application from others, by guarantee, level or priority: [Program §7], point 2.

package alloc

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// offer is what one application can be made to give up: all that it has, or what it has beyond its fewest containers.
type offer struct {
	v        int
	suspends bool
	rank     int64 // what shrinks comes before what suspends, and that by priority
	cost     int64 // nothing for what shrinks
	at       int   // in the list of all offers
}

// offers lists what application i may take, if others leave their queues enough: the lowest rank first, then the cheapest, then
// the last that came.
func (a *admission) offers(i int) []offer {
	r := a.r
	var list []offer
	// Backwards, so that the stable sort leaves the last that came first.
	for v := len(r.previous) - 1; v >= 0; v-- {
		has := solver.Containers(a.counts[v])
		if !a.in[v] || !r.running(v) || r.pinned[v] || has == 0 || r.of[v] == r.of[i] {
			continue
		}
		fork, _ := r.fork(i, v)
		if has > a.least(v) && r.nodes[fork].guarantee != nil && fork > 0 && len(r.options(v)) == 1 {
			list = append(list, offer{v: v, rank: math.MinInt64})
		}
		if r.mayBePreempted(v) {
			list = append(list, offer{v: v, suspends: true, rank: r.problem.Applications[v].Priority, cost: r.ownCost(v)})
		}
	}
	slices.SortStableFunc(list, func(x, y offer) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.cost, y.cost))
	})
	for at := range list {
		list[at].at = at
	}
	return list
}

// mayBePreempted reports whether application i, if it runs, may be suspended for another one.
func (r *resolved) mayBePreempted(i int) bool {
	return r.problem.Options.Preempt && r.running(i) && r.problem.Applications[i].Preemptible && !r.pinned[i]
}

// reclaim takes application i in with n containers after others have given up what they may be taken from by a guarantee, by level
// or by priority: the cheapest set that is found, of the lowest ranks that have one, and nobody in vain. On one server the set is
// the cheapest that there is, among r.limits.offers offers, beyond them one after the other; over several servers it is put together greedily, and
// where that fails all sets of so many offers are tried. That counts against no budget. Where it returns false nothing has changed. O(servers 2^offers).
func (a *admission) reclaim(i int, n int64) bool {
	return a.reclaimBy(i, n, func(list []offer) bool { return a.take(i, n, list) || a.takeAny(i, n, list) })
}

// reclaimBy is reclaim by one way to take what is offered.
func (a *admission) reclaimBy(i int, n int64, take func(list []offer) bool) bool {
	if n <= 0 || n > a.r.room[i] {
		return false
	}
	list := a.offers(i)
	for last := range list {
		if last+1 < len(list) && list[last+1].rank == list[last].rank {
			continue
		}
		if a.enough(i, n, list[:last+1]) && take(list[:last+1]) {
			return true
		}
	}
	return false
}

// enough reports whether the cluster as one server has room for n containers of application i once all in list have given up what
// they offer. O(servers x kinds + offers).
func (a *admission) enough(i int, n int64, list []offer) bool {
	free := make(apportion.Resources, len(a.r.total))
	for k := range free {
		free[k] = a.free(k)
	}
	seen := make(map[int]bool, len(list))
	// From the back, so that of two offers of one application the larger counts.
	for at := len(list) - 1; at >= 0; at-- {
		if o := list[at]; !seen[o.v] {
			seen[o.v] = true
			for k, q := range a.r.problem.Applications[o.v].Demand {
				free[k] += a.gives(o) * q
			}
		}
	}
	return a.r.problem.Applications[i].Demand.CountIn(free) >= n
}

// allowed reports whether what was taken by an offer may go to n containers of application i that are still to come, and to those
// that it has. By level applications are suspended alone: to shrink them is for the budget. What is recent gives by a guarantee alone.
func (a *admission) allowed(o offer, i int, n int64) bool {
	by := a.right(i, o.v, n)
	return by == byGuarantee || o.suspends && by != noRight && !a.r.recent(o.v)
}

// allAllowed reports whether all that was taken may go to application i, which is in.
func (a *admission) allAllowed(taken []offer, i int) bool {
	return !slices.ContainsFunc(taken, func(o offer) bool { return !a.allowed(o, i, 0) })
}

// gives returns how many containers an offer is of.
func (a *admission) gives(o offer) int64 {
	has := solver.Containers(a.counts[o.v])
	if o.suspends {
		return has
	}
	return has - a.least(o.v)
}

// give takes away what an offer is of: all, or from server j one number of containers after the other, until there is room for n of
// application i or the rest is within a guarantee.
func (a *admission) give(o offer, i, j int, n int64) {
	if o.suspends {
		a.remove(o.v)
		return
	}
	_, b := a.r.fork(i, o.v)
	for a.r.most(i, j, a.room(i, j)) < n {
		now := a.counts[o.v]
		if !a.stepDown(o.v, j) {
			return
		}
		if !a.spares(o.v, b) {
			a.remove(o.v)
			a.put(o.v, now)
			return
		}
	}
}

// stepDown takes from application v what lies between its number of containers and the next lower one, all of it from server j. It
// changes nothing and returns false where v may have no less, or has not so much there.
func (a *admission) stepDown(v, j int) bool {
	if a.r.sliced(v) {
		return false
	}
	app, now := a.r.app(v), a.counts[v]
	next := app.AtMost(solver.Containers(now) - 1)
	rest := slices.Clone(now)
	at := slices.IndexFunc(rest, func(p apportion.Placement) bool { return p.Server == j })
	if next < a.least(v) || at < 0 || rest[at].Count < solver.Containers(now)-next {
		return false
	}
	if rest[at].Count -= solver.Containers(now) - next; rest[at].Count == 0 {
		rest = slices.Delete(rest, at, at+1)
	}
	a.remove(v)
	a.put(v, rest)
	return true
}

// take takes application i in with n containers, with what has to be taken for that out of list. Where it returns false nothing has
// changed.
func (a *admission) take(i int, n int64, list []offer) bool {
	all, single := make([][]bundle, len(a.left)), -1
	for j := range all {
		all[j] = a.bundles(i, j, n, list)
		if int64(len(all[j])) > n && (single < 0 || all[j][n].cheaper(&all[single][n])) {
			single = j
		}
	}
	places, cost := gathered(all, n, a.r.problem.Applications[i].MaxServers)
	if single < 0 {
		return places != nil && a.carryOut(i, places, all)
	}
	// Over several servers one application may have been counted on more than it can give.
	return places != nil && cost < all[single][n].cost && a.carryOut(i, places, all) ||
		a.carryOut(i, []apportion.Placement{{Server: single, Count: n}}, all)
}

// carryOut takes what the bundles of these places say, puts application i there, and gives back what was taken in vain, the dearest
// first. It changes nothing and returns false where the rules do not allow the whole.
func (a *admission) carryOut(i int, places []apportion.Placement, all [][]bundle) bool {
	before := make(map[int][]apportion.Placement)
	var taken []offer
	for _, p := range places {
		for _, o := range all[p.Server][p.Count].set {
			if _, known := before[o.v]; !known {
				before[o.v], taken = a.counts[o.v], append(taken, o)
			}
			a.give(o, i, p.Server, p.Count)
		}
	}
	fits := a.fits(i, places)
	a.put(i, places)
	for at := len(taken) - 1; fits && at >= 0; at-- {
		v := taken[at].v
		rest := slices.Delete(slices.Clone(taken), at, at+1)
		now := a.remove(v)
		if !a.fits(v, before[v]) {
			a.put(v, now)
		} else if a.put(v, before[v]); a.allAllowed(rest, i) {
			taken = rest
		} else {
			a.remove(v)
			a.put(v, now)
		}
	}
	if !fits || !a.allAllowed(taken, i) {
		a.remove(i)
		for v, placed := range before {
			a.remove(v)
			a.put(v, placed)
		}
		return false
	}
	a.takings++
	a.enter(i)
	a.letGo(i, taken)
	return true
}

// letGo settles what becomes of those that application i has taken from: who has lost all goes elsewhere, or is suspended.
func (a *admission) letGo(i int, taken []offer) {
	why := make([]right, len(taken))
	for at, o := range taken {
		why[at] = a.right(i, o.v, 0)
		if len(a.counts[o.v]) == 0 {
			a.leaveOut(o.v)
		}
	}
	for at, o := range taken {
		switch {
		case a.in[o.v]:
		// To be suspended would have cost nothing either.
		case a.elsewhere(o.v, i, taken):
			a.enter(o.v)
		default:
			a.preempted[a.r.of[o.v]] = a.r.preemptedFor(o.v, i, why[at])
			continue
		}
		a.yield(o.v)
	}
}

// elsewhere places application v anew, if application i may have taken what the others have lost all the same.
func (a *admission) elsewhere(v, i int, taken []offer) bool {
	if !a.anew(v) {
		return false
	}
	if a.allAllowed(taken, i) {
		return true
	}
	for _, e := range a.r.options(v) {
		a.remove(e)
	}
	return false
}

// preemptedFor says why application v is suspended: for application i, by this rule. It has no Need and Have: what the other one
// takes is not what this one would have to be given.
func (r *resolved) preemptedFor(v, i int, by right) apportion.Reason {
	apps := r.problem.Applications
	text := fmt.Sprintf("it makes room for %q, which has priority %d above its %d", apps[i].ID, apps[i].Priority, apps[v].Priority)
	switch _, b := r.fork(i, v); by {
	case byGuarantee:
		text = fmt.Sprintf("it makes room for %q, whose queue stays within its guarantee; queue %q keeps its own", apps[i].ID, r.queueID(b))
	case byLevel:
		text = fmt.Sprintf("it makes room for %q, whose queue has no more for its weight than queue %q", apps[i].ID, r.queueID(b))
	}
	return apportion.Reason{Constraint: solver.Capacity, Applications: []string{apps[i].ID}, Text: text}
}
