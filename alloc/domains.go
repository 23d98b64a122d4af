// This file finds the domains of the servers, and what applications ask of them: the sets of [Program §13].

package alloc

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/domain"
)

// step returns by how much its numbers of containers rise where they are not listed.
func (a *Application) step() int64 {
	if a.Slices != nil && a.Step == 0 && a.Counts == nil {
		return a.Slices.Containers
	}
	return a.Step
}

// asksDomains reports whether the application asks anything of domains.
func (a *Application) asksDomains() bool { return a.Within != "" || a.Slices != nil || a.Prefer != "" }

// wish returns what the application asks of the domains of levels; nil: nothing.
func (a *Application) wish(levels []string) *domain.Wish {
	if !a.asksDomains() {
		return nil
	}
	// A label that is not there has position -1, as has an empty one.
	w := &domain.Wish{Within: slices.Index(levels, a.Within), SliceWithin: domain.None, Prefer: slices.Index(levels, a.Prefer)}
	if a.Slices != nil {
		w.SliceWithin, w.Slice = slices.Index(levels, a.Slices.Within), a.Slices.Containers
	}
	return w
}

// resolveDomains finds what is asked of domains, and these down to the narrowest level that is asked about: without any the servers
// form the classes that they form without a topology.
func (r *resolved) resolveDomains() {
	apps, narrowest := r.problem.Applications, domain.None
	r.wishes, r.confined = make([]*domain.Wish, len(apps)), make([][]int, len(apps))
	if len(r.problem.Topology) == 0 {
		return
	}
	r.home = slices.Repeat([]int{domain.None}, len(apps))
	servers := r.problem.Servers
	r.topology = domain.New(len(servers), len(r.problem.Topology), func(j, level int) (string, bool) {
		label, ok := servers[j].Labels[r.problem.Topology[level]]
		return label, ok
	})
	for i := range apps {
		if r.wishes[i] = apps[i].wish(r.problem.Topology); r.wishes[i] != nil {
			narrowest = max(narrowest, r.wishes[i].Leaf())
		}
	}
	if narrowest == domain.None {
		return
	}
	r.leafOf = make([]leaf, len(servers))
	for j := range servers {
		// Servers that lack different labels are in different domains of the wider levels.
		level := narrowest
		for level >= 0 && r.topology.Of(level, j) < 0 {
			level--
		}
		if r.leafOf[j] = (leaf{level, domain.None}); level >= 0 {
			r.leafOf[j].domain = r.topology.Of(level, j)
		}
	}
}

// leaf is the narrowest domain that a server is in, of those that are asked about; None: it is in none.
type leaf struct{ level, domain int }

// findOpen finds the classes of servers, each in one domain, and closes to each application that asks for domains those that are in none.
func (r *resolved) findOpen() {
	r.open = newEligibility(r.problem.Servers, r.problem.Applications, r.leafOf)
	for i, w := range r.wishes {
		if w == nil {
			continue
		}
		if in := r.classesIn(i, w.Leaf(), nil, nil); in != nil {
			r.open.open[i] = in
		}
	}
}

// classesIn lists the classes among those in open, nil: that are open to application i, whose servers are in these domains of a level;
// nil: in any of it. Ascending, and nil where it is all classes.
func (r *resolved) classesIn(i, level int, domains, open []int) []int {
	if open == nil {
		open = r.open.open[i]
	}
	in := []int{}
	for class, server := range r.open.first {
		if open != nil {
			if _, known := slices.BinarySearch(open, class); !known {
				continue
			}
		}
		if at := r.topology.Of(level, server); at >= 0 && (domains == nil || slices.Contains(domains, at)) {
			in = append(in, class)
		}
	}
	if len(in) == len(r.open.first) {
		return nil
	}
	return in
}

// classes returns the classes of servers that application i may be placed on anew: in the domains that were chosen for it, where that
// has been done. nil: all.
func (r *resolved) classes(i int) []int {
	if r.confined[i] != nil {
		return r.confined[i]
	}
	return r.open.open[i]
}

// mayCome reports whether application i may be placed anew on server j.
// O(log classes): it is asked for every application and server.
func (r *resolved) mayCome(i, j int) bool {
	classes := r.classes(i)
	if classes == nil {
		return true
	}
	_, open := slices.BinarySearch(classes, r.open.class[j])
	return open
}

// roomInDomains returns how many containers of application i fit empty servers as it asks for domains, and the domain of Within that
// holds as many. O(servers x kinds).
func (r *resolved) roomInDomains(i int) (most int64, at int) {
	return r.topology.Most(r.wishes[i], r.anywhere().rooms(i, r.wishes[i].Leaf(), r.whole))
}

// anywhere returns r as it is before domains are chosen. It shares all else with r.
func (r *resolved) anywhere() *resolved {
	if r.leafOf == nil {
		return r
	}
	open := *r
	open.confined = make([][]int, len(r.confined))
	return &open
}

// whole returns what server j has when it is empty.
func (r *resolved) whole(j int) apportion.Resources { return r.problem.Servers[j].Capacity }

// rooms returns how many containers of application i fit each domain of a level, by what servers have left, on as many servers as it may
// be on.
func (r *resolved) rooms(i, leaf int, left func(j int) apportion.Resources) []int64 {
	most := r.problem.Applications[i].MaxServers
	sum, lists := make([]int64, r.topology.Domains(leaf)), make([][]rooms, r.topology.Domains(leaf))
	for j := range r.problem.Servers {
		at := r.topology.Of(leaf, j)
		if at < 0 {
			continue
		}
		n := max(0, r.most(i, j, left(j)))
		if sum[at] += n; most > 0 && n > 0 {
			lists[at] = append(lists[at], rooms{n, 1})
		}
	}
	if most > 0 {
		for at := range sum {
			sum[at] = largest(lists[at], most)
		}
	}
	return sum
}

// domainsOf lists the domains of a level that these places are in, ascending; some says that a server is in none.
func (r *resolved) domainsOf(level int, placed []apportion.Placement) (list []int, some bool) {
	for _, p := range placed {
		at := r.topology.Of(level, p.Server)
		if at < 0 {
			some = true
		} else {
			list = append(list, at)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), some
}
