// This file holds the tree of queues of a Problem: whose ceilings are above whom, and who must change where one has
// been lowered, (G) of [Program §2].

package alloc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/check"
)

// checkQueues adds what is wrong with the queues, which drf.NewTree finds, and with those that applications name: they
// belong to the ends of the tree alone.
func (p *Problem) checkQueues(faults *apportion.Faults) {
	// The quantities are compared with the kinds alone here: what there is of them is no matter.
	if len(p.Kinds) > 0 {
		_, err := p.newTree(make(apportion.Resources, len(p.Kinds)), p.Queues)
		var found apportion.Faults
		errors.As(err, &found)
		*faults = append(*faults, found...)
	}
	for i := range p.Queues {
		q := &p.Queues[i]
		for k := range min(len(q.Guarantee), len(q.Ceiling)) {
			if q.Guarantee[k] > q.Ceiling[k] {
				faults.Add(check.Item("queue", q.ID, i), "Guarantee", apportion.ErrConflict,
					fmt.Sprintf("%d %s is above Ceiling %d", q.Guarantee[k], p.vectorKinds().Name(k), q.Ceiling[k]))
			}
		}
	}
	// An application belongs to an end of the tree, since a queue that has both would owe shares to its children and to
	// its applications by two rules.
	inner, known := make(map[string]bool), make(map[string]bool)
	for i := range p.Queues {
		known[p.Queues[i].ID] = true
		inner[p.Queues[i].Parent] = true
	}
	for i := range p.Applications {
		app := &p.Applications[i]
		switch {
		case app.Queue == "":
		case !known[app.Queue]:
			faults.Add(check.Item("application", app.ID, i), "Queue", apportion.ErrUnknown, strconv.Quote(app.Queue))
		case inner[app.Queue]:
			faults.Add(check.Item("application", app.ID, i), "Queue", apportion.ErrConflict, fmt.Sprintf("%q has queues below it", app.Queue))
		}
	}
}

// limitedQueues lists the positions of the queues that have a ceiling in any kind, those that are further down first, and
// of one depth in the order of the problem: whoever is told what stands in its way hears of its own queue first.
// O(queues x depth).
// The groups of an instance are in this order too, which the stopper relies on.
func (p *Problem) limitedQueues() []int {
	at := make(map[string]int, len(p.Queues))
	for q := range p.Queues {
		at[p.Queues[q].ID] = q
	}
	// Validate has refused circles, so that every way up ends.
	depth := func(q int) int {
		steps := 0
		for id := p.Queues[q].Parent; id != ""; id = p.Queues[at[id]].Parent {
			steps++
		}
		return steps
	}
	var list []int
	for q := range p.Queues {
		if slices.ContainsFunc(p.Queues[q].Ceiling, func(limit int64) bool { return limit < drf.NoLimit }) {
			list = append(list, q)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(depth(b), depth(a)) })
	return list
}

// resolveQueues builds the tree, and notes which ceilings are above each application, the lowest first. It cuts the room of
// each to what these leave when nobody else is below them. Positions c are those in r.limited.
func (r *resolved) resolveQueues() {
	p := r.problem
	if len(p.Queues) == 0 && r.part == nil {
		return
	}
	// 1. The tree gives the shares, and the list of ceilings the groups of P2.
	r.tree = must(r.given.newTree(r.total[:r.ownKinds()], r.queues()))
	r.limited = p.limitedQueues()
	parents := make(map[string]string, len(p.Queues))
	for _, q := range p.Queues {
		parents[q.ID] = q.Parent
	}
	at := make(map[string]int, len(r.limited))
	for c, q := range r.limited {
		at[p.Queues[q].ID] = c
	}
	// 2. Every way up from an application passes the ceilings above it. Those of options are the same, as options have
	// no queue of their own.
	r.above = make([][]int, len(p.Applications))
	for i := range p.Applications {
		for id := p.Applications[i].Queue; id != ""; id = parents[id] {
			if c, limited := at[id]; limited {
				r.above[i] = append(r.above[i], c)
			}
		}
		r.room[i] = min(r.room[i], r.belowCeilings(i, r.ceiling))
	}
}

// ceiling returns the c-th ceiling.
func (r *resolved) ceiling(c int) apportion.Resources {
	return apportion.Resources(r.problem.Queues[r.limited[c]].Ceiling)
}

// belowCeilings returns how many containers of application i fit where so much is left of every ceiling: the least over
// all ceilings above it and all kinds that it demands, and the largest number where nothing limits it. What is left may be
// negative, which counts as nothing.
func (r *resolved) belowCeilings(i int, left func(c int) apportion.Resources) int64 {
	most := int64(math.MaxInt64)
	if r.tree == nil {
		return most
	}
	for _, c := range r.above[i] {
		room, limits := left(c), r.ceiling(c)
		// A kind without a limit has no room that means anything, and is skipped by its limit.
		for k, d := range r.problem.Applications[i].Demand {
			if d > 0 && limits[k] < drf.NoLimit {
				most = min(most, max(0, room[k])/d)
			}
		}
	}
	return most
}

