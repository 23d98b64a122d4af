// This file takes one application into a draft: where there is room, else where as few others as possible make room by
// going down to their fewest containers.

package alloc

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// admit takes application i in at its fewest containers: where there is room, else where others that may be
// changed make some by going down to theirs. It changes nothing and returns false where it finds no way.
func (d *draft) admit(i int) bool {
	n := d.least(i)
	if n < 0 {
		return false
	}
	// One that is forced off a full server may stay if others make way; that moves nobody twice.
	// Only who runs has places to go back to.
	if d.r.running(i) && d.r.mayStay(i) && d.fits(i, d.r.previous[i]) {
		d.put(i, d.r.previous[i])
		d.enter(i)
		return true
	}
	if !d.place(i, n) && !d.makeRoom(i, n) {
		return false
	}
	d.enter(i)
	return true
}

// makeRoom places n containers of application i after others have gone down to their fewest: one of them if
// that is enough, else more and more of them. It reports whether it did; if not, nothing has changed. At most
// r.limits.victims are asked one by one, and then sets of them that grow by half.
func (d *draft) makeRoom(i int, n int64) bool {
	return !d.packed && !d.lacks(i, n) && d.roomByVictims(i, n)
}

// roomByVictims is makeRoom where all that others could give up is enough.
func (d *draft) roomByVictims(i int, n int64) bool {
	victims, tight := d.victims(i), make(map[string]bool)
	// One alone is tried first, so that as few as possible are adjusted.
	for _, v := range victims {
		if !d.stuck(i, n, v, tight) && d.exchange(i, n, []int{v}) {
			return true
		}
	}
	givers := d.givers(victims)
	return len(givers) > 0 && d.roomBySets(i, n, givers) || d.roomBySets(i, n, victims)
}

// givers lists those of the victims that have more than their fewest, the cheapest and of these those first that give most: what has gone
// down already may only find another place, which in its domains is hard to find.
func (d *draft) givers(victims []int) []int {
	gives := func(v int) int64 { return solver.Containers(d.counts[v]) - max(0, d.least(v)) }
	list := slices.DeleteFunc(slices.Clone(victims), func(v int) bool { return gives(v) <= 0 })
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(d.cost(a), d.cost(b)), cmp.Compare(gives(b), gives(a))) })
	return list
}

// roomBySets is roomByVictims for more and more of these, up to as many as the budget pays for. The set grows by half, so that many victims
// cost few tries.
func (d *draft) roomBySets(i int, n int64, victims []int) bool {
	if !d.r.guaranteed {
		cost := int64(0)
		if most := slices.IndexFunc(victims, func(v int) bool { cost += d.cost(v); return cost > d.budget-d.spent }); most >= 0 {
			victims = victims[:most]
		}
	}
	for last := 2; last < len(victims); last++ {
		if d.exchange(i, n, victims[:last]) {
			return true
		}
		last += last/2 - 1
	}
	return len(victims) > 1 && d.exchange(i, n, victims)
}

// stuck reports whether application v is known to make no room for application i, both of one container: i, which has room nowhere, would
// take the place of v, beside which it had none, and no other server has room for v. tight has what was found, by request.
func (d *draft) stuck(i int, n int64, v int, tight map[string]bool) bool {
	single := n == 1 && solver.Containers(d.counts[v]) == 1 && len(d.r.options(v)) == 1
	if !single || d.r.tree != nil || len(d.reserved) > 0 || d.r.wishes[i] != nil || d.r.wishes[v] != nil {
		return false
	}
	key := d.request(v)
	no, known := tight[key]
	if !known {
		j, _ := d.bestServer(v, 1, nil)
		no = j < 0
		tight[key] = no
	}
	return no
}

// lacks reports whether the cluster as one server had too little of a kind for n containers of application i if all others went down to
// their fewest, whatever that costs: it is known then that nobody can make room. O(kinds), after a change of the draft O(applications x
// kinds).
func (d *draft) lacks(i int, n int64) bool {
	spare := d.giveable()
	for k, q := range d.r.problem.Applications[i].Demand {
		if q > 0 && n > max(0, d.free(k)+spare[k])/q {
			return true
		}
	}
	return false
}

