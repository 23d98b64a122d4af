// This file uses the exact bound of joined servers: as a bound, and as the numbers of containers to begin with.

package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// byTotals bounds an instance other than the paper's P2 by what all use together, and packs the numbers that attain the
// bound, where they can be packed at once. Then the search has nothing left to do but to prove it; else the numbers were too
// many for the servers one by one, and the bound alone stays.
func (r *run) byTotals(ctx context.Context) {
	if r.p.Plain || r.tune.Totals <= 0 || ctx.Err() != nil {
		return
	}
	t := lagrange.NewTotals(r.p, nil, r.p.Inst.LossBudget)
	if t == nil {
		return
	}
	// Good prices first: the better they are the fewer ways does the exact search look at.
	t.Lower(ctx, r.tune.TotalRounds)
	bound, counts := t.Best(ctx, totalsWork(r.tune, r.opts.Effort), r.attained(), solver.ObjectiveTolerance/2)
	r.totals = bound
	r.joined = true
	if counts == nil {
		return // what is attained already is as good, or the work was spent
	}
	// The referee says whether all have found a place: pack leaves out what has not.
	if placed := pack(r.p.Inst, counts); r.p.Inst.Check(placed) == nil {
		r.a.Load(placed)
	}
}

// totalsWork returns how many pairs of a state and a way an effort pays for. It is the same on every machine, however large the
// effort: a float64 that int64 does not hold becomes another number on each.
func totalsWork(tune *tuning.Numbers, effort Effort) int64 {
	return int64(math.Min(tune.Totals*float64(effort), math.MaxInt32))
}

// pack places numbers of containers, -1 for what an application has, where they fit best: on the server that holds all
// that are left of an application with the least room to spare, or else on that which holds most. What does not fit is
// left out. O(servers x servers in use) for each application.
func pack(inst *solver.Instance, numbers []int64) solver.Counts {
	// left is what servers have beside those that are placed so far. Nothing overflows, since numbers are within what the cell
	// holds, and what stays fits where it is.
	placed, left := make(solver.Counts, len(inst.Apps)), make([]apportion.Resources, len(inst.Capacity))
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
				break
			}
			count := min(n, most)
			take(i, apportion.Placement{Server: best, Count: count})
			n -= count
		}
		slices.SortFunc(placed[i], func(a, b apportion.Placement) int { return cmp.Compare(a.Server, b.Server) })
	}
	return placed
}
