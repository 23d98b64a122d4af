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
	if used == len(moving) && r.typical == nil {
		return // one each is the fewest
	}
	as, _ := r.asPlaced(a)
	for _, i := range moving {
		as.put(i, before[i])
	}
	// All at once does best where there is room; in a cluster that is nearly full best fit may fail, and then
	// whoever can be gathered is.
	if !d.placeAll(moving, before) || !d.tidier(as, moving) {
		d = as
		better := false
		for _, i := range moving {
			better = d.gather(i) || better
		}
		// As many servers as before are no gain, and the answer of the solver may have more to be said for it.
		if !better {
			return
		}
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
	// What is reserved is kept from all here, as it was in P2.
	d.reserved = nil
	for j := range d.left {
		d.left[j] = a.instance.Capacity[j].Clone()
	}
	for c := range d.below {
		d.below[c] = a.instance.Groups[c].Ceiling.Clone()
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

// gather places application i on fewer servers, or on as many with compact kinds that are broken up less, if there is room for that; else it
// leaves it where it is and returns false. O(servers used x servers x kinds).
func (d *draft) gather(i int) bool {
	// Best fit need not find the fewest servers that there could be; what it finds is kept only where these are fewer.
	before := d.remove(i)
	loose := d.loosenessOf(i, before)
	if d.place(i, solver.Containers(before)) {
		placed := d.remove(i)
		if len(placed) < len(before) || d.r.typical != nil && len(placed) == len(before) && d.loosenessOf(i, placed) < loose-sameFragment {
			d.put(i, placed)
			return true
		}
	}
	d.put(i, before)
	return false
}

// tidier reports whether the applications in moving are on fewer servers than in another draft, or on as many with compact kinds that are
// broken up less.
func (d *draft) tidier(than *draft, moving []int) bool {
	used, before := servers(d.counts, moving), servers(than.counts, moving)
	return used < before || d.r.typical != nil && used == before && d.unfilled() < than.unfilled()-sameFragment
}

// unfilled returns which part of the compact kinds is left when all open servers are filled.
func (d *draft) unfilled() (sum float64) {
	for j := range d.left {
		if !d.r.problem.Servers[j].Cordoned {
			sum += d.r.unfilled(d.left[j])
		}
	}
	return sum
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