// giveable returns by kind what all that may be changed have beyond their fewest containers; of one with options all that it has. The
// vector is shared.
func (d *draft) giveable() apportion.Resources {
	if d.spare != nil && d.spareAt == d.changes {
		return d.spare
	}
	spare := make(apportion.Resources, len(d.r.total))
	for v, placed := range d.counts {
		if !d.in[v] || d.r.pinned[v] || len(placed) == 0 {
			continue
		}
		n := solver.Containers(placed)
		if len(d.r.options(v)) == 1 {
			n -= min(n, max(0, d.least(v)))
		}
		for k, q := range d.r.problem.Applications[v].Demand {
			spare[k] += n * q
		}
	}
	d.spare, d.spareAt = spare, d.changes
	return spare
}

// victims lists who may go down to fewer containers, or elsewhere, for application i within the budget: those
// whose change costs least come first, then those who give most. Who has been moved already costs nothing more, and so
// is asked before others. O(applications x servers of each x kinds).
func (d *draft) victims(i int) []int {
	app := &d.r.problem.Applications[i]
	type victim struct {
		i     int
		cost  int64
		gives int64
	}
	// Whichever way a victim makes room, exchange places it anew with its fewest containers, here or elsewhere.
	var list []victim
	for v := range d.counts {
		// Pinned and recent ones stay, those without containers have nothing to give, and the budget is what it is.
		cost := d.charge(i, v, max(0, d.least(i)))
		if !d.in[v] || d.r.stays(v) || len(d.counts[v]) == 0 || cost > d.budget-d.spent {
			continue
		}
		demand := d.r.problem.Applications[v].Demand
		// gives counts containers of i that fit where v has left and did not before: who gives none is no
		// victim, however large it is.
		gives := int64(0)
		for _, p := range d.counts[v] {
			left := d.room(i, p.Server)
			room := left.Clone()
			for k, q := range demand {
				room[k] += p.Count * q
			}
			gives += d.r.most(i, p.Server, room) - d.r.most(i, p.Server, left)
		}
		// Below a ceiling that is reached only those help who are below it as well.
		if gives == 0 && d.sharesCeiling(i, v) {
			gives = 1
		}
		if gives > 0 {
			list = append(list, victim{v, cost, min(gives, app.Max)})
		}
	}
	slices.SortStableFunc(list, func(a, b victim) int {
		switch {
		case a.cost != b.cost:
			return cmp.Compare(a.cost, b.cost)
		default:
			return cmp.Compare(b.gives, a.gives)
		}
	})
	// Those beyond the limit are the dearest, and of equals those who give least.
	victims := make([]int, 0, len(list))
	for _, v := range list[:min(len(list), d.r.limits.victims)] {
		victims = append(victims, v.i)
	}
	return victims
}

// sharesCeiling reports whether application v is below a ceiling that leaves too little for application i: what v gives up
// then counts for i wherever it is.
// Without it nobody would be asked in a cluster with free servers whose queue is full.
func (d *draft) sharesCeiling(i, v int) bool {
	// Where the ceilings leave enough it is servers that are short, and the victims' places matter.
	if d.ceilingRoom(i) >= d.least(i) {
		return false
	}
	for _, c := range d.r.above[i] {
		if slices.Contains(d.r.above[v], c) {
			return true
		}
	}
	return false
}

// exchange places n containers of application i, and then the victims anew at their fewest. It changes nothing
// and returns false where that does not fit, or costs more than is left of the budget.
func (d *draft) exchange(i int, n int64, victims []int) bool {
	return !d.short(i, n, victims) && d.exchanged(i, n, victims)
}

