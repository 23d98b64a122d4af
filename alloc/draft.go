// This file builds a draft of a decision by best fit: everyone who is taken in at the fewest containers, the
// others as they are. Where a draft holds somebody P2 has a solution, whatever a solver finds, [Program §3].

package alloc

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/remainders"
	"github.com/apportion/apportion/alloc/solver"
)

// draft is an allocation that holds (6), (7), (8), (16) and (G), and what it leaves. It never holds (15): shares are known
// only when all who are in are. Between the methods left and below are what capacities and ceilings have beside counts;
// remove and put keep that so, and nothing else writes to them.
type draft struct {
	r       *resolved
	budget  int64                 // the right side of (16)
	left    []apportion.Resources // by server
	below   []apportion.Resources // what is left of every ceiling
	used    []apportion.Resources // by queue, as nodes are
	levels  []float64             // by queue, unranked where what is used has changed
	counts  solver.Counts         // by application of the problem
	in      []bool                // by application: taken in
	moved   []bool                // by application: not as it was, or it did not run; changing it again costs nothing
	spent   int64                 // the left side of (16)
	takings int                   // how often something was taken from others
	changes int                   // how often containers, or what is in, came or went
	spare   apportion.Resources   // at most what others would give up at any cost, when changes was spareAt
	spareAt int
	remain  *remainders.Groups  // nil before the first question, and where most servers are unlike
	key     []byte              // scratch of likeness
	after   apportion.Resources // scratch of breaks
	grouped bool                // remain was made
	packed  bool                // no packing was found of what is in beside what asks next, of which nothing could shrink
	gathers bool                // what prefers few domains is placed in few
	// reserved is what is kept for applications that are due, and lifted what of it one may use that stays within its guarantee.
	reserved, lifted []*reserved
}

// unranked is a level that has to be computed.
const unranked = -1

// newDraft returns the draft that holds all that run and are not forced, as they are. They fit: a server that
// is too full has forced all on it but the pinned.
func newDraft(r *resolved) *draft {
	apps := len(r.previous)
	d := &draft{r: r, budget: r.adjustBudget(), reserved: r.reserved, counts: make(solver.Counts, apps), in: make([]bool, apps), moved: make([]bool, apps)}
	// The capacities are shared with the problem, and left is written to.
	d.left = make([]apportion.Resources, len(r.capacity))
	for j := range d.left {
		d.left[j] = r.capacity[j].Clone()
	}
	d.below = make([]apportion.Resources, len(r.limited))
	// So are the ceilings, which are those of the queues.
	for c := range d.below {
		d.below[c] = r.ceiling(c).Clone()
	}
	d.used, d.levels = make([]apportion.Resources, len(r.nodes)), slices.Repeat([]float64{unranked}, len(r.nodes))
	for q := range d.used {
		d.used[q] = make(apportion.Resources, len(r.total))
	}
	// The budget is untouched: whoever stays is not adjusted.
	for i := range r.previous {
		if r.running(i) && !r.forced[i] {
			d.enter(i)
			d.put(i, r.previous[i])
		} else {
			// A newcomer and one that is forced may be placed again at no cost.
			d.moved[i] = true
		}
	}
	return d
}

// enter takes the application of entry i in, with all options that P2 is asked about: those that the empty cluster could
// hold, and the one that it runs with. Containers are put elsewhere.
func (d *draft) enter(i int) {
	d.changes++
	for _, e := range d.r.options(i) {
		d.in[e] = d.r.running(e) || d.r.fits(e)
	}
}

// leaveOut takes the application of entry i out, with all its options. Its containers, if it has any, are removed elsewhere.
func (d *draft) leaveOut(i int) {
	for _, e := range d.r.options(i) {
		d.in[e] = false
	}
}

// put gives application i these containers, for which there is room, in place of none.
func (d *draft) put(i int, placed []apportion.Placement) {
	d.counts[i] = placed
	d.take(i, 1)
}

// regroup puts servers where they belong by what they have left.
func (d *draft) regroup(placed []apportion.Placement) {
	for _, p := range placed {
		if d.remain == nil {
			return
		}
		d.remain.Remove(p.Server)
		if d.remain.Put(p.Server, d.likeness(p.Server)); !d.remain.Few() {
			d.remain = nil
		}
	}
}

