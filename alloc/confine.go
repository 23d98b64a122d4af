// This file chooses the domains of each application in a draft, and holds P2 to them, [Program §13].

package alloc

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/domain"
	"github.com/apportion/apportion/alloc/solver"
)

// parts returns in which domains n containers of application i go, by what is left for it; nil: they do not fit.
func (d *draft) parts(i int, n int64) []domain.Part {
	// One that may grow goes where it can.
	app := &d.r.problem.Applications[i]
	return d.r.topology.Choose(d.r.wishes[i], d.domainRooms(i), n, max(n, min(app.Max, d.r.room[i])))
}

// domainRooms returns how many containers of application i have room in each domain of the narrowest level that it asks about.
func (d *draft) domainRooms(i int) []int64 {
	return d.r.rooms(i, d.r.wishes[i].Leaf(), func(j int) apportion.Resources { return d.room(i, j) })
}

// confine holds P2 to the domains of what each has under counts, one entry for each application of the problem, and to the places of what
// has slices; nil: to none. What may be nowhere else grows where it is, and what has nothing is held to its home.
func (r *resolved) confine(counts solver.Counts) {
	if r.leafOf == nil {
		return
	}
	r.confined = make([][]int, len(r.confined))
	for i := range counts {
		w := r.wishes[i]
		if w != nil && r.sliced(i) && len(counts[i]) == 0 {
			r.confined[i] = []int{} // P2 knows no slices
		}
		if w == nil || r.confined[i] != nil || len(counts[i]) == 0 && r.home[i] == domain.None {
			continue
		}
		if r.sliced(i) {
			if r.fixed == nil {
				r.fixed = make([][]apportion.Placement, len(counts))
			}
			r.fixed[i] = counts[i]
		}
		if w.Within == domain.None {
			continue
		}
		domains, _ := r.domainsOf(w.Within, counts[i])
		if len(counts[i]) == 0 {
			domains = []int{r.home[i]}
		}
		// Other options of one application are held to the same.
		for _, e := range r.options(i) {
			if e == i || len(counts[i]) > 0 || r.confined[e] == nil {
				r.confined[e] = r.classesIn(e, w.Within, domains, nil)
			}
		}
	}
}

// sliced reports whether application i has slices.
func (r *resolved) sliced(i int) bool { return r.problem.Applications[i].Slices != nil }

// mustBeIn reports whether application i is in nothing but the domains that it asks for: where these are is chosen before a solver is asked.
func (r *resolved) mustBeIn(i int) bool { return r.narrowest(i) != domain.None }

// narrowest returns the level whose domains hold application i, or its slices, whole; None: it may be anywhere.
func (r *resolved) narrowest(i int) int {
	if w := r.wishes[i]; w != nil {
		return max(w.Within, w.SliceWithin)
	}
	return domain.None
}

// sliceGroups lists the servers of each domain that slices of application i are within, and how many containers one has; all servers and 1
// where it has none.
func (r *resolved) sliceGroups(i int) (groups [][]int, slice int64) {
	if !r.sliced(i) {
		groups = [][]int{make([]int, len(r.capacity))}
		for j := range groups[0] {
			groups[0][j] = j
		}
		return groups, 1
	}
	level := r.wishes[i].SliceWithin
	groups = make([][]int, r.topology.Domains(level))
	for j := range r.capacity {
		if at := r.topology.Of(level, j); at >= 0 {
			groups[at] = append(groups[at], j)
		}
	}
	return groups, r.wishes[i].Slice
}

// anyMustBeIn reports whether any application is in nothing but the domains that it asks for.
func (r *resolved) anyMustBeIn() bool {
	for i := range r.wishes {
		if r.mustBeIn(i) {
			return true
		}
	}
	return false
}

// settleHomes gives each application that is in and must be within one domain the one that it is in, or else the one with most room for it.
func (d *draft) settleHomes() {
	for o, entries := range d.r.entries {
		i := d.r.inUse(o, d.counts)
		for _, e := range entries {
			d.r.home[e] = domain.None
		}
		if w := d.r.wishes[i]; w != nil && w.Within != domain.None && d.in[i] {
			at := d.home(i)
			for _, e := range entries {
				d.r.home[e] = at
			}
		}
	}
}

// home returns the domain that application i, which must be within one, is in, or the one with most room for it.
func (d *draft) home(i int) int {
	if in, _ := d.r.domainsOf(d.r.wishes[i].Within, d.counts[i]); len(in) > 0 {
		return in[0]
	}
	_, at := d.r.topology.Most(d.r.wishes[i], d.domainRooms(i))
	return max(at, 0)
}

// bind makes P2 hold to what is reserved, to the domains in the draft and to the places of what has slices there.
func (d *draft) bind(list []*reserved) {
	d.r.keep(nil, nil)
	if d.r.leafOf != nil {
		d.settleHomes()
	}
	d.r.keep(list, d.counts)
}

