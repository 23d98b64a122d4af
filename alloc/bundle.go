// This file finds the cheapest sets of what can be taken on each server, and puts servers together, [Program §7], point 2.

package alloc

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// taking is an attempt to take room: the places that the application would have, and what was taken so far.
type taking struct {
	*admission
	i, server int
	n         int64 // how many containers of i are wanted
	on        []offer
	taken     []offer
	cost      int64
	best      []bundle
}

// bundle is the cheapest set of offers with which a server has room for a number of containers.
type bundle struct {
	cost int64
	set  []offer
}

// cheaper reports whether b costs less than c, or as much with fewer offers, or as many of which the dearest comes first.
func (b *bundle) cheaper(c *bundle) bool {
	order := cmp.Or(cmp.Compare(b.cost, c.cost), cmp.Compare(len(b.set), len(c.set)))
	if order == 0 && len(b.set) > 0 {
		order = cmp.Compare(b.set[len(b.set)-1].at, c.set[len(c.set)-1].at)
	}
	return order < 0
}

// bundles returns for server j, by number of containers of application i up to n, the cheapest of list that make room for them.
func (a *admission) bundles(i, j int, n int64, list []offer) []bundle {
	t := &taking{admission: a, i: i, server: j, n: n}
	here := func(p apportion.Placement) bool { return p.Server == j }
	if !a.r.mayCome(i, j) {
		return nil
	}
	for _, o := range list {
		if slices.ContainsFunc(a.counts[o.v], here) {
			t.on = append(t.on, o)
		}
	}
	all := t.on
	t.on = all[:min(len(all), a.r.limits.offers)]
	if t.combine(0); int64(len(t.best)) <= n && len(t.on) < len(all) {
		t.pile(all)
	}
	return t.best
}

// pile notes what the offers of a list make room for one after the other, where no set of the first ones is enough. What has been taken
// in vain by then is given back where it is carried out.
func (t *taking) pile(list []offer) {
	var before [][]apportion.Placement
	for _, o := range list {
		if slices.ContainsFunc(t.taken, func(x offer) bool { return x.v == o.v }) {
			continue
		}
		before = append(before, t.counts[o.v])
		t.give(o, t.i, t.server, t.n)
		t.taken, t.cost = append(t.taken, o), t.cost+o.cost
		if t.note() == t.n {
			break
		}
	}
	for at := len(before) - 1; at >= 0; at-- {
		v := t.taken[at].v
		t.remove(v)
		t.put(v, before[at])
	}
	t.taken, t.cost = nil, 0
}

// combine notes what the offers that are taken make room for, and goes on with each of those from the one at next on.
func (t *taking) combine(next int) {
	if t.note() == t.n {
		return
	}
	for at := next; at < len(t.on); at++ {
		o := t.on[at]
		if slices.ContainsFunc(t.taken, func(x offer) bool { return x.v == o.v }) {
			continue
		}
		before := t.counts[o.v]
		t.give(o, t.i, t.server, t.n)
		t.taken, t.cost = append(t.taken, o), t.cost+o.cost
		t.combine(at + 1)
		t.taken, t.cost = t.taken[:len(t.taken)-1], t.cost-o.cost
		t.remove(o.v)
		t.put(o.v, before)
	}
}

// note compares what is taken with the cheapest so far, and returns for how many containers there is room by it; -1 where it may not be
// taken. What is not allowed may be with more: an application that is taken from by priority leaves room within a guarantee.
func (t *taking) note() int64 {
	if slices.ContainsFunc(t.taken, func(o offer) bool { return !t.allowed(o, t.i, t.n) }) {
		return -1
	}
	room := min(t.n, t.r.most(t.i, t.server, t.room(t.i, t.server)))
	for int64(len(t.best)) <= room {
		t.best = append(t.best, bundle{cost: math.MaxInt64})
	}
	this := bundle{t.cost, slices.Clone(t.taken)}
	for m := room; m >= 0 && this.cheaper(&t.best[m]); m-- {
		t.best[m] = this
	}
	return room
}

