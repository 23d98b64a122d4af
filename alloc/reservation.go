// This file keeps what is reserved from all others, on servers and below ceilings, [Program §8], points 3 to 5.

package alloc

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// reserved is what is kept for one application that is due.
type reserved struct {
	i       int // the entry that it is for
	servers []apportion.Placement
	at      float64 // when the last of waits has ended: 0 is now, +Inf is not known
	waits   []int   // the entries whose end is waited for, ascending
}

// containers returns how many are reserved, and 0 where a ceiling is what is waited for.
func (v *reserved) containers() int64 { return solver.Containers(v.servers) }

// keeps returns what others may not take of server j, beside what those that are waited for have there by now; nil: nothing is reserved
// there. Those in ended have nothing any more.
func (r *resolved) keeps(v *reserved, j int, counts solver.Counts, ended ...int) apportion.Resources {
	at := slices.IndexFunc(v.servers, func(p apportion.Placement) bool { return p.Server == j })
	if at < 0 {
		return nil
	}
	kept := make(apportion.Resources, len(r.total))
	for k, q := range r.problem.Applications[v.i].Demand {
		kept[k] = q * v.servers[at].Count
	}
	for _, w := range v.waits {
		if !slices.Contains(ended, w) {
			r.lessHeld(kept, w, on(counts[w], j))
		}
	}
	return kept
}

// keepsBelow is keeps for the c-th ceiling: every one above an application is kept open for its fewest containers.
func (r *resolved) keepsBelow(v *reserved, c int, counts solver.Counts) apportion.Resources {
	if r.tree == nil || !slices.Contains(r.above[v.i], c) {
		return nil
	}
	app := r.app(v.i)
	kept := make(apportion.Resources, len(r.total))
	for k, q := range app.Demand {
		kept[k] = q * app.AtLeast(1)
	}
	for _, w := range v.waits {
		if slices.Contains(r.above[w], c) {
			r.lessHeld(kept, w, solver.Containers(counts[w]))
		}
	}
	return kept
}

// lessHeld takes what n containers of application w use off kept, which does not go below nothing.
func (r *resolved) lessHeld(kept apportion.Resources, w int, n int64) {
	for k, q := range r.problem.Applications[w].Demand {
		kept[k] = max(0, kept[k]-n*q)
	}
}

// on returns how many of these containers are on server j.
func on(placed []apportion.Placement, j int) int64 {
	for _, p := range placed {
		if p.Server == j {
			return p.Count
		}
	}
	return 0
}

// respects reports whether application i may not be put on what is reserved by v: it is for another one, whose start i would delay. What
// is waited for may use its own room, and so may what has ended by then, where that time is known.
func (d *draft) respects(v *reserved, i int) bool {
	ends := d.r.ends(i)
	return d.r.of[v.i] != d.r.of[i] && !slices.Contains(v.waits, i) && !slices.Contains(d.lifted, v) &&
		!(ends <= v.at && !math.IsInf(v.at, 1))
}

// ends returns when application i has ended at the latest, from now; +Inf where nobody knows.
func (r *resolved) ends(i int) float64 {
	if ends := r.problem.Applications[i].Ends; ends != nil {
		return *ends
	}
	return math.Inf(1)
}

// room returns what is left on server j for application i: what is reserved for others is not. It may be below nothing. The vector is
// only read.
func (d *draft) room(i, j int) apportion.Resources {
	left := d.left[j]
	for _, v := range d.reserved {
		if kept := d.r.keeps(v, j, d.counts); kept != nil && d.respects(v, i) {
			left = less(left, kept)
		}
	}
	return left
}

// ceilingLeft returns what is left below the c-th ceiling for application i.
func (d *draft) ceilingLeft(i, c int) apportion.Resources {
	left := d.below[c]
	for _, v := range d.reserved {
		if kept := d.r.keepsBelow(v, c, d.counts); kept != nil && d.respects(v, i) {
			left = less(left, kept)
		}
	}
	return left
}

// keptFrom returns how much of kind k is reserved on all servers together and not for application i.
func (d *draft) keptFrom(i, k int) (sum int64) {
	for _, v := range d.reserved {
		if !d.respects(v, i) {
			continue
		}
		for _, p := range v.servers {
			sum += d.r.keeps(v, p.Server, d.counts)[k]
		}
	}
	return sum
}

// waitedFor reports whether anything waits for the end of application i, that another one may not hasten by taking its room.
func (d *draft) waitedFor(i int) bool {
	return slices.ContainsFunc(d.reserved, func(v *reserved) bool { return slices.Contains(v.waits, i) })
}

// keep makes P2 hold to what is reserved: servers and ceilings are smaller by what is kept free, and the applications that are waited
// for stay as they are under counts, one entry for each application of the problem.
func (r *resolved) keep(list []*reserved, counts solver.Counts) {
	r.reserved, r.held, r.heldBelow, r.fixed = list, nil, nil, nil
	r.confine(counts)
	if len(list) == 0 {
		return
	}
	r.held, r.heldBelow = make([]apportion.Resources, len(r.capacity)), make([]apportion.Resources, len(r.limited))
	if r.fixed == nil {
		r.fixed = make([][]apportion.Placement, len(counts))
	}
	add := func(sum *apportion.Resources, kept apportion.Resources) {
		if kept == nil {
			return
		}
		if *sum == nil {
			*sum = make(apportion.Resources, len(kept))
		}
		for k := range kept {
			(*sum)[k] += kept[k]
		}
	}
	for _, v := range list {
		for _, p := range v.servers {
			add(&r.held[p.Server], r.keeps(v, p.Server, counts))
		}
		for c := range r.limited {
			add(&r.heldBelow[c], r.keepsBelow(v, c, counts))
		}
		for _, w := range v.waits {
			r.fixed[w] = counts[w]
		}
	}
}

// less returns capacity without what is kept of it, which may be nil.
func less(capacity, kept apportion.Resources) apportion.Resources {
	if kept == nil {
		return capacity
	}
	rest := capacity.Clone()
	for k := range rest {
		if rest[k] < solver.NoLimit {
			rest[k] -= kept[k]
		}
	}
	return rest
}

// keepIn changes an instance of P2 for the entries in apps so that it holds to what is reserved.
func (r *resolved) keepIn(inst *solver.Instance, apps []int) {
	if r.held != nil {
		inst.Capacity = slices.Clone(inst.Capacity)
		for j := range inst.Capacity {
			inst.Capacity[j] = less(inst.Capacity[j], r.held[j])
		}
		for c := range inst.Groups {
			inst.Groups[c].Ceiling = less(inst.Groups[c].Ceiling, r.heldBelow[c])
		}
	}
	if r.fixed == nil {
		return
	}
	for a, i := range apps {
		if r.fixed[i] != nil {
			r.fix(inst, a, i)
		}
	}
}

// fix makes entry i, at position a of an instance, stay where it is in the draft. What has changed there already is paid for.
func (r *resolved) fix(inst *solver.Instance, a, i int) {
	app := &inst.Apps[a]
	if app.Running && !app.Adjusted(r.fixed[i]) {
		app.Pinned = true
		return
	}
	if app.Running {
		inst.AdjustBudget -= app.Cost
	}
	app.Running, app.Displaced, app.Pinned = true, false, true
	app.Previous, app.Cost, app.Stay = r.fixed[i], 0, 0
}
