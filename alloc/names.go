// This file turns the counts of a solver into an allocation by name, and back, [Dorm §III-B].

package alloc

import (
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/check"
)

// allocation turns counts, one entry for each application of the problem, into names. Of an application with options at
// most one entry has containers, so that the ID of the application is key enough. The maps are fresh.
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
// those that they run with. It is for allocations from outside, which nobody has checked: the error is
// apportion.Faults with every application, option and server that does not exist, and every negative count. Whether the
// containers fit is not asked.
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
		// A share may name an option; the one that it runs with, or the first, stands in where it does not.
		app := &r.given.Applications[o]
		at := app.present(used[id])
		if used[id] == "" {
			at = max(0, app.present(app.Option))
		}
		if at < 0 {
			faults.Add(item, "Option", apportion.ErrUnknown, used[id])
			continue
		}
		// Faults come in the order of names, since a map has none.
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

// scatter turns counts over apps, positions in the problem, into counts over all applications of the problem; those that
// are not in apps have nothing.
func (r *resolved) scatter(apps []int, counts solver.Counts) solver.Counts {
	all := make(solver.Counts, len(r.problem.Applications))
	for a, i := range apps {
		all[i] = counts[a]
	}
	return all
}

// gather is the inverse of scatter.
// The slices of placements are shared, and read only.
func gather(apps []int, all solver.Counts) solver.Counts {
	counts := make(solver.Counts, len(apps))
	for a, i := range apps {
		counts[a] = all[i]
	}
	return counts
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

// optionsUsed maps the ID of every application with an option in shares to that. Applications without containers, or
// without options, are not in it.
func optionsUsed(shares []Share) map[string]string {
	used := make(map[string]string)
	for _, share := range shares {
		if share.Option != "" {
			used[share.ID] = share.Option
		}
	}
	return used
}
