// This file says on which servers an application may be, and whether it may stay where it is, [Dorm (3), (6)] and beyond.

package solver

import (
	"slices"

	"github.com/apportion/apportion"
)

// Adjusted returns whether placed differs from what the application holds now (3). An application
// that was not running is never adjusted.
func (a *App) Adjusted(placed []apportion.Placement) bool {
	return a.Running && (a.Displaced || !SamePlaces(a.Previous, placed))
}

// MayStay reports whether application i can keep exactly what it has, as far as it alone decides.
//
// Other applications may still be in its way on a server that shrank; that is for (6) to say. An
// application that may not stay costs its Cost of AdjustBudget in every solution, unless it grows above FreeAbove.
func (inst *Instance) MayStay(i int) bool {
	// The room that matters here is that of the empty server: whom else it must share it with is for the solver to choose.
	app := &inst.Apps[i]
	tooMany := func(p apportion.Placement) bool {
		return app.PerServer > 0 && p.Count > app.PerServer || p.Count > app.Demand.CountIn(inst.Capacity[p.Server])
	}
	return app.Running && !app.Displaced && app.Allows(Containers(app.Previous)) && !app.tooWide(app.Previous) &&
		!slices.ContainsFunc(app.Previous, tooMany)
}

// counts reports whether servers count on application i to stay where it is: it may, and leaving costs.
func (inst *Instance) counts(i int) bool {
	return inst.MayStay(i) && (!inst.Apps[i].MayGrow() || inst.Apps[i].Pinned)
}

// Open reports whether application i may be placed anew on server j, whatever room there is. What it holds there it may keep
// also where this is false, as long as all of its containers stay. O(log Classes).
func (inst *Instance) Open(i, j int) bool {
	classes := inst.Apps[i].Classes
	if classes == nil {
		return true
	}
	_, open := slices.BinarySearch(classes, inst.classOf(j))
	return open
}

// tooWide reports whether placed is on more servers than the application may be on; each entry is another server.
func (a *App) tooWide(placed []apportion.Placement) bool {
	return a.MaxServers > 0 && int64(len(placed)) > a.MaxServers
}

// classOf returns the class of server j, 0 where the instance has no classes.
func (inst *Instance) classOf(j int) int {
	if inst.Class == nil {
		return 0
	}
	return inst.Class[j]
}

// most returns how many containers application i may have on server j if room is what the others leave, by room, PerServer
// and Classes; Max is not looked at, since it is for all servers together. No kind of room is negative.
func (inst *Instance) most(i, j int, room apportion.Resources) int64 {
	if !inst.Open(i, j) {
		return 0
	}
	n := inst.Apps[i].Demand.CountIn(room)
	if c := inst.Apps[i].PerServer; c > 0 {
		n = min(n, c)
	}
	return n
}

// SamePlaces reports whether two placements are the same, container by container. Both ascend in Server and have no entry
// of zero, as Counts have, so that equal places are equal lists; nil and an empty list are the same.
func SamePlaces(a, b []apportion.Placement) bool {
	if len(a) != len(b) {
		return false
	}
	for s := range a {
		if a[s] != b[s] {
			return false
		}
	}
	return true
}