// take charges the servers, and the ceilings above it, with what application i has, sign times: 1 when it comes, -1 when it
// goes. left and below may become negative for a moment while a caller tries something.
func (d *draft) take(i int, sign int64) {
	d.changes++
	for _, p := range d.counts[i] {
		for k, q := range d.r.problem.Applications[i].Demand {
			d.left[p.Server][k] -= sign * p.Count * q
		}
		for at := d.r.leaf[i]; at >= 0; at = d.r.nodes[at].parent {
			d.levels[at] = unranked
			for k, q := range d.r.problem.Applications[i].Demand {
				d.used[at][k] += sign * p.Count * q
			}
		}
		if d.r.tree == nil {
			continue
		}
		for _, c := range d.r.above[i] {
			for k, q := range d.r.problem.Applications[i].Demand {
				d.below[c][k] -= sign * p.Count * q
			}
		}
	}
	d.regroup(d.counts[i])
}

// ceilingRoom returns how many more containers of application i the ceilings above it leave, the largest number where it has
// none above it.
func (d *draft) ceilingRoom(i int) int64 {
	return d.r.belowCeilings(i, func(c int) apportion.Resources { return d.ceilingLeft(i, c) })
}

// remove takes all containers of application i away and returns them; nil where it has none. put gives them back.
func (d *draft) remove(i int) []apportion.Placement {
	placed := d.counts[i]
	d.take(i, -1)
	d.counts[i] = nil
	return placed
}

// fits reports whether application i, which has none in the draft, could have these containers beside the others: it is
// asked about what an application has had, so that labels and limits by server are not asked again.
func (d *draft) fits(i int, placed []apportion.Placement) bool {
	// Ceilings count the containers of all servers together.
	if solver.Containers(placed) > d.ceilingRoom(i) {
		return false
	}
	for _, p := range placed {
		if d.r.problem.Applications[i].Demand.CountIn(d.room(i, p.Server)) < p.Count {
			return false
		}
	}
	return true
}

// place puts n containers of application i, which has none, on the fewest servers that best fit finds. It
// changes nothing and returns false where it finds no room. O(servers used x groups of remainders x kinds).
func (d *draft) place(i int, n int64) bool {
	// What ceilings leave is known without a look at any server.
	if n > d.ceilingRoom(i) {
		return false
	}
	if !d.grouped {
		d.remain, d.grouped = newRemainders(d), true
	}
	// Nothing is taken before all have a place, so that there is nothing to undo.
	placed, ok := d.places(i, n)
	if !ok {
		return false
	}
	slices.SortFunc(placed, func(a, b apportion.Placement) int { return a.Server - b.Server })
	d.put(i, placed)
	return true
}

// places returns places for n containers of application i: in the domains that are best for it, or on any servers. It returns false
// where it finds no room.
func (d *draft) places(i int, n int64) (placed []apportion.Placement, ok bool) {
	if n == 0 || !d.r.mustBeIn(i) && !(d.gathers && d.r.wishes[i] != nil) {
		return d.fill(i, n, nil)
	}
	parts := d.parts(i, n)
	ok = parts != nil
	before := d.r.confined[i]
	for _, part := range parts {
		if d.r.confined[i] = d.r.classesIn(i, d.r.wishes[i].Leaf(), []int{part.Domain}, before); ok {
			placed, ok = d.fill(i, part.Containers, placed)
		}
	}
	d.r.confined[i] = before
	return placed, ok
}

// fill adds places for need containers of application i to those in placed, one server after the other, which it takes out of their groups. Where it returns
// false all are back in these.
func (d *draft) fill(i int, need int64, placed []apportion.Placement) ([]apportion.Placement, bool) {
	app := &d.r.problem.Applications[i]
	for need > 0 {
		j, count := -1, int64(0)
		// As the server that takes most comes first, no other choice of as many servers had held more.
		if app.MaxServers == 0 || int64(len(placed)) < app.MaxServers {
			j, count = d.bestServer(i, need, placed)
		}
		if j < 0 {
			d.regroup(placed)
			return nil, false
		}
		placed = append(placed, apportion.Placement{Server: j, Count: count})
		if d.remain != nil {
			d.remain.Remove(j)
		}
		need -= count
	}
	return placed, true
}

