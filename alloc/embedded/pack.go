// This file places numbers of containers that are known beforehand: where they fit best, by trying every way to fill the servers, or
// by moves [Schrimpf00].

package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/search"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// mostPackWork bounds how long a place for all is looked for.
const mostPackWork = 4000

// packer places numbers of containers of one instance.
type packer struct {
	inst *solver.Instance
	tune *tuning.Numbers
	seed uint64
}

// first returns a placement of the first numbers of which it finds a solution, nil where it finds none.
func (q *packer) first(ctx context.Context, choices [][]int64) solver.Counts {
	for _, numbers := range choices {
		placed, all := pack(q.inst, numbers)
		if !all {
			placed = q.search(ctx, numbers)
		}
		// The referee has the last word, also about limits of servers.
		if placed != nil && q.inst.Check(placed) == nil {
			return placed
		}
	}
	return nil
}

// search returns a placement of numbers, of each application one, or Stays; nil where it finds none. A container counts as much as it
// takes of what is left, so that a search that leaves some out rather leaves out small ones.
func (q *packer) search(ctx context.Context, numbers []int64) solver.Counts {
	fixed, apps := numbered(q.inst, numbers)
	p := problem.New(fixed)
	all := 0.0
	for i := range fixed.Apps {
		if p.Apps[i].Max < fixed.Apps[i].Max {
			return nil // not even without the others
		}
		all += float64(fixed.Apps[i].Value * float64(fixed.Apps[i].Max))
	}
	// Trying every way to fill the servers knows nothing of limits but room.
	if placed := placedWith(q.inst, numbers, spread(q.fill(ctx, fixed), apps, len(numbers))); placed != nil && q.inst.Check(placed) == nil {
		return placed
	}
	a := search.New(search.NewState(p), q.seed, q.tune)
	a.Construct(ctx)
	a.Run(ctx, mostPackWork, q.tune.Hot*a.Unit(), all-solver.ObjectiveTolerance)
	if a.Best.Objective < all-solver.ObjectiveTolerance {
		return nil
	}
	return placedWith(q.inst, numbers, spread(p.Decode(&a.Best), apps, len(numbers)))
}

// fill returns a placement of as many containers of each application as it may have at most, by trying every way to fill the servers,
// large containers first; nil where it finds none.
func (q *packer) fill(ctx context.Context, fixed *solver.Instance) solver.Counts {
	full, order := *fixed, make([]int, len(fixed.Apps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(fixed.Apps[b].Value, fixed.Apps[a].Value) })
	full.Apps = nil
	for _, i := range order {
		app := fixed.Apps[i]
		app.Min = app.Max
		full.Apps = append(full.Apps, app)
	}
	p := problem.New(&full)
	a := search.New(search.NewState(p), q.seed, q.tune)
	a.FillMinima(ctx, int64(q.tune.Filled))
	if !a.Best.Found {
		return nil
	}
	return spread(p.Decode(&a.Best), order, len(order))
}

// numbered returns an instance of what is left beside what stays, in which every other application has its number at most, and the
// positions of these. What they have now is nothing to it: they are adjusted wherever they come.
func numbered(inst *solver.Instance, numbers []int64) (left *solver.Instance, apps []int) {
	left = &solver.Instance{Total: inst.Total, Class: inst.Class, LossBudget: math.MaxFloat64}
	for j := range inst.Capacity {
		left.Capacity = append(left.Capacity, inst.Capacity[j].Clone())
	}
	for i, n := range numbers {
		app := &inst.Apps[i]
		switch {
		case n == lagrange.Stays:
			for _, at := range app.Previous {
				for k, q := range app.Demand {
					left.Capacity[at.Server][k] -= at.Count * q
				}
			}
		case n > 0:
			left.Apps = append(left.Apps, solver.App{Demand: app.Demand, Max: n, Classes: app.Classes, PerServer: app.PerServer, MaxServers: app.MaxServers})
			apps = append(apps, i)
		}
	}
	free := make([]float64, len(left.Total))
	for _, capacity := range left.Capacity {
		for k, q := range capacity {
			free[k] += float64(q)
		}
	}
	for i := range left.Apps {
		for k, q := range left.Apps[i].Demand {
			left.Apps[i].Value += float64(q) / math.Max(1, free[k])
		}
	}
	return left, apps
}

// placedWith adds to what has been placed the placements of those that stay; nil for nil.
func placedWith(inst *solver.Instance, numbers []int64, placed solver.Counts) solver.Counts {
	for i, n := range numbers {
		if placed != nil && n == lagrange.Stays {
			placed[i] = slices.Clone(inst.Apps[i].Previous)
		}
	}
	return placed
}

// pack places numbers of containers, -1 for what an application has, where they fit best: on the server that holds all
// that are left of an application with the least room to spare, or else on that which holds most. What does not fit is
// left out, and all is false then. O(servers x servers in use) for each application.
func pack(inst *solver.Instance, numbers []int64) (placed solver.Counts, all bool) {
	// left is what servers have beside those that are placed so far. Nothing overflows, since numbers are within what the cell
	// holds, and what stays fits where it is.
	left := make([]apportion.Resources, len(inst.Capacity))
	placed, all = make(solver.Counts, len(inst.Apps)), true
	for j := range left {
		left[j] = inst.Capacity[j].Clone()
	}
	take := func(i int, p apportion.Placement) {
		for k, q := range inst.Apps[i].Demand {
			left[p.Server][k] -= p.Count * q
		}
		placed[i] = append(placed[i], p)
	}
	// Those that stay come first: they have no choice.
	var anew []int
	for i, n := range numbers {
		switch {
		case n == lagrange.Stays:
			for _, p := range inst.Apps[i].Previous {
				take(i, p)
			}
		case n > 0:
			anew = append(anew, i)
		}
	}
	// Large containers before small ones, as in best fit decreasing.
	slices.SortStableFunc(anew, func(a, b int) int { return cmp.Compare(inst.Apps[b].Delta, inst.Apps[a].Delta) })
	for _, i := range anew {
		for n := numbers[i]; n > 0; {
			best, most := -1, int64(0)
			for j := range left {
				if !inst.Open(i, j) || slices.ContainsFunc(placed[i], func(p apportion.Placement) bool { return p.Server == j }) {
					continue
				}
				room := inst.Apps[i].Demand.CountIn(left[j])
				if limit := inst.Apps[i].PerServer; limit > 0 {
					room = min(room, limit)
				}
				// More room is better up to n, and less is better beyond: the tightest server that takes all.
				if room > most && most < n || room >= n && room < most {
					best, most = j, room
				}
			}
			if best < 0 {
				all = false
				break
			}
			count := min(n, most)
			take(i, apportion.Placement{Server: best, Count: count})
			n -= count
		}
		slices.SortFunc(placed[i], func(a, b apportion.Placement) int { return cmp.Compare(a.Server, b.Server) })
	}
	return placed, all
}
