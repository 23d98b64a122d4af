// This file puts the containers of those who are placed anew on few servers: the last rank of the preference,
// [Program §3].

package alloc

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// consolidate places the newcomers of a solution, and those that change, again with the numbers that they have:
// all of them by best fit, the largest first, if that takes fewer servers, else one after the other. Whoever
// stays as it is stays. It is the last step of a decision, and pays off for whoever trains on many servers at once. Utilization, loss and who is adjusted do not change. O(those placed anew x servers
// used x servers x kinds).
func (r *resolved) consolidate(a *attempt) {
	d, moving := r.asPlaced(a)
	before := d.counts
	used := servers(before, moving)
	if used == len(moving) {
		return // one each is the fewest
	}
	// All at once does best where there is room; in a cluster that is nearly full best fit may fail, and then
	// whoever can be gathered is.
	if !d.placeAll(moving, before) || servers(d.counts, moving) >= used {
		d, _ = r.asPlaced(a)
		for _, i := range moving {
			d.put(i, before[i])
		}
		for _, i := range moving {
			d.gather(i)
		}
	}
	// As many servers as before are no gain, and the answer of the solver may have more to be said for it.
	if servers(d.counts, moving) >= used {
		return
	}
	// The solution may be somebody else's as well, and is copied.
	s := *a.solution
	s.Counts = gather(a.apps, d.counts)
	// Who is placed just where it was stays, which may be worth more than what was found.
	s.Objective = a.instance.Objective(s.Counts)
	// With worths by servers fewer of them may be worth less.
	if s.Objective < a.solution.Objective-solver.ObjectiveTolerance {
		return
	}
	s.Bound = math.Max(s.Bound, s.Objective)
	// Another answer that is as good up to there has not been shown to be the first in order; it may
	// move more containers of those that are adjusted.
	last := solver.ByMoved
	if a.instance.Moved(s.Counts) != a.instance.Moved(a.solution.Counts) {
		last = solver.ByAdjusted
	}
	s.Proven = min(s.Proven, last)
	a.solution = &s
}

// asPlaced returns a draft whose room is what those leave who stay as they are, and lists the others that have
// containers, the largest dominant share first. The draft's counts name what these have, but do not take room for it yet.
func (r *resolved) asPlaced(a *attempt) (d *draft, moving []int) {
	// The draft starts from what runs, and is emptied first: who stays is put back below.
	d = newDraft(r)
	for i := range d.counts {
		d.remove(i)
	}
	counts := make(solver.Counts, len(d.counts))
	size := make([]float64, len(d.counts))
	for at, i := range a.apps {
		app := &a.instance.Apps[at]
		placed := a.solution.Counts[at]
		if app.Running && !app.Adjusted(placed) {
			d.put(i, placed)
			continue
		}
		if counts[i] = placed; len(placed) > 0 {
			moving = append(moving, i)
			size[i] = app.Delta * float64(solver.Containers(placed))
		}
	}
	// The largest first, since they find the fewest places.
	slices.SortStableFunc(moving, func(x, y int) int { return cmp.Compare(size[y], size[x]) })
	for _, i := range moving {
		d.counts[i] = counts[i]
	}
	return d, moving
}

// placeAll places the applications in moving by best fit with the numbers that they have in before. Where it returns false
// some are placed and others not, and the draft is of no more use.
func (d *draft) placeAll(moving []int, before solver.Counts) bool {
	// before is the slice that asPlaced has given to the draft, and the caller reads it afterwards.
	d.counts = slices.Clone(d.counts)
	for _, i := range moving {
		d.counts[i] = nil
	}
	for _, i := range moving {
		if !d.place(i, solver.Containers(before[i])) {
			return false
		}
	}
	return true
}

// gather places application i on fewer servers if there is room for that, and else leaves it where it is.
// O(servers used x servers x kinds).
func (d *draft) gather(i int) {
	// Best fit need not find the fewest servers that there could be; what it finds is kept only where these are fewer.
	before := d.remove(i)
	if d.place(i, solver.Containers(before)) {
		if len(d.counts[i]) < len(before) {
			return
		}
		d.remove(i)
	}
	d.put(i, before)
}

// servers counts on how many servers the applications in list are, together.
// An application counts once for each server that it is on, which is what its own traffic pays for.
func servers(counts solver.Counts, list []int) int {
	sum := 0
	for _, i := range list {
		sum += len(counts[i])
	}
	return sum
}
