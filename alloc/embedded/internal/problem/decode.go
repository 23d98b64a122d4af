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
func (p *Problem) Decode(best *Incumbent) solver.Counts {
	counts := make(solver.Counts, len(p.Apps))
	where := make([][]apportion.Placement, len(p.Types))
	for j, slots := range best.On {
		for _, sl := range slots {
			where[sl.Type] = append(where[sl.Type], apportion.Placement{Server: j, Count: sl.Count})
		}
	}
	for i := range p.Apps {
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
		if len(members) > 0 {
			p.deal(members, where[t], counts)
		}
	}
	return counts
}

// share returns how many of total containers each member gets: minima, then the cheapest steps of
// the loss as pool describes them; among equal steps those that lead to what is held now.
func (p *Problem) share(members []int32, total int64) []int64 {
	n := make([]int64, len(members))
	for m, i := range members {
		n[m] = p.Apps[i].Min
		total -= n[m]
	}
	raise := func(m int, to int64) {
		more := min(total, max(0, min(to, p.Apps[members[m]].Max)-n[m]))
		n[m] += more
		total -= more
	}
	for _, preferHeld := range [...]bool{true, false} {
		for m, i := range members {
			if a := &p.Apps[i]; preferHeld {
				raise(m, min(a.Held, a.Fair))
			} else {
				raise(m, a.Fair)
			}
		}
	}
	for _, m := range p.byFraction(members, n) {
		raise(m, n[m]+1)
	}
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
		if a := &p.Apps[i]; n[m] == a.Fair && a.Fair < a.Max {
			order = append(order, m)
		}
	}
	slope := func(m int) float64 { return p.Loss(members[m], n[m]+1) - p.Loss(members[m], n[m]) }
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
	got := make([]map[int]int64, len(members))
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
	last := len(where) - 1
	for m := range members {
		for n[m] > 0 {
			if where[last].Count == 0 {
				last--
				continue
			}
			take(m, last, n[m])
		}
	}
	for m, i := range members {
		for server, count := range got[m] {
			counts[i] = append(counts[i], apportion.Placement{Server: server, Count: count})
		}
		slices.SortFunc(counts[i], func(a, b apportion.Placement) int { return cmp.Compare(a.Server, b.Server) })
	}
}
