// This file says in words what domains hold, how far their choice is certified, and counts those beyond the fewest, [Program §13].

package alloc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// domainText says that application i needs n containers and how many its domains hold, now where that is not negative, and empty; empty
// where it asks for none that could lack room.
func (r *resolved) domainText(i int, n, now int64) string {
	w, app := r.wishes[i], &r.problem.Applications[i]
	if !r.mustBeIn(i) {
		return ""
	}
	var asks []string
	holds := "all together hold"
	if app.Within != "" {
		asks, holds = append(asks, "within "+app.Within), "the largest "+app.Within+" holds"
	}
	if app.Slices != nil {
		asks = append(asks, fmt.Sprintf("in slices of %d within %s each", app.Slices.Containers, app.Slices.Within))
	}
	empty, _ := r.roomInDomains(i)
	text := fmt.Sprintf("%s: %d needed, ", strings.Join(asks, " and "), n)
	switch {
	case r.topology.Domains(w.Leaf()) == 0:
		return text + "and no server has the label " + r.problem.Topology[w.Leaf()]
	case now < 0:
		return text + fmt.Sprintf("%s %d empty", holds, empty)
	}
	return text + fmt.Sprintf("%s %d now and %d empty", holds, now, empty)
}

// domainReason says that no domain has room for n containers of application i as it asks for; without Constraint where one has.
func (d *draft) domainReason(i int, n int64) apportion.Reason {
	w := d.r.wishes[i]
	if w == nil {
		return apportion.Reason{}
	}
	now, _ := d.r.topology.Most(w, d.domainRooms(i))
	text := d.r.domainText(i, n, now)
	if text == "" || now >= n {
		return apportion.Reason{}
	}
	return apportion.Reason{Constraint: Domain, Need: float64(n), Have: float64(now), Fits: now, Text: text,
		Blockers: []apportion.Blocker{d.r.domainBlocker(i, n, now)}}
}

// domainBlocker says that of n containers of application i no more than now have room in domains as it asks for them.
func (r *resolved) domainBlocker(i int, n, now int64) apportion.Blocker {
	empty, _ := r.roomInDomains(i)
	w := r.wishes[i]
	return apportion.Blocker{Cause: ByDomain, Label: r.problem.Topology[max(w.Within, w.SliceWithin)], Need: n, Fits: now, Limit: empty, Setting: "applications.within"}
}

// extraDomains counts by level in how many domains the applications are beyond the fewest empty ones that hold as many containers of
// each; nil without a topology. A server without a label is in none. O(levels x servers) for each sort of application on two or more.
func (r *resolved) extraDomains(counts solver.Counts) map[string]int64 {
	if r.topology == nil {
		return nil
	}
	extra, known := make(map[string]int64, r.topology.Levels()), make(map[string][]int64)
	for level, label := range r.problem.Topology {
		extra[label] = 0
		for i, placed := range counts {
			if len(placed) < 2 {
				continue
			}
			in, _ := r.domainsOf(level, placed)
			if len(in) < 2 {
				continue
			}
			key := fmt.Sprint(level, r.sort(i))
			if known[key] == nil {
				known[key] = r.largestDomains(i, level)
			}
			fewest, need := int64(0), solver.Containers(placed)
			for _, n := range known[key] {
				if need <= 0 {
					break
				}
				need -= n
				fewest++
			}
			extra[label] += max(0, int64(len(in))-fewest)
		}
	}
	return extra
}

// sort is what the room for application i depends on.
func (r *resolved) sort(i int) string {
	app := &r.problem.Applications[i]
	key := fmt.Sprint(app.Demand, app.PerServer, app.MaxServers, r.open.open[i])
	if app.Slices != nil {
		key += fmt.Sprint(*app.Slices)
	}
	return key
}

// largestDomains lists how many containers of application i the empty domains of a level hold, in whole slices where these are of that
// level, in descending order.
func (r *resolved) largestDomains(i, level int) []int64 {
	holds := r.rooms(i, level, r.whole)
	if w := r.wishes[i]; w != nil && w.SliceWithin == level {
		for at := range holds {
			holds[at] -= holds[at] % w.Slice
		}
	}
	slices.SortFunc(holds, func(a, b int64) int { return cmp.Compare(b, a) })
	return holds
}

// domainsText says to which domains P2 was held, and of which applications these are the fewest that the others leave room for; empty
// where it was held to none.
func (r *resolved) domainsText(a *attempt, all solver.Counts) string {
	if r.leafOf == nil {
		return ""
	}
	d, anew := r.asPlaced(a)
	for _, i := range anew {
		d.put(i, all[i])
	}
	var fewest, more, chosen []string
	for i, w := range r.wishes {
		if w == nil || len(all[i]) == 0 {
			continue
		}
		id := r.problem.Applications[i].ID
		if slices.Contains(anew, i) || r.sliced(i) && !solver.SamePlaces(all[i], r.previous[i]) {
			chosen = append(chosen, id)
		}
		if d.isFewest(i) {
			fewest = append(fewest, id)
		} else {
			more = append(more, id)
		}
	}
	var parts []string
	if r.isConfined() {
		parts = append(parts, "the bound is one for P2 with each application in the domain, and the slices, that were chosen for it")
	}
	if len(fewest) > 0 {
		parts = append(parts, "the domains of "+listIDs(fewest)+" are the fewest that the others leave room for")
	}
	if len(more) > 0 {
		parts = append(parts, "the others leave room for fewer domains of "+listIDs(more))
	}
	if len(chosen) > 1 {
		parts = append(parts, listIDs(chosen)+" were placed one after the other, and that all together have the fewest is not certified")
	}
	return strings.Join(parts, "; ")
}

// isFewest reports whether application i is in the fewest domains, level by level, in which its containers have room beside all others.
func (d *draft) isFewest(i int) bool {
	placed, confined := d.remove(i), d.r.confined[i]
	d.r.confined[i] = nil
	n := solver.Containers(placed)
	parts := d.r.topology.Choose(d.r.wishes[i], d.domainRooms(i), n, n)
	d.r.confined[i] = confined
	d.put(i, placed)
	for level, could := range d.r.topology.Used(d.r.wishes[i].Leaf(), parts) {
		if is, _ := d.r.domainsOf(level, placed); could != len(is) {
			return could > len(is)
		}
	}
	return true
}

// topologyWarnings says which servers are in no domain of a level that is asked about, and which labels stand for several domains.
func (r *resolved) topologyWarnings() []string {
	var found []string
	for level, label := range r.problem.Topology {
		var lack []string
		for j := range r.problem.Servers {
			if _, has := r.problem.Servers[j].Labels[label]; !has {
				lack = append(lack, r.problem.Servers[j].ID)
			}
		}
		switch {
		case len(lack) == len(r.problem.Servers):
			found = append(found, fmt.Sprintf("no server has the label %s, so that there are no domains of that level", label))
		case len(lack) > 0:
			found = append(found, fmt.Sprintf("servers without the label %s are in no domain of that level, and closed to what asks for one: %s", label, listIDs(lack)))
		}
		if shared := r.topology.Shared(level); shared != nil {
			found = append(found, fmt.Sprintf("labels of %s that occur below several wider ones are different domains: %s", label, listIDs(shared)))
		}
	}
	return found
}
