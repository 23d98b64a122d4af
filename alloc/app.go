// This file states one application in the dense form of package solver, and asks it what one application alone decides:
// whether it fits, and whether it may stay.

package alloc

import "github.com/apportion/apportion/alloc/solver"

// app returns the dense form of application i, but for its theoretical share, which depends on who else
// is there, and for losses in worth, which depend on that share. Bounds are cut to what there is room for; slices are
// shared with the problem. O(1), and with a Worth or WorthOn O(entries), beside what holds takes.
func (r *resolved) app(i int) solver.App {
	app, dense := &r.problem.Applications[i], r.numbers(i)
	dense.Demand, dense.Value, dense.Delta = app.Demand, r.value(app.Demand), r.delta(app.Demand)
	dense.PerServer, dense.MaxServers, dense.Classes = app.PerServer, app.MaxServers, r.classes(i)
	dense.Running, dense.Cost, dense.Pinned, dense.Displaced = r.running(i), r.cost(i), r.pinned[i], r.displaced[i] || r.leaving[i]
	dense.Pinned = dense.Pinned || r.recent(i) && !r.yielding[i] && !r.leaving[i]
	dense.Previous = r.previous[i]
	dense.Elective = len(r.options(i)) > 1 // another one may be in use
	// A stated worth takes the place of the utilization, and does not come on top of it.
	if app.Worth != nil {
		dense.Value, dense.Idle, dense.Worth = 0, app.IdleWorth, r.worths(i, &dense)
	}
	if app.Most > 0 && dense.Running && !r.problem.Options.Paper {
		dense.FreeAbove = max(app.Most, solver.Containers(dense.Previous))
	}
	dense.Spread = r.spread(i, &dense)
	dense.Stay = r.stay(i, &dense)
	return dense
}

// numbers is what app says of the numbers of containers that application i may have. O(containers of i now).
func (r *resolved) numbers(i int) solver.App {
	app := &r.problem.Applications[i]
	// More than fits the empty cluster is never reached, and a minimum above it never met: cutting
	// there keeps products of counts and demands small.
	//
	// What runs now may be more than fits, where a server has shrunk or is closed: a maximum below it would
	// forbid staying even where nothing else does, and a minimum cut to it would allow that.
	reach := max(r.room[i], solver.Containers(r.previous[i]))
	least := max(app.Min, r.floor[i])
	// One more than that is as impossible as any larger minimum, and small enough to multiply.
	if least > reach {
		least = reach + 1
	}
	most := min(app.Max, max(1, least, reach))
	if r.restraint != nil && r.restraint[i] > 0 {
		most = min(most, r.restraint[i])
	}
	return solver.App{Min: least, Max: most, Step: app.step(), Counts: app.Counts}
}

// cost returns what a change of application i counts against (16). One that yields could have been suspended at no cost.
func (r *resolved) cost(i int) int64 {
	if r.yielding[i] {
		return 0
	}
	return r.ownCost(i)
}

// ownCost returns what a change of application i counts for in the budget (16), whoever has to make room.
func (r *resolved) ownCost(i int) int64 {
	app := &r.problem.Applications[i]
	switch {
	// Whoever must move is charged by the paper's rule alone.
	case r.forced[i] && !r.problem.Options.Paper:
		return 0
	case app.AdjustCost != nil:
		return *app.AdjustCost
	}
	return 1 // as (16) counts applications
}

// fits reports whether the open servers, if they were empty, held a number of containers that application i may
// have, and at least one. Who else is there is not asked, so that no is certain.
// No solver is ever asked about a newcomer that does not fit.
func (r *resolved) fits(i int) bool {
	// The least number that is allowed is enough to ask about: room does not grow with the number.
	numbers := r.numbers(i)
	first := numbers.AtLeast(1)
	return first > 0 && first <= r.room[i]
}

// mayStay reports whether application i, which runs, may keep what it has, as far as it alone decides: who else is on its
// servers is not asked here. Admission, resolve and the solvers so have one answer to this question.
func (r *resolved) mayStay(i int) bool {
	// The referee's test, on an instance with this application alone.
	one := solver.Instance{Capacity: r.capacity, Apps: []solver.App{r.app(i)}}
	return one.MayStay(0)
}

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
