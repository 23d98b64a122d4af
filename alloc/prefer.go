// This file gathers applications that prefer few domains, charges them for those beyond the fewest, and chooses their numbers by that,
// [Program §13].

package alloc

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/domain"
	"github.com/apportion/apportion/alloc/solver"
)

// prefers reports whether application i prefers few domains.
func (r *resolved) prefers(i int) bool {
	return r.wishes[i] != nil && r.wishes[i].Prefer != domain.None
}

// apart returns what application i loses by the domains that these places are in, of the levels down to the one that it prefers: for each
// beyond those of its best choice on empty servers as much as for a server beyond the fewest, [Program §14].
func (r *resolved) apart(i int, placed []apportion.Placement) float64 {
	if len(placed) < 2 || !r.prefers(i) || r.version < domainPrices {
		return 0
	}
	return r.apartIn(i, solver.Containers(placed), r.domainsUsedBy(i, placed))
}

// apartIn is apart for n containers in so many domains by level.
func (r *resolved) apartIn(i int, n int64, used []int) float64 {
	dense := r.app(i)
	each := dense.Torn(n).Each
	if each == 0 || slices.Max(used) < 2 {
		return 0
	}
	leaf, extra := r.wishes[i].Leaf(), 0
	best := r.topology.Choose(r.wishes[i], r.anywhere().rooms(i, leaf, r.whole), n, n)
	if best == nil {
		return 0
	}
	for level, fewest := range r.topology.Used(leaf, best)[:len(used)] {
		extra += max(0, used[level]-fewest)
	}
	return float64(extra) * each
}

// losesByDomains reports whether any application loses by its domains.
func (r *resolved) losesByDomains(counts solver.Counts) bool {
	for i := range counts {
		if r.apart(i, counts[i]) > 0 {
			return true
		}
	}
	return false
}

// consolidateDomains places those of a solution that are placed anew and prefer few domains again with the numbers that they have, the
// largest first: all of them, if these are then in fewer domains, else one after the other, each in the fewest that the others leave room
// for. That is exact for each, and not for all together.
func (r *resolved) consolidateDomains(a *attempt) {
	if r.leafOf == nil {
		return
	}
	d, moving := r.gathering(a)
	moving = slices.DeleteFunc(moving, func(i int) bool { return !r.prefers(i) })
	if len(moving) == 0 || !d.allInFewer(moving, slices.Clone(d.counts)) && !d.eachInFewer(moving) {
		return
	}
	r.setCounts(a, d.counts)
}

// gathering is a draft that has what a solution places, and places applications in few domains; moving are those that do not stay.
func (r *resolved) gathering(a *attempt) (d *draft, moving []int) {
	d, moving = r.asPlaced(a)
	all := slices.Clone(d.counts)
	for _, i := range moving {
		d.put(i, all[i])
	}
	d.gathers = true
	return d, moving
}

// chooseNumbers lets what is placed anew make way for each application that loses by its domains, and places those that still do again:
// with the number, no more than it has, that is worth most less what domains and a restart cost, or as it ran, beside all others, one after
// the other. from is the draft that P2 was made of. What it finds is a solution of P2 too, and the bound stays that without what domains
// cost. O(numbers) choices of domains and checks for each of them.
func (r *resolved) chooseNumbers(from *draft, a *attempt) {
	if r.leafOf == nil {
		return
	}
	d, moving := r.gathering(a)
	moving = slices.DeleteFunc(moving, r.sliced)
	allowed := func() bool {
		counts := gather(a.apps, d.counts)
		return a.instance.Check(counts) == nil &&
			!(r.guaranteed && r.takesGuaranteed(from, &attempt{apps: a.apps, solution: &solver.Solution{Counts: counts}}))
	}
	changed := false
	for _, i := range moving {
		if r.prefers(i) && r.apart(i, d.counts[i]) > 0 {
			changed = d.makeWay(i, moving, allowed) || changed
		}
	}
	for at, i := range a.apps {
		if !r.sliced(i) && r.apart(i, d.counts[i]) > 0 {
			changed = d.together(i, &a.instance.Apps[at], allowed) || changed
		}
	}
	if changed {
		r.setCounts(a, d.counts)
	}
}

// together is chooseNumbers for one application by its dense form; it reports whether it has other places now.
func (d *draft) together(i int, app *solver.App, allowed func() bool) bool {
	best := d.r.netWorth(d.r.of[i], d.counts) + solver.ObjectiveTolerance
	before := d.remove(i)
	placed := before
	compare := func() {
		if worth := d.r.netWorth(d.r.of[i], d.counts); worth > best && allowed() {
			best, placed = worth, d.counts[i]
		}
		d.remove(i)
	}
	if ran := d.r.previous[i]; len(ran) > 0 && d.fits(i, ran) {
		d.put(i, ran)
		compare()
	}
	for n := solver.Containers(before); n > 0; n = app.AtMost(n - 1) {
		// More than its number is worth no places can bring.
		if float64(app.Value*float64(n))+app.Extra(n) > best && d.place(i, n) {
			compare()
		}
	}
	d.put(i, placed)
	return !solver.SamePlaces(placed, before)
}

// setCounts gives a copy of the solution of a the counts, one entry for each application of the problem, of which nothing is proven but what
// they are worth.
func (r *resolved) setCounts(a *attempt, counts solver.Counts) {
	s := *a.solution
	s.Counts = gather(a.apps, counts)
	s.Objective = a.instance.Objective(s.Counts)
	s.Bound = max(s.Bound, s.Objective)
	if s.Proven = min(s.Proven, solver.ByAdjusted); s.Objective < a.solution.Objective-solver.ObjectiveTolerance {
		s.Proven = solver.ByNothing
	}
	a.solution = &s
}

// allInFewer places all of these applications anew, if they are in fewer domains then; else it changes nothing and returns false.
func (d *draft) allInFewer(list []int, all solver.Counts) bool {
	for _, i := range list {
		d.remove(i)
	}
	placed := !slices.ContainsFunc(list, func(i int) bool { return !d.place(i, solver.Containers(all[i])) })
	if placed && slices.Compare(d.domainsUsed(list, d.counts), d.domainsUsed(list, all)) < 0 {
		d.eachInFewer(list)
		return true
	}
	for _, i := range list {
		d.remove(i)
	}
	for _, i := range list {
		d.put(i, all[i])
	}
	return false
}

// eachInFewer places each of these applications in fewer domains where there is room for that, and reports whether there was for any.
func (d *draft) eachInFewer(list []int) bool {
	better := false
	for _, i := range list {
		before := d.remove(i)
		used := d.r.domainsUsedBy(i, before)
		switch {
		case !d.place(i, solver.Containers(before)):
			d.put(i, before)
		case slices.Compare(d.r.domainsUsedBy(i, d.counts[i]), used) < 0:
			better = true
		default:
			d.remove(i)
			d.put(i, before)
		}
	}
	return better
}

// domainsUsed counts the domains of each level that these applications are in, together.
func (d *draft) domainsUsed(list []int, counts solver.Counts) []int {
	sum := make([]int, d.r.topology.Levels())
	for _, i := range list {
		for level, n := range d.r.domainsUsedBy(i, counts[i]) {
			sum[level] += n
		}
	}
	return sum
}

// domainsUsedBy counts the domains of each level down to the one that application i prefers to be few.
func (r *resolved) domainsUsedBy(i int, placed []apportion.Placement) []int {
	used := make([]int, r.wishes[i].Prefer+1)
	for level := range used {
		in, _ := r.domainsOf(level, placed)
		used[level] = len(in)
	}
	return used
}
