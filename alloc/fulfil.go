// This file lets queues that have less than they are guaranteed grow, and holds P2 to that: [Program §7], points 3 and 4.

package alloc

import (
	"context"

	"github.com/apportion/apportion"
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
		// One with options may be due another one: that is for P2 to say. Slices that run are left as they are.
		if a.r.pinned[i] || a.r.sliced(i) && !a.moved[i] || a.waitedFor(i) || len(a.r.options(i)) > 1 || !(app.Delta > 0) {
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
	grown := a.within(i, n) && (a.place(i, n) || a.reclaimInDomains(i, n))
	if a.r.confined[i] = confined; grown {
		a.yield(i)
		return true
	}
	a.put(i, before)
	return false
}

// solveGuaranteed is solveElastic, asked once more where its answer takes from a queue what it is guaranteed and has in the draft: then
// every queue keeps what it is guaranteed.
func (r *resolved) solveGuaranteed(ctx context.Context, d *draft, by solver.Solver) (*attempt, error) {
	answer, err := r.solveElastic(ctx, d, by)
	if err != nil || ctx.Err() != nil || !r.takesGuaranteed(d, answer) {
		return answer, err
	}
	r.setFloors(0, d, r.scatter(answer.apps, answer.solution.Counts))
	return r.solveElastic(ctx, d, by)
}

// takesGuaranteed reports whether a queue has less than its guarantee in the answer, and less than in the draft.
func (r *resolved) takesGuaranteed(d *draft, answer *attempt) bool {
	used := r.usedBelow(answer)
	for q := range r.nodes {
		for k, g := range r.nodes[q].guarantee {
			if !r.isPart(k) && used[q][k] < min(g, d.used[q][k]) {
				return true
			}
		}
	}
	return false
}

// usedBelow returns what the applications below each queue use in an answer.
func (r *resolved) usedBelow(answer *attempt) []apportion.Resources {
	used := make([]apportion.Resources, len(r.nodes))
	for q := range used {
		used[q] = make(apportion.Resources, len(r.total))
	}
	for at, i := range answer.apps {
		n := solver.Containers(answer.solution.Counts[at])
		for q := r.leaf[i]; q >= 0; q = r.nodes[q].parent {
			for k, demand := range r.problem.Applications[i].Demand {
				used[q][k] += n * demand
			}
		}
	}
	return used
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

// setFloors lets the applications below q keep what they have in the draft, up to the guarantee: those first that have as much in the answer,
// so that as little as can be of it changes. The lowest queues come first, so that those above count what is kept below them.
func (r *resolved) setFloors(q int, d *draft, answer solver.Counts) {
	for _, c := range r.nodes[q].children {
		r.setFloors(c, d, answer)
	}
	if r.nodes[q].guarantee == nil {
		return
	}
	left, below := r.nodes[q].guarantee.Clone(), r.below(q)
	for _, i := range below {
		take(left, r.floor[i], r.problem.Applications[i].Demand)
	}
	for _, counts := range []solver.Counts{answer, d.counts} {
		for _, i := range below {
			if len(r.options(i)) > 1 {
				continue // which one it uses is for P2 to say
			}
			app, demand := r.app(i), r.problem.Applications[i].Demand
			most := min(solver.Containers(d.counts[i]), solver.Containers(counts[i]), r.floor[i]+max(0, demand.CountIn(left)))
			if more := app.AtMost(most) - r.floor[i]; more > 0 {
				r.floor[i] += more
				take(left, more, demand)
			}
		}
	}
}

// take takes n containers with a demand off what is left.
func take(left apportion.Resources, n int64, demand apportion.Resources) {
	for k := range left {
		left[k] -= n * demand[k]
	}
}