// gathered puts n containers on servers, at most most of these where that is not 0, so that each step costs the least for each
// container; nil where the bundles do not suffice.
func gathered(all [][]bundle, n, most int64) (places []apportion.Placement, cost int64) {
	has := make([]int64, len(all))
	for servers := int64(0); n > 0; {
		server, count, least := -1, int64(0), 0.0
		for j := range all {
			for m := has[j] + 1; m < int64(len(all[j])) && m <= has[j]+n; m++ {
				// A server more must suffice where no other one may follow.
				if has[j] == 0 && most > 0 && (m < n && servers+1 >= most || servers >= most) {
					continue
				}
				price := float64(all[j][m].cost-all[j][has[j]].cost) / float64(m-has[j])
				if server < 0 || price < least || price == least && m-has[j] > count {
					server, count, least = j, m-has[j], price
				}
			}
		}
		if server < 0 {
			return nil, 0
		}
		if has[server] == 0 {
			servers++
		}
		has[server] += count
		n -= count
	}
	for j, count := range has {
		if count > 0 {
			places, cost = append(places, apportion.Placement{Server: j, Count: count}), cost+all[j][count].cost
		}
	}
	return places, cost
}

// takeSlices takes application i, which has slices, in with n containers: in the domains that Choose finds if all that is offered were
// taken, in each with what is cheapest there. Where it returns false nothing has changed.
func (a *admission) takeSlices(i int, n int64, list []offer) bool {
	tree, w := a.r.topology, a.r.wishes[i]
	all, room := make([][]bundle, len(a.left)), make([]int64, tree.Domains(w.Leaf()))
	for j := range all {
		if at := tree.Of(w.Leaf(), j); at >= 0 {
			all[j] = a.bundles(i, j, n, list)
			room[at] += max(0, int64(len(all[j]))-1)
		}
	}
	var places []apportion.Placement
	for _, part := range tree.Choose(w, room, n, n) {
		here := make([][]bundle, len(all))
		for j := range all {
			if tree.Of(w.Leaf(), j) == part.Domain {
				here[j] = all[j]
			}
		}
		some, _ := gathered(here, part.Containers, 0)
		places = append(places, some...)
	}
	most := a.r.problem.Applications[i].MaxServers
	if len(places) == 0 || most > 0 && int64(len(places)) > most {
		return false
	}
	slices.SortFunc(places, func(x, y apportion.Placement) int { return x.Server - y.Server })
	return a.carryOut(i, places, all)
}

// takeAny takes application i in with n containers by any set of what is offered, the cheapest first, where one of few offers: on several
// servers each may give less than on any of them. Where it returns false nothing has changed. O(2^offers servers).
func (a *admission) takeAny(i int, n int64, list []offer) bool {
	if len(list) > a.r.limits.offers {
		return false
	}
	var sets []bundle
	for mask := range 1 << len(list) {
		var b bundle
		seen := make(map[int]bool)
		for at, o := range list {
			if mask>>at&1 == 1 {
				b.set, b.cost, seen[o.v] = append(b.set, o), b.cost+o.cost, true
			}
		}
		if len(seen) == len(b.set) { // each gives once
			sets = append(sets, b)
		}
	}
	slices.SortStableFunc(sets, func(x, y bundle) int { return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(len(x.set), len(y.set))) })
	return slices.ContainsFunc(sets, func(b bundle) bool { return a.takeSet(i, n, b.set) })
}

// takeSet takes application i in with n containers by a set of offers, wherever there is room then. Where it returns false nothing has changed.
func (a *admission) takeSet(i int, n int64, set []offer) bool {
	before := make(map[int][]apportion.Placement)
	// From the back: what suspends comes first, so that no more is shrunk than has to be.
	for at := len(set) - 1; at >= 0; at-- {
		v := set[at].v
		before[v] = a.counts[v]
		for _, p := range before[v] {
			a.give(set[at], i, p.Server, n)
		}
	}
	fits := a.place(i, n)
	places := a.remove(i)
	all := make([][]bundle, len(a.left))
	for v, placed := range before {
		a.remove(v)
		a.put(v, placed)
	}
	for _, p := range places {
		all[p.Server] = make([]bundle, p.Count+1)
		here := &all[p.Server][p.Count].set
		for _, o := range set {
			if on(a.counts[o.v], p.Server) > 0 {
				*here = append(*here, o)
			}
		}
	}
	return fits && a.carryOut(i, places, all)
}
