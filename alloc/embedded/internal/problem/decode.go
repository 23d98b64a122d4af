// This file turns the incumbent, containers by type, into Counts by application.

package problem

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Decode hands the containers of every type to its free applications: first how many each gets, by
// least loss, then where, close to where it has them now.
// Neither choice touches the objective of the search: utilization depends on containers by type alone, and the
// loss was computed for the cheapest distribution, which share repeats. What Decode can still win is fewer
// moved containers and fewer adjusted applications.
func (p *Problem) Decode(best *Incumbent) solver.Counts {
	counts := make(solver.Counts, len(p.Apps))
	where := make([][]apportion.Placement, len(p.Types))
	// Servers are visited in ascending order, so that each list in where is ascending as a placement has to
	// be.
	for j, slots := range best.On {
		for _, sl := range slots {
			where[sl.Type] = append(where[sl.Type], apportion.Placement{Server: j, Count: sl.Count})
		}
	}
	for i := range p.Apps {
		// Who is kept gets back exactly what it held, in a copy: the caller owns the answer.
		if p.Apps[i].Pinnable && !best.Free[i] {
			counts[i] = slices.Clone(p.Inst.Apps[i].Previous)
		}
	}
	for t := range p.Types {
		var members []int32
		for _, i := range p.Types[t].Members {
			if best.Free[i] {
				members = append(members, i)
			}
		}
		// Without free members a type has no free containers, since its pool has a maximum of 0.
		if len(members) > 0 {
			p.deal(members, where[t], counts)
		}
	}
	return counts
}

// share returns how many of total containers each member gets: minima, then the cheapest steps of
// the loss as pool describes them; among equal steps those that lead to what is held now.
func (p *Problem) share(members []int32, total int64) []int64 {
	// Minima come first: they are constraints (7), whatever they do to the loss.
	n := make([]int64, len(members))
	for m, i := range members {
		n[m] = p.Apps[i].Min
		total -= n[m]
	}
	// raise never exceeds a Max (8) nor what is left of total, so that n sums up to total at the end.
	raise := func(m int, to int64) {
		more := min(total, max(0, min(to, p.Apps[members[m]].Max)-n[m]))
		n[m] += more
		total -= more
	}
	// All steps up to Fair have the slope -delta and are equal: in the first pass they go to those that held
	// them, in the second to anybody.
	for _, preferHeld := range [...]bool{true, false} {
		for m, i := range members {
			if a := &p.Apps[i]; preferHeld {
				raise(m, min(a.Held, a.Fair))
			} else {
				raise(m, a.Fair)
			}
		}
	}
	// Next come the fractional steps, one each, ascending in slope.
	for _, m := range p.byFraction(members, n) {
		raise(m, n[m]+1)
	}
	// Beyond that all steps have the slope +delta: again to those that held them first.
	for m, i := range members {
		raise(m, p.Apps[i].Held)
	}
	for m := range members {
		raise(m, p.Apps[members[m]].Max)
	}
	return n
}

// byFraction lists the members that stand at their fair count below their maximum, in the order of
// their fractional step, ties to those that held more.
func (p *Problem) byFraction(members []int32, n []int64) []int {
	var order []int
	for m, i := range members {
		// Whoever stands below Fair here has got nothing more because total is used up, and its fractional
		// step is out of reach.
		if a := &p.Apps[i]; n[m] == a.Fair && a.Fair < a.Max {
			order = append(order, m)
		}
	}
	slope := func(m int) float64 { return p.Loss(members[m], n[m]+1) - p.Loss(members[m], n[m]) }
	// The sort is stable: full ties stay in the order of submission, or the answer would depend on the sort.
	slices.SortStableFunc(order, func(x, y int) int {
		if c := cmp.Compare(slope(x), slope(y)); c != 0 {
			return c
		}
		return cmp.Compare(p.Apps[members[y]].Held, p.Apps[members[x]].Held)
	})
	return order
}

// deal gives each member its number of the containers in where: first to members that can have
// exactly what they hold, then what overlaps, then the rest, last servers first.
func (p *Problem) deal(members []int32, where []apportion.Placement, counts solver.Counts) {
	var total int64
	at := make(map[int]int, len(where)) // server -> entry of where
	for w, placed := range where {
		total += placed.Count
		at[placed.Server] = w
	}
	n := p.share(members, total)
	// got[m] is by server, since a member may take from one server more than once.
	got := make([]map[int]int64, len(members))
	// take moves no more than the member still wants, and no more than stand on the server.
	take := func(m, w int, most int64) {
		if c := min(most, n[m], where[w].Count); c > 0 {
			got[m][where[w].Server] += c
			n[m] -= c
			where[w].Count -= c
		}
	}
	for m := range members {
		got[m] = make(map[int]int64)
	}
	// Two passes: first those that can stay exactly as they are, as only they count as not adjusted (16); one
	// that overlaps in part is adjusted anyway, and must not take their containers.
	for _, exact := range [...]bool{true, false} {
		for m, i := range members {
			previous := p.Inst.Apps[i].Previous
			missing := func(h apportion.Placement) bool {
				w, there := at[h.Server]
				return !there || where[w].Count < h.Count
			}
			if exact && (n[m] != p.Apps[i].Held || slices.ContainsFunc(previous, missing)) {
				continue
			}
			for _, h := range previous {
				if w, there := at[h.Server]; there && got[m][h.Server] == 0 {
					take(m, w, h.Count)
				}
			}
		}
	}
	// All overlaps are taken by now, so that any order of the rest moves as many; from the end one index is
	// enough.
	last := len(where) - 1
	for m := range members {
		// last never falls below 0: the members' numbers sum up to the containers in where.
		for n[m] > 0 {
			if where[last].Count == 0 {
				last--
				continue
			}
			take(m, last, n[m])
		}
	}
	for m, i := range members {
		// A map has no order; the sort below gives placements the ascending order that solver.Counts has.
		for server, count := range got[m] {
			counts[i] = append(counts[i], apportion.Placement{Server: server, Count: count})
		}
		slices.SortFunc(counts[i], func(a, b apportion.Placement) int { return cmp.Compare(a.Server, b.Server) })
	}
}
