// This file lets what is placed anew make way for what prefers few domains, [Program §13].

package alloc

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// mostWays is in how many domains room is made for one application, of those with the most room for it: it bounds time.
const mostWays = 3

// way is a set of domains that room is made in: everybody else is placed again, or no more of them than have to be.
type way struct {
	domains  []int
	everyone bool
}

// makeWay lets the other applications of moving, all that are placed anew, make way for application i of them. All keep their numbers. It
// keeps what raises the worth of all together the most, and reports whether anything does. O(servers x applications that make way).
func (d *draft) makeWay(i int, moving []int, allowed func() bool) bool {
	before := slices.Clone(d.counts)
	best, most := before, solver.ObjectiveTolerance
	for _, w := range d.ways(i, moving) {
		if d.goes(i, w, moving) {
			if gain := d.gain(moving, before); gain > most && allowed() {
				best, most = slices.Clone(d.counts), gain
			}
		}
		d.restore(moving, before)
	}
	d.restore(moving, best)
	return most > solver.ObjectiveTolerance
}

// gain is by how much the applications of list are worth more than they were, less what they lose by servers and domains.
func (d *draft) gain(list []int, before solver.Counts) (sum float64) {
	for _, m := range list {
		if !solver.SamePlaces(d.counts[m], before[m]) {
			sum += d.r.netWorth(d.r.of[m], d.counts) - d.r.netWorth(d.r.of[m], before)
		}
	}
	return sum
}

// restore gives the applications of list these places again.
func (d *draft) restore(list []int, counts solver.Counts) {
	var changed []int
	for _, m := range list {
		if !solver.SamePlaces(d.counts[m], counts[m]) {
			d.remove(m)
			changed = append(changed, m)
		}
	}
	for _, m := range changed {
		d.put(m, counts[m])
	}
}

// ways lists how application i could have all that it has: in the domains, of the narrowest level that it asks about, that are best without
// the others of moving, and in single ones with the most room now. nil: not at all.
func (d *draft) ways(i int, moving []int) []way {
	n, leaf := solver.Containers(d.counts[i]), d.r.wishes[i].Leaf()
	own := d.remove(i)
	now := d.domainRooms(i)
	d.put(i, own)
	cleared := d.cleared(moving)
	room := d.r.rooms(i, leaf, func(j int) apportion.Resources { return cleared[j] })
	var set []int
	for _, part := range d.r.topology.Choose(d.r.wishes[i], room, n, n) {
		set = append(set, part.Domain)
	}
	if len(set) == 0 {
		return nil
	}
	var single []int
	for at := range room {
		if room[at] >= n {
			single = append(single, at)
		}
	}
	slices.SortStableFunc(single, func(a, b int) int { return cmp.Compare(now[b], now[a]) })
	ways := []way{{set, true}, {set, false}}
	for _, at := range single[:min(len(single), mostWays)] {
		ways = append(ways, way{[]int{at}, false})
	}
	return ways
}

// cleared is what servers have left without the applications of moving.
func (d *draft) cleared(moving []int) []apportion.Resources {
	left := make([]apportion.Resources, len(d.left))
	for j := range left {
		left[j] = d.left[j].Clone()
	}
	for _, m := range moving {
		for _, p := range d.counts[m] {
			for k, q := range d.r.problem.Applications[m].Demand {
				left[p.Server][k] += p.Count * q
			}
		}
	}
	return left
}

// goes places application i in the domains of a way. Out of these the others of moving go, first the smallest that makes room alone or else
// the one that has most there, until there is room, or everyone does; and they are placed again, the largest first. false: one of them has
// no place, and what has been done is to be taken back.
func (d *draft) goes(i int, w way, moving []int) bool {
	others := d.others(i, w, moving)
	n := solver.Containers(d.remove(i))
	confined := d.r.confined[i]
	d.r.confined[i] = d.r.classesIn(i, d.r.wishes[i].Leaf(), w.domains, confined)
	var went []int
	numbers := make([]int64, len(d.counts))
	placed := false
	for _, m := range others {
		if placed = !w.everyone && d.place(i, n); placed {
			break
		}
		numbers[m] = solver.Containers(d.remove(m))
		went = append(went, m)
	}
	placed = placed || d.place(i, n)
	d.r.confined[i] = confined
	slices.SortStableFunc(went, func(a, b int) int { return cmp.Compare(numbers[b], numbers[a]) })
	return placed && !slices.ContainsFunc(went, func(m int) bool { return !d.place(m, numbers[m]) })
}

// others lists those of moving that make way for application i, in the order of goes.
func (d *draft) others(i int, w way, moving []int) (list []int) {
	leaf, n := d.r.wishes[i].Leaf(), solver.Containers(d.counts[i])
	here := make(map[int]int64)
	for _, m := range moving {
		for _, p := range d.counts[m] {
			if slices.Contains(w.domains, d.r.topology.Of(leaf, p.Server)) {
				here[m] += p.Count
			}
		}
		if m != i && (here[m] > 0 || w.everyone) {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		if here[a] >= n && here[b] >= n {
			return cmp.Compare(here[a], here[b])
		}
		return cmp.Compare(here[b], here[a])
	})
	return list
}
