// This file looks the names of a Problem up: positions for names, and back, [Dorm §III-B].

package alloc

import (
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// resolved is a valid problem with its names looked up. The fields by application have one entry
// for each of problem.Applications, among which every option of the given problem is one.
type resolved struct {
	problem *Problem
	given   *Problem // as the caller has it
	of      []int    // the position in given.Applications
	entries [][]int  // by position in given.Applications: the entries, ascending

	capacity  []apportion.Resources // of a cordoned server only what is used of it
	total     apportion.Resources
	open      *eligibility
	room      []int64                 // how many containers the open servers hold of it when they are empty
	previous  [][]apportion.Placement // where its containers are, on servers that exist
	displaced []bool                  // some of its containers are where they cannot stay
	forced    []bool                  // it cannot stay, or is on a server that is too full: a change is free
	pinned    []bool                  // it must stay, and can
	leaving   []bool                  // it leaves the cordoned servers that it is on
	// tree is that of the queues, nil without any; limited lists those with a ceiling, above the positions in limited of
	// those above each application.
	tree        *drf.Tree
	limited     []int
	above       [][]int
	overCeiling []bool // forced by a ceiling that is below what is used
}

// resolve looks up the names of a valid problem. O(servers x applications x kinds), to tell what fits.
func resolve(p *Problem) *resolved {
	given := p
	p, of := p.apart()
	apps := len(p.Applications)
	r := &resolved{
		problem: p,
		given:   given,
		of:      of,
		entries: make([][]int, len(given.Applications)),

		capacity:  make([]apportion.Resources, len(p.Servers)),
		open:      newEligibility(p.Servers, p.Applications),
		room:      make([]int64, apps),
		previous:  make([][]apportion.Placement, apps),
		displaced: make([]bool, apps),
		forced:    make([]bool, apps),
		pinned:    make([]bool, apps),
		leaving:   make([]bool, apps),

		overCeiling: make([]bool, apps),
	}
	index := serverIndex(p.Servers)
	for i, o := range of {
		r.entries[o] = append(r.entries[o], i)
	}
	for o := range given.Applications {
		app := &given.Applications[o]
		placed, displaced := placements(p.Previous[app.ID], index)
		if at := app.present(app.Option); at >= 0 {
			i := r.entries[o][at]
			r.previous[i], r.displaced[i] = placed, displaced
		} else {
			// Nobody knows what it uses; it has to go anyway.
			r.displaced[r.entries[o][0]] = displaced || len(placed) > 0
		}
	}
	used := r.used()
	for j := range p.Servers {
		// Vectors are shared with the problem and only read: a copy per server would double the
		// memory.
		r.capacity[j] = p.Servers[j].Capacity
		// Nothing comes to a cordoned server, so that what is free there is no part of the cluster.
		if p.Servers[j].Cordoned && used[j].FitsIn(r.capacity[j]) {
			r.capacity[j] = used[j]
		}
	}
	r.total = make(apportion.Resources, len(p.Kinds))
	for j := range r.capacity {
		_ = exact.AddTo(r.total, r.total, r.capacity[j]) // Validate has seen that all capacities fit int64
	}
	for i := range p.Applications {
		for j := range r.capacity {
			// The sum cannot overflow: a container uses at least one unit of some kind, and the
			// totals fit int64.
			r.room[i] += r.most(i, j, p.Servers[j].Capacity)
		}
	}
	r.resolveQueues()
	r.findForced(used)
	return r
}

// used returns what is used on every server now, as far as int64 holds it.
func (r *resolved) used() []apportion.Resources {
	used := make([]apportion.Resources, len(r.problem.Servers))
	for j := range used {
		used[j] = make(apportion.Resources, len(r.problem.Kinds))
	}
	for i, placed := range r.previous {
		for _, p := range placed {
			// Validate has seen that the sums fit int64.
			_ = exact.AddTimesTo(used[p.Server], used[p.Server], p.Count, r.problem.Applications[i].Demand)
		}
	}
	return used
}

// most returns how many containers application i may have on server j if room is left there.
func (r *resolved) most(i, j int, room apportion.Resources) int64 {
	if !r.open.mayCome(i, j) {
		return 0
	}
	app := &r.problem.Applications[i]
	n := app.Demand.CountIn(room)
	if app.PerServer > 0 {
		n = min(n, app.PerServer)
	}
	return n
}

// placements turns one application's entry of an Allocation into its dense form; displaced says
// that some containers are on servers that index does not know.
func placements(places map[string]int64, index map[string]int) (placed []apportion.Placement, displaced bool) {
	for server, count := range places {
		j, known := index[server]
		switch {
		case count == 0:
		case !known:
			displaced = true
		default:
			placed = append(placed, apportion.Placement{Server: j, Count: count})
		}
	}
	// A map has no order, and solver.Counts ascend by server: sorting makes the decision
	// repeatable.
	slices.SortFunc(placed, func(a, b apportion.Placement) int { return a.Server - b.Server })
	return placed, displaced
}

// findForced tells who cannot stay as it is, section 3 of the general program: a server is gone or too full, or
// the numbers and places that the application may have have changed.
func (r *resolved) findForced(used []apportion.Resources) {
	for i := range r.previous {
		for _, p := range r.previous[i] {
			r.displaced[i] = r.displaced[i] || !r.open.suits(i, p.Server)
		}
		stays := r.running(i) && r.mayStay(i)
		r.pinned[i] = r.problem.Applications[i].Pinned && stays
		r.forced[i] = r.running(i) && !stays
	}
	if r.problem.Options.PaperRule {
		return
	}
	// A server that holds too much forces all on it, but for the pinned, so long as these fit.
	for _, spare := range [...]bool{true, false} {
		over := make([]bool, len(used))
		for j := range used {
			over[j] = !used[j].FitsIn(r.capacity[j])
		}
		for i, placed := range r.previous {
			for _, p := range placed {
				if over[p.Server] && !(spare && r.pinned[i]) {
					r.forced[i], r.pinned[i] = true, false
				}
			}
		}
		used = r.usedByPinned()
	}
	r.forceBelowCeilings()
}

// mayStay reports whether application i, which runs, may keep what it has, as far as it alone decides.
func (r *resolved) mayStay(i int) bool {
	// The referee's test, on an instance with this application alone.
	one := solver.Instance{Capacity: r.capacity, Apps: []solver.App{r.app(i)}}
	return one.MayStay(0)
}

// usedByPinned returns what the pinned use on every server.
func (r *resolved) usedByPinned() []apportion.Resources {
	only := *r
	only.previous = make([][]apportion.Placement, len(r.previous))
	for i := range r.previous {
		if r.pinned[i] {
			only.previous[i] = r.previous[i]
		}
	}
	return only.used()
}

// running says whether application i is in A^t-1.
func (r *resolved) running(i int) bool { return len(r.previous[i]) > 0 || r.displaced[i] }

// servable lists the applications that P2 is about: those that run, and the newcomers for which the open
// servers have room when they are empty.
func (r *resolved) servable() []int {
	var apps []int
	for i := range r.problem.Applications {
		// One that runs stays in P2 even where its minimum no longer fits: it must not vanish
		// silently.
		if r.running(i) || r.fits(i) {
			apps = append(apps, i)
		}
	}
	return apps
}

// fits reports whether the open servers, if they were empty, held a number of containers that application i may
// have, and at least one.
func (r *resolved) fits(i int) bool {
	app := r.app(i)
	first := app.AtLeast(1)
	return first > 0 && first <= r.room[i]
}

// allocation turns counts, one entry for each application of the problem, into names.
func (r *resolved) allocation(counts solver.Counts) Allocation {
	allocation := make(Allocation, len(counts))
	for i, placed := range counts {
		// An application without containers has no entry, since an empty one would say the same
		// twice.
		if len(placed) == 0 {
			continue
		}
		places := make(map[string]int64, len(placed))
		for _, on := range placed {
			places[r.problem.Servers[on.Server].ID] = on.Count
		}
		allocation[r.problem.Applications[i].ID] = places
	}
	return allocation
}

// counts is the inverse of allocation over all applications, with the options in shares, or where there are none with
// those that they run with; an error names what does not exist.
func (r *resolved) counts(allocation Allocation, shares []Share) (solver.Counts, error) {
	var faults apportion.Faults
	index := serverIndex(r.problem.Servers)
	applications, used := appIndex(r.given.Applications), optionsUsed(shares)
	counts := make(solver.Counts, len(r.problem.Applications))
	for _, id := range slices.Sorted(maps.Keys(allocation)) {
		item := check.Item("application", id, 0)
		o, known := applications[id]
		if !known {
			faults.Add(item, "Allocation", apportion.ErrUnknown, "")
			continue
		}
		app := &r.given.Applications[o]
		at := app.present(used[id])
		if used[id] == "" {
			at = max(0, app.present(app.Option))
		}
		if at < 0 {
			faults.Add(item, "Option", apportion.ErrUnknown, used[id])
			continue
		}
		for _, server := range slices.Sorted(maps.Keys(allocation[id])) {
			if _, known := index[server]; !known {
				faults.Add(item, "Allocation["+server+"]", apportion.ErrUnknown, "")
			} else if allocation[id][server] < 0 {
				faults.Add(item, "Allocation["+server+"]", apportion.ErrNegative, "")
			}
		}
		// Servers that are missing have been reported as faults above.
		counts[r.entries[o][at]], _ = placements(allocation[id], index)
	}
	return counts, faults.Err()
}

// scatter turns counts over apps into counts over all applications of the problem.
func (r *resolved) scatter(apps []int, counts solver.Counts) solver.Counts {
	all := make(solver.Counts, len(r.problem.Applications))
	for a, i := range apps {
		all[i] = counts[a]
	}
	return all
}

// gather is the inverse of scatter.
func gather(apps []int, all solver.Counts) solver.Counts {
	counts := make(solver.Counts, len(apps))
	for a, i := range apps {
		counts[a] = all[i]
	}
	return counts
}