// groups returns the ceilings over apps: one group for each, in their order, with positions in apps. A group may have no
// application; it is there all the same, so that positions of groups and ceilings agree.
func (r *resolved) groups(apps []int) []solver.Group {
	if len(r.limited) == 0 {
		return nil
	}
	groups := make([]solver.Group, len(r.limited))
	for c := range groups {
		groups[c].Ceiling = r.ceiling(c)
	}
	for a, i := range apps {
		for _, c := range r.above[i] {
			groups[c].Apps = append(groups[c].Apps, a)
		}
	}
	return groups
}

// forceBelowCeilings finds the cheapest that cannot stay where a ceiling is below what is used: those of the least
// cost first, of equal ones the largest, and none without need. The pinned go last.
func (r *resolved) forceBelowCeilings() {
	run := make([][]int, len(r.limited)) // by ceiling
	for i := range r.previous {
		if r.running(i) && len(r.limited) > 0 {
			for _, c := range r.above[i] {
				run[c] = append(run[c], i)
			}
		}
	}
	// Ceilings are taken from the lowest up: whoever is forced below one counts above it no more.
	for c := range run {
		left := slices.DeleteFunc(run[c], func(i int) bool { return r.forced[i] })
		if !r.exceeds(c, left) {
			continue
		}
		var gone []int
		slices.SortStableFunc(left, func(a, b int) int {
			if r.pinned[a] != r.pinned[b] {
				return map[bool]int{true: 1, false: -1}[r.pinned[a]]
			}
			x, y := r.app(a), r.app(b)
			return cmp.Or(cmp.Compare(x.Cost, y.Cost), cmp.Compare(y.Delta*float64(solver.Containers(r.previous[b])), x.Delta*float64(solver.Containers(r.previous[a]))))
		})
		for len(left) > 0 && r.exceeds(c, left) {
			gone, left = append(gone, left[0]), left[1:]
		}
		// Whoever was too little by itself may stay after all: the last one that went may have freed enough without those
		// before it. So nobody is forced in vain.
		for _, i := range gone {
			if with := append(slices.Clone(left), i); !r.exceeds(c, with) {
				left = with
				continue
			}
			r.forced[i], r.pinned[i], r.overCeiling[i] = true, false, true
		}
	}
}

// exceeds reports whether these applications use more than the c-th ceiling with what they hold. Products of 128 bits make
// it exact for any quantities.
// Cost is kinds x applications, once for each that is taken out: queues that were lowered are few.
func (r *resolved) exceeds(c int, apps []int) bool {
	// What is left of the ceiling goes down application by application, and never below nothing: that ends the sum.
	for k, limit := range r.ceiling(c) {
		left := uint64(limit)
		for _, i := range apps {
			high, amount := bits.Mul64(uint64(solver.Containers(r.previous[i])), uint64(r.problem.Applications[i].Demand[k]))
			if limit < drf.NoLimit && (high > 0 || amount > left) {
				return true
			}
			left -= amount
		}
	}
	return false
}

// ceilingReason says which ceiling lacks for n more containers of application i, where so much is left of each; the
// reason has no Constraint if none does.
func (r *resolved) ceilingReason(i int, n int64, left func(c int) apportion.Resources) apportion.Reason {
	if r.tree == nil {
		return apportion.Reason{}
	}
	// From the lowest ceiling up: that of its own queue is what its owner can do something about.
	app := &r.problem.Applications[i]
	for _, c := range r.above[i] {
		room, limits := left(c), r.ceiling(c)
		for k, d := range app.Demand {
			if d > 0 && limits[k] < drf.NoLimit && max(0, room[k])/d < n {
				return ceilingText(&r.problem.Queues[r.limited[c]], r.problem.Kinds.Name(k), product(n, d), limits[k], max(0, room[k]))
			}
		}
	}
	return apportion.Reason{}
}

// ceilingText is the reason of a ceiling of a queue: need, limit and left are in units of the kind.
func ceilingText(queue *drf.Queue, kind string, need, limit, left int64) apportion.Reason {
	return apportion.Reason{
		Constraint: solver.Ceiling, Kind: kind, Need: float64(need), Have: float64(left),
		Blockers: []apportion.Blocker{{Cause: ByCeiling, Queue: queue.ID, Kind: kind, Need: need, Free: left, Limit: limit, Setting: "queues.ceiling"}},
		Text:     fmt.Sprintf("queue %q may have %d %s together, of which %d are left, and it needs %d", queue.ID, limit, kind, left, need),
	}
}

// product returns n containers of demand q each, the largest number where that is more.
func product(n, q int64) int64 {
	if n > math.MaxInt64/max(1, q) {
		return math.MaxInt64
	}
	return n * q
}
