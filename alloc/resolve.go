// This file looks the names of a Problem up: positions for names, and back, [Dorm §III-B].

package alloc

import (
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/check"
)

// resolved is a valid problem with its names looked up. The fields by application have one entry
// for each of problem.Applications.
type resolved struct {
	problem   *Problem
	capacity  []apportion.Resources
	total     apportion.Resources
	room      []int64                 // how many containers of the application fit the empty cluster
	previous  [][]apportion.Placement // where its containers are, on servers that exist
	displaced []bool                  // some of its containers are on a server that does not
}

// resolve looks up the names of a valid problem. O(servers x applications x kinds), to tell what fits.
func resolve(p *Problem) *resolved {
	r := &resolved{
		problem:   p,
		capacity:  make([]apportion.Resources, len(p.Servers)),
		room:      make([]int64, len(p.Applications)),
		previous:  make([][]apportion.Placement, len(p.Applications)),
		displaced: make([]bool, len(p.Applications)),
	}
	for j := range p.Servers {
		// Vectors are shared with the problem and only read: a copy per server would double the
		// memory.
		r.capacity[j] = p.Servers[j].Capacity
	}
	r.total, _ = check.Total(p.Servers, len(p.Kinds)) // Validate has seen that it fits int64
	index := serverIndex(p.Servers)
	for i := range p.Applications {
		app := &p.Applications[i]
		for _, capacity := range r.capacity {
			// The sum cannot overflow: a container uses at least one unit of some kind, and the
			// totals fit int64.
			r.room[i] += app.Demand.CountIn(capacity)
		}
		r.previous[i], r.displaced[i] = placements(p.Previous[app.ID], index)
	}
	return r
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

// running says whether application i is in A^t-1.
func (r *resolved) running(i int) bool { return len(r.previous[i]) > 0 || r.displaced[i] }

// servable lists the applications that P2 is about: those that run, and the newcomers whose
// minimum, and at least one container, fits the empty cluster.
func (r *resolved) servable() []int {
	var apps []int
	for i := range r.problem.Applications {
		// One that runs stays in P2 even where its minimum no longer fits: it must not vanish
		// silently.
		if r.running(i) || r.room[i] >= max(1, r.problem.Applications[i].Min) {
			apps = append(apps, i)
		}
	}
	return apps
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

// counts is the inverse of allocation over all applications; an error names what does not exist.
func (r *resolved) counts(allocation Allocation) (solver.Counts, error) {
	var faults apportion.Faults
	index := serverIndex(r.problem.Servers)
	applications := appIndex(r.problem.Applications)
	counts := make(solver.Counts, len(r.problem.Applications))
	for _, id := range slices.Sorted(maps.Keys(allocation)) {
		item := check.Item("application", id, 0)
		i, known := applications[id]
		if !known {
			faults.Add(item, "Allocation", apportion.ErrUnknown, "")
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
		counts[i], _ = placements(allocation[id], index)
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