// inDomains tries to take application i in by how, in each domain of a level, those with the most room first; None: anywhere.
func (d *draft) inDomains(i, level int, how func(i int) bool) bool {
	if level == domain.None {
		return how(i)
	}
	w, n := d.r.wishes[i], max(1, d.least(i))
	room, empty := make([]int64, d.r.topology.Domains(level)), make([]int64, d.r.topology.Domains(level))
	for at, n := range d.domainRooms(i) {
		room[d.r.topology.Above(level, w.Leaf(), at)] += n
	}
	for at, n := range d.r.rooms(i, w.Leaf(), d.r.whole) {
		empty[d.r.topology.Above(level, w.Leaf(), at)] += n
	}
	list := make([]int, 0, len(room))
	for at := range room {
		if empty[at] >= n {
			list = append(list, at)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return int(min(1, max(-1, room[b]-room[a]))) })
	before := d.r.confined[i]
	for _, at := range list {
		d.r.confined[i] = d.r.classesIn(i, level, []int{at}, before)
		done := how(i)
		if d.r.confined[i] = before; done {
			return true
		}
	}
	return false
}

// reclaimInDomains is reclaim in a domain that holds application i, or all its slices; else slices go where others can give up enough together.
func (a *admission) reclaimInDomains(i int, n int64) bool {
	return a.inDomains(i, a.r.narrowest(i), func(i int) bool { return a.reclaim(i, n) }) ||
		a.r.sliced(i) && a.reclaimBy(i, n, func(list []offer) bool { return a.takeSlices(i, n, list) })
}

// growSlices gives those with slices that are placed anew, or have been moved, so many of them as they are due and as there is room for beside
// all that are in: P2 changes nothing of them. O(applications with slices x log numbers) choices of domains.
func (d *draft) growSlices() {
	if d.r.leafOf == nil {
		return
	}
	apps := d.taken()
	shares := d.r.shares(apps)
	for at, i := range apps {
		app := d.r.app(i)
		if !d.r.sliced(i) || !d.moved[i] || len(d.r.options(i)) > 1 || !(app.Delta > 0) {
			continue
		}
		before := d.remove(i)
		for n := app.AtMost(int64(shares[at]/app.Delta + ceilTolerance)); ; n = app.AtMost(n - 1) {
			if n <= solver.Containers(before) {
				d.put(i, before)
				break
			}
			if d.place(i, n) {
				break
			}
		}
	}
}

// classesAround lists the classes that application i may use without leaving the domain that these places are in; nil: all that are open.
func (r *resolved) classesAround(i int, placed []apportion.Placement) []int {
	w := r.wishes[i]
	if w == nil || w.Within == domain.None || len(placed) == 0 {
		return r.confined[i]
	}
	domains, _ := r.domainsOf(w.Within, placed)
	return r.classesIn(i, w.Within, domains, nil)
}

// isConfined reports whether P2 holds any application to domains or to the places of slices.
func (r *resolved) isConfined() bool {
	return r.leafOf != nil && (slices.ContainsFunc(r.confined, func(classes []int) bool { return classes != nil }) ||
		r.fixed != nil && slices.ContainsFunc(r.wishes, func(w *domain.Wish) bool { return w != nil && w.SliceWithin != domain.None }))
}

// setHomes takes over from a decision in which domains those are held that have no containers, and refuses a domain that is not there.
func (r *resolved) setHomes(d *Decision) error {
	if r.leafOf == nil {
		return nil
	}
	positions := appIndex(r.given.Applications)
	for at := range d.Shares {
		share := &d.Shares[at]
		o, known := positions[share.ID]
		if !known || share.Domain == "" || share.Containers > 0 {
			continue
		}
		i := r.entries[o][0]
		w := r.wishes[i]
		if w == nil || w.Within == domain.None {
			return mismatch("Shares.Domain", listIDs([]string{share.ID})+" need not be within one")
		}
		home := 0
		for home < r.topology.Domains(w.Within) && r.topology.Name(w.Within, home) != share.Domain {
			home++
		}
		if home == r.topology.Domains(w.Within) {
			return mismatch("Shares.Domain", listIDs([]string{share.ID})+" is in none that is there")
		}
		for _, e := range r.entries[o] {
			r.home[e] = home
		}
	}
	return nil
}

// domainName returns the domain that application i is held to with these places; empty where there is none.
func (r *resolved) domainName(i int, placed []apportion.Placement) string {
	w := r.wishes[i]
	if w == nil || w.Within == domain.None {
		return ""
	}
	if len(placed) > 0 {
		if domains, _ := r.domainsOf(w.Within, placed); len(domains) == 1 {
			return r.topology.Name(w.Within, domains[0])
		}
		return ""
	}
	if r.home[i] == domain.None {
		return ""
	}
	return r.topology.Name(w.Within, r.home[i])
}

// soonestInDomains is soonest in each domain that application i could be within, of which the one counts that is there the earliest, then
// the one that waits for fewest; had stays where it is as good.
func (d *draft) soonestInDomains(i int, had *reserved) *reserved {
	var best *reserved
	level := domain.None
	if w := d.r.wishes[i]; w != nil {
		level = w.Within
	}
	d.inDomains(i, level, func(i int) bool {
		v := d.soonest(i, d.keptIn(i, had))
		if v != nil && (best == nil || v.at < best.at || v.at == best.at && len(v.waits) < len(best.waits) ||
			had != nil && v.at == best.at && len(v.waits) == len(best.waits) && slices.Equal(v.servers, had.servers)) {
			best = v
		}
		return false
	})
	return best
}

// keptIn returns what was reserved before where application i may still have all of it; nil: it may not.
func (d *draft) keptIn(i int, had *reserved) *reserved {
	if had == nil || d.r.tornText(i, had.servers) != "" || slices.ContainsFunc(had.servers, func(p apportion.Placement) bool { return !d.r.mayCome(i, p.Server) }) {
		return nil
	}
	return had
}
