// This file lets queues that have less than they are guaranteed grow, and holds P2 to that: [Program §7], points 3 and 4.

package alloc

import (
	"context"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// fulfil gives those that are in and whose queues stay within their guarantees what they are due, as far as whole containers go,
// where others have more than they are guaranteed. It counts against no budget.
func (a *admission) fulfil() {
	if !a.r.guaranteed {
		return
	}
	apps := a.taken()
	shares := a.r.shares(apps)
	for at, i := range apps {
		app := a.r.app(i)
		// One with options may be due another one: that is for P2 to say.
		if a.r.pinned[i] || a.r.sliced(i) || a.waitedFor(i) || len(a.r.options(i)) > 1 || !(app.Delta > 0) {
			continue
		}
		least, most := solver.Containers(a.counts[i]), app.AtMost(int64(shares[at]/app.Delta+ceilTolerance))
		// More can be had only where less can.
		for most > least {
			n := app.AtLeast(least + (most-least+1)/2)
			if n > most {
				break
			}
			if a.grow(i, n) {
				least = n
			} else {
				most = app.AtMost(n - 1)
			}
		}
	}
}

// grow places application i anew with n containers, within the guarantees above it. Where it returns false nothing has changed.
func (a *admission) grow(i int, n int64) bool {
	confined := a.r.confined[i]
	a.r.confined[i] = a.r.classesAround(i, a.counts[i])
	before := a.remove(i)
	grown := a.within(i, n) && (a.place(i, n) || a.reclaim(i, n))
	if a.r.confined[i] = confined; grown {
		a.yield(i)
		return true
	}
	a.put(i, before)
	return false
}

// solveGuaranteed is solveElastic, asked again as long as its answer takes from a queue what it is guaranteed and has in the draft: then
// the applications of that queue keep what they have there.
func (r *resolved) solveGuaranteed(ctx context.Context, d *draft, by solver.Solver) (*attempt, error) {
	held := make([]bool, len(r.nodes))
	for {
		answer, err := r.solveElastic(ctx, d, by)
		if err != nil || ctx.Err() != nil {
			return answer, err
		}
		more := false
		for q := range r.nodes {
			if !held[q] && r.takesFrom(q, d, answer) {
				held[q], more = true, true
			}
		}
		if !more {
			return answer, nil
		}
		clear(r.floor)
		r.setFloors(0, held, d)
	}
}

// below lists the applications of queue q and those under it, in the order of the problem.
func (r *resolved) below(q int) []int {
	var list []int
	for i, at := range r.leaf {
		for at > 0 && at != q {
			at = r.nodes[at].parent
		}
		if at == q {
			list = append(list, i)
		}
	}
	return list
}

// takesFrom reports whether queue q has less than its guarantee in the answer, and less than in the draft.
func (r *resolved) takesFrom(q int, d *draft, answer *attempt) bool {
	guarantee := r.nodes[q].guarantee
	if guarantee == nil {
		return false
	}
	for k, g := range guarantee {
		if r.isPart(k) {
			continue
		}
		var used int64
		for _, i := range r.below(q) {
			if at, in := slices.BinarySearch(answer.apps, i); in {
				used += solver.Containers(answer.solution.Counts[at]) * r.problem.Applications[i].Demand[k]
			}
		}
		if used < min(g, d.used[q][k]) {
			return true
		}
	}
	return false
}

// setFloors lets the applications below q, of queues that are held, keep what they have in the draft, the first ones up to the
// guarantee. The lowest queues come first, so that those above count what is held below them.
func (r *resolved) setFloors(q int, held []bool, d *draft) {
	for _, c := range r.nodes[q].children {
		r.setFloors(c, held, d)
	}
	if !held[q] {
		return
	}
	left, below := r.nodes[q].guarantee.Clone(), r.below(q)
	for _, i := range below {
		for k, demand := range r.problem.Applications[i].Demand {
			left[k] -= r.floor[i] * demand
		}
	}
	for _, i := range below {
		if len(r.options(i)) > 1 {
			continue // which one it uses is for P2 to say
		}
		app, demand := r.app(i), r.problem.Applications[i].Demand
		n := app.AtMost(min(solver.Containers(d.counts[i]), r.floor[i]+max(0, demand.CountIn(left))))
		for k := range left {
			left[k] -= max(0, n-r.floor[i]) * demand[k]
		}
		r.floor[i] = max(r.floor[i], n)
	}
}