// exchanged is exchange where the room is enough as one server.
func (d *draft) exchanged(i int, n int64, victims []int) bool {
	// What each had is kept, so that a failure can put it back just there.
	cost := int64(0)
	before := make([][]apportion.Placement, len(victims))
	for at, v := range victims {
		cost += d.cost(v)
		before[at] = d.remove(v)
	}
	// The newcomer goes first, since the room was made for it. Each victim then finds its fewest containers in what is
	// left, on its own servers or on others.
	done := (cost <= d.budget-d.spent || d.r.guaranteed) && d.place(i, n)
	for placed := 0; done && placed < len(victims); placed++ {
		done = d.anew(victims[placed])
	}
	for at := 0; done && at < len(victims); at++ {
		done = d.leaveGuaranteed(i, victims[at], before[at])
	}
	cost = 0
	for at := 0; done && at < len(victims); at++ {
		cost += d.charge(i, victims[at], 0)
		done = cost <= d.budget-d.spent && d.mayShrink(i, victims[at], before[at])
	}
	if done {
		d.takings++
		for _, v := range victims {
			if d.entitled(i, v, 0) {
				d.yield(v)
			} else {
				d.move(v)
			}
		}
		return true
	}
	// Some of them may have been placed; taking away what has no containers does nothing.
	for _, v := range victims {
		for _, e := range d.r.options(v) {
			d.remove(e)
		}
	}
	d.remove(i)
	for at, v := range victims {
		d.put(v, before[at])
	}
	return false
}

// short reports whether the cluster as one server has too little of a kind for n containers of application i and the fewest of each victim:
// it is known then that there is no exchange. O(victims x kinds).
func (d *draft) short(i int, n int64, victims []int) bool {
	for k, q := range d.r.problem.Applications[i].Demand {
		left := d.free(k) - n*q
		for _, v := range victims {
			left += solver.Containers(d.counts[v])*d.r.problem.Applications[v].Demand[k] - d.leastOf(v, k)
		}
		if left < 0 {
			return true
		}
	}
	return false
}

// charge returns what changing application v for n containers of i that are still to come takes from the budget: nothing where i
// claims them by a guarantee.
func (d *draft) charge(i, v int, n int64) int64 {
	if d.r.guaranteed && d.entitled(i, v, n) {
		return 0
	}
	return d.cost(v)
}

// mayShrink reports whether application v may have come down from what it had to what it has, for i: its queues are left their
// guarantees, or share theirs with i.
func (d *draft) mayShrink(i, v int, before []apportion.Placement) bool {
	a, b := d.r.fork(i, v)
	return a == 0 || solver.Containers(d.counts[v]) >= solver.Containers(before) || d.spares(v, b)
}

// leaveGuaranteed gives application v, which has gone down to its fewest containers for i, so many again that the queues above it are
// left their guarantees, at most what it had before. It returns false where there is no room for them.
func (d *draft) leaveGuaranteed(i, v int, before []apportion.Placement) bool {
	app := d.r.app(v)
	less, n := solver.Containers(d.counts[v]), solver.Containers(before)
	if n <= less || len(d.r.options(v)) > 1 || d.mayShrink(i, v, before) {
		return true
	}
	// Less is too few, and n is not or is all that there was.
	for {
		tried := app.AtLeast(less + (n-less)/2)
		if tried <= less || tried >= n {
			tried = app.AtMost(less + (n-less)/2)
		}
		if tried <= less {
			break
		}
		d.remove(v)
		if !d.place(v, tried) {
			return false
		}
		if d.mayShrink(i, v, before) {
			n = tried
		} else {
			less = tried
		}
	}
	d.remove(v)
	return d.place(v, n)
}

// anew places application i, which has none, with its fewest containers: with the option that it had if there is room, else with
// another.
func (d *draft) anew(i int) bool {
	fewest := func(e int) bool {
		n := d.least(e)
		return n >= 0 && d.place(e, n)
	}
	return fewest(i) || slices.ContainsFunc(d.r.options(i), func(e int) bool { return e != i && d.r.fits(e) && fewest(e) })
}
