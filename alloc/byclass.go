// This file writes P2 with servers of equal capacity pooled into classes, a relaxation, and packs
// its solutions back onto servers.

package alloc

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// byClass builds the verbatim form on x[i][g], the containers of application i on the servers of
// class g together:
//
//	(6)       sum_i d_ik x_ig <= sum of c_jk over the servers j of class g
//	(13)(14)  M_ig r_i >= |x_ig - xprev_ig|, xprev_ig summed over the class
//
// Every solution of P2 gives one of it with the same utilization, so its optimum is an upper bound.
func byClass(b *builder) *Model {
	classes := classesOf(b.inst.Capacity)
	capacity := make([]apportion.Resources, len(classes))
	size := make([]int64, len(classes))
	classOf := make([]int, len(b.inst.Capacity))
	for g, servers := range classes {
		capacity[g], size[g] = b.inst.Capacity[servers[0]], int64(len(servers))
		for _, j := range servers {
			classOf[j] = g
		}
	}
	x := b.cells("x", capacity, size)
	for g, kinds := range b.capacities(x, len(classes)) {
		for k, terms := range kinds {
			if len(terms) > 0 {
				b.AtMost(name("c6_s", g, "_k", k), terms, float64(size[g])*float64(capacity[g][k]))
			}
		}
	}
	held := func(a, g int) int64 {
		var n int64
		for _, placed := range b.inst.Apps[a].Previous {
			if classOf[placed.Server] == g {
				n += placed.Count
			}
		}
		return n
	}
	model := &Model{Relaxed: true}
	b.budgets(model, x, held)
	inst := b.inst
	model.decode = func(values []float64) solver.Counts {
		return unpool(inst, classes, x.counts(values), held)
	}
	return model
}

// classesOf lists the servers of each distinct capacity, in the order of first appearance.
func classesOf(capacity []apportion.Resources) [][]int {
	var classes [][]int
	order := make([]int, len(capacity))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(capacity[a], capacity[b]) })
	for s, j := range order {
		if s > 0 && capacity[order[s-1]].Equal(capacity[j]) {
			last := len(classes) - 1
			classes[last] = append(classes[last], j)
		} else {
			classes = append(classes, []int{j})
		}
	}
	slices.SortFunc(classes, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return classes
}

// unpool places the containers of every class on its servers. Applications that hold in every class
// what they held before stay where they were; the containers of the others go, largest dominant
// demand first, where the least is left over (best fit), first within their class and, if it has
// no room, on any server. Containers that fit nowhere are dropped: Check tells.
func unpool(inst *solver.Instance, classes [][]int, pooled solver.Counts, held func(a, g int) int64) solver.Counts {
	free := make([]apportion.Resources, len(inst.Capacity))
	for j, capacity := range inst.Capacity {
		free[j] = capacity.Clone()
	}
	counts := make(solver.Counts, len(inst.Apps))
	var moving []int
	for a := range inst.Apps {
		if inst.Apps[a].Running && staysPooled(inst, classes, pooled[a], func(g int) int64 { return held(a, g) }) &&
			take(free, &inst.Apps[a], inst.Apps[a].Previous) {
			counts[a] = slices.Clone(inst.Apps[a].Previous)
		} else {
			moving = append(moving, a)
		}
	}
	slices.SortStableFunc(moving, func(a, b int) int { return cmp.Compare(inst.Apps[b].Delta, inst.Apps[a].Delta) })
	everywhere := make([]int, len(free))
	for j := range everywhere {
		everywhere[j] = j
	}
	for _, a := range moving {
		on := make(map[int]int64)
		for _, placed := range pooled[a] {
			for range placed.Count {
				if !bestFit(free, &inst.Apps[a], classes[placed.Server], on) {
					bestFit(free, &inst.Apps[a], everywhere, on)
				}
			}
		}
		for j := range free {
			if on[j] > 0 {
				counts[a] = append(counts[a], apportion.Placement{Server: j, Count: on[j]})
			}
		}
	}
	return counts
}

// staysPooled reports whether placed, by class, is what the application held.
func staysPooled(inst *solver.Instance, classes [][]int, placed []apportion.Placement, held func(g int) int64) bool {
	for g := range classes {
		if previousOn(placed, g) != held(g) {
			return false
		}
	}
	return true
}

// take removes placed from free if all of it fits.
func take(free []apportion.Resources, app *solver.App, placed []apportion.Placement) bool {
	for _, p := range placed {
		if app.Demand.CountIn(free[p.Server]) < p.Count {
			return false
		}
	}
	for _, p := range placed {
		for k, d := range app.Demand {
			free[p.Server][k] -= d * p.Count
		}
	}
	return true
}

// bestFit puts one container of app on the server among servers where the least is left over,
// summed over kinds as shares of the server; ties go to the lower server. It reports whether there
// was one.
func bestFit(free []apportion.Resources, app *solver.App, servers []int, on map[int]int64) bool {
	best, least := -1, 0.0
	for _, j := range servers {
		if !app.Demand.FitsIn(free[j]) {
			continue
		}
		left := 0.0
		for k, d := range app.Demand {
			left += float64(free[j][k]-d) / float64(max(1, free[j][k]))
		}
		if best < 0 || left < least {
			best, least = j, left
		}
	}
	if best < 0 {
		return false
	}
	take(free, app, []apportion.Placement{{Server: best, Count: 1}})
	on[best]++
	return true
}