// rest returns how much server j would have left beside n containers of application i, each kind as a part of
// the whole cluster, so that kinds with large units weigh no more than others. Kinds that i does not demand count as well:
// a container without GPUs so goes to a server without any.
func (d *draft) rest(i, j int, n int64) float64 {
	rest := 0.0
	for k, q := range d.r.problem.Applications[i].Demand[:d.r.ownKinds()] {
		if d.r.total[k] > 0 {
			rest += float64(d.left[j][k]-n*q) / float64(d.r.total[k])
		}
	}
	return rest
}

// least returns the fewest containers that application i may have, or -1 where there is no such number.
func (d *draft) least(i int) int64 {
	// What may be without containers is in without any; how many it gets is for P2.
	if d.r.idle(i) {
		return 0 // it waits for room without asking for any
	}
	numbers := d.r.numbers(i)
	return numbers.AtLeast(1)
}

// leastOf returns the least of kind k that the application of entry i may have, with whichever of its options.
func (d *draft) leastOf(i, k int) int64 {
	least := int64(math.MaxInt64)
	for _, e := range d.r.options(i) {
		if n := d.least(e); d.in[e] || n >= 0 && d.r.fits(e) {
			least = min(least, max(0, n)*d.r.problem.Applications[e].Demand[k])
		}
	}
	return least
}

// cost returns what changing application i takes from the budget (16), beyond what has been spent: an adjustment is paid
// once, however often the draft changes its mind.
func (d *draft) cost(i int) int64 {
	for _, e := range d.r.options(i) {
		if !d.moved[e] {
			return d.r.cost(e)
		}
	}
	return 0
}

// move charges the budget with a change of application i, with whichever option it goes on.
func (d *draft) move(i int) {
	d.spent += d.cost(i)
	for _, e := range d.r.options(i) {
		d.moved[e] = true
	}
}

// yield notes a change of application i for another one, or by its own guarantee: the budget is not charged with it.
func (d *draft) yield(i int) {
	d.r.yielding[i] = d.r.yielding[i] || d.r.running(i) && !d.r.forced[i]
	d.move(i)
}

// adopt takes over counts, those of a solution for apps, less what those that have changed have beyond their
// fewest containers.
func (d *draft) adopt(apps []int, inst *solver.Instance, counts solver.Counts) {
	// The solution knows nothing of the draft, so that all is counted anew. What was spent is too: the solution holds (16)
	// by itself.
	for i := range d.counts {
		d.remove(i)
	}
	d.spent = 0
	d.takings++
	// What stays as it was is no adjustment, also where the draft had moved it before.
	for a, i := range apps {
		d.in[i] = true
		app := d.r.app(i)
		if d.r.running(i) && !app.Adjusted(counts[a]) {
			d.put(i, counts[a])
			d.moved[i] = d.r.forced[i]
			continue
		}
		// What a solver gives beyond the fewest containers would stand in the way of those who come later; but to grow may cost nothing where
		// to shrink does.
		n, given := max(0, d.least(i), inst.Apps[a].Min), solver.Containers(counts[a])
		d.moved[i] = true
		if d.r.running(i) && app.CostOf(given) < app.CostOf(n) {
			n, d.moved[i] = given, false
		}
		if d.r.running(i) {
			d.spent += app.CostOf(n)
		}
		d.put(i, fewer(counts[a], n))
	}
}

// fewer returns n containers of those in placed, which has at least as many: from the servers with the most of
// them, so that few servers are left.
func fewer(placed []apportion.Placement, n int64) []apportion.Placement {
	// placed belongs to a solution, and keeps its order.
	bySize := slices.Clone(placed)
	slices.SortStableFunc(bySize, func(a, b apportion.Placement) int { return cmp.Compare(b.Count, a.Count) })
	var kept []apportion.Placement
	for _, p := range bySize {
		if p.Count = min(p.Count, n); p.Count > 0 {
			kept = append(kept, p)
			n -= p.Count
		}
	}
	slices.SortFunc(kept, func(a, b apportion.Placement) int { return a.Server - b.Server })
	return kept
}

// taken lists the applications that are in, ascending: of one with options all that P2 is asked about.
// The order is that of P2, and its positions are those of the instance.
func (d *draft) taken() []int {
	var apps []int
	for i, in := range d.in {
		if in {
			apps = append(apps, i)
		}
	}
	return apps
}

// free returns how much of kind k is left on all servers together, however it is broken up.
func (d *draft) free(k int) int64 {
	return d.r.total[k] - d.used[0][k]
}
