// This file asks what queues are guaranteed: who stays within a guarantee, and who may be taken from for it, [Program §7].

package alloc

import (
	"math"
	"math/bits"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
)

// node is a queue as admission sees it. The first is the whole cluster, the last the leaf of the applications without a queue.
type node struct {
	parent   int // of the cluster -1
	children []int
	weight   float64
	usage    float64
	// guarantee is what the queue states, else the sum of those below it; scaled to what there is. nil: it has none of its own.
	guarantee apportion.Resources
}

// resolveNodes builds the tree that admission goes by. By submission all applications are of one leaf.
func (r *resolved) resolveNodes() {
	queues := r.problem.Queues
	if r.problem.Options.Order == BySubmission {
		queues = nil
	}
	at := make(map[string]int, len(queues))
	for q := range queues {
		at[queues[q].ID] = q + 1
	}
	r.nodes = append(make([]node, 0, len(queues)+2), node{parent: -1, weight: 1})
	for q := range queues {
		r.nodes = append(r.nodes, node{parent: at[queues[q].Parent], weight: queues[q].Weight, usage: queues[q].Usage, guarantee: slices.Clone(queues[q].Guarantee)})
	}
	last := len(r.nodes)
	r.nodes = append(r.nodes, node{weight: 1})
	for q := 1; q <= last; q++ {
		up := &r.nodes[r.nodes[q].parent]
		up.children = append(up.children, q)
	}
	r.leaf = make([]int, len(r.problem.Applications))
	for i := range r.leaf {
		r.leaf[i] = last
		if q, known := at[r.problem.Applications[i].Queue]; known {
			r.leaf[i] = q
		}
	}
	r.guaranteed = r.sumGuarantees(0) != nil
	r.nodes[0].guarantee = nil
	r.scaleGuarantees(0, r.total)
	// What an application has of parts is within any guarantee: the derived kinds count.
	for q := range r.nodes {
		for k := range r.nodes[q].guarantee {
			if r.isPart(k) {
				r.nodes[q].guarantee[k] = drf.NoLimit
			}
		}
	}
}

// sumGuarantees gives every queue below q that states no guarantee the sum of those below it, and returns that of q.
func (r *resolved) sumGuarantees(q int) apportion.Resources {
	n := &r.nodes[q]
	var sum apportion.Resources
	for _, c := range n.children {
		below := r.sumGuarantees(c)
		if sum == nil && below != nil {
			sum = make(apportion.Resources, len(below))
		}
		for k, g := range below {
			sum[k] += min(g, math.MaxInt64-sum[k])
		}
	}
	if n.guarantee == nil {
		n.guarantee = sum
	}
	return n.guarantee
}

// scaleGuarantees cuts what is guaranteed to the children of q, each by the same part, to what q has.
func (r *resolved) scaleGuarantees(q int, has apportion.Resources) {
	for k := range has {
		var high, low, carry uint64
		for _, c := range r.nodes[q].children {
			if g := r.nodes[c].guarantee; g != nil {
				low, carry = bits.Add64(low, uint64(g[k]), 0)
				high += carry
			}
		}
		// Sums beyond 64 bits are of guarantees that no cluster has.
		if high > 0 {
			low = math.MaxUint64
		}
		for _, c := range r.nodes[q].children {
			if g := r.nodes[c].guarantee; g != nil && low > uint64(has[k]) {
				r.scaled = true
				high, rest := bits.Mul64(uint64(g[k]), uint64(has[k]))
				part, _ := bits.Div64(high, rest, low)
				g[k] = int64(part)
			}
		}
	}
	for _, c := range r.nodes[q].children {
		if g := r.nodes[c].guarantee; g != nil {
			r.scaleGuarantees(c, g)
		}
	}
}

// queues returns those of the problem with the guarantees that there is room for.
func (r *resolved) queues() []drf.Queue {
	queues := append([]drf.Queue(nil), r.problem.Queues...)
	for q := range queues {
		if queues[q].Guarantee != nil && len(r.nodes) > len(queues) {
			queues[q].Guarantee = r.stated(r.nodes[q+1].guarantee)
		}
	}
	return queues
}

// queueUses returns how every queue of the problem fares under counts, one entry for each application; nil where admission knows
// no queues.
func (r *resolved) queueUses(counts solver.Counts) []QueueUse {
	if len(r.nodes) == 2 || r.problem.Options.Paper {
		return nil
	}
	d := newDraft(r)
	for i := range counts {
		d.remove(i)
		d.put(i, counts[i])
	}
	uses := make([]QueueUse, len(r.problem.Queues))
	for q := range uses {
		n := &r.nodes[q+1]
		uses[q] = QueueUse{ID: r.problem.Queues[q].ID, Used: d.used[q+1], Guarantee: r.stated(n.guarantee), Level: d.level(q+1, 0, 0)}
	}
	for o, entries := range r.entries {
		if len(counts[r.inUse(o, counts)]) == 0 {
			for q := r.leaf[entries[0]]; q > 0; q = r.nodes[q].parent {
				if q <= len(uses) {
					uses[q-1].Waiting++
				}
			}
		}
	}
	return uses
}

// queueID returns the name of node q, empty for the leaf of the applications without a queue.
func (r *resolved) queueID(q int) string {
	if q > len(r.problem.Queues) {
		return ""
	}
	return r.problem.Queues[q-1].ID
}

// fork returns the children of the lowest queue above both applications on the ways to a for i and to b for v; 0 and 0 where both
// are of one leaf. O(depth²).
func (r *resolved) fork(i, v int) (a, b int) {
	for a = r.leaf[i]; a > 0; a = r.nodes[a].parent {
		for b = r.leaf[v]; b > 0; b = r.nodes[b].parent {
			if a == b {
				return 0, 0
			}
			if r.nodes[a].parent == r.nodes[b].parent {
				return a, b
			}
		}
	}
	return 0, 0
}

// holds reports whether queue q, with n more containers of application i, uses no more than its guarantee of each kind that these
// demand. A queue without one holds nothing.
func (d *draft) holds(q, i int, n int64) bool {
	guarantee := d.r.nodes[q].guarantee
	for k, demand := range d.r.problem.Applications[i].Demand {
		if guarantee == nil || demand > 0 && n*demand > guarantee[k]-d.used[q][k] {
			return false
		}
	}
	return true
}

// within reports whether n more containers of application i stay within the guarantees above it, of which there is one or more.
func (d *draft) within(i int, n int64) bool {
	any := false
	for q := d.r.leaf[i]; q > 0; q = d.r.nodes[q].parent {
		if d.r.nodes[q].guarantee == nil {
			continue
		}
		if any = true; !d.holds(q, i, n) {
			return false
		}
	}
	return any
}

// heldAbove reports whether a queue above application i, with n more containers of it, uses no more than its guarantee of each kind that
// i demands.
func (d *draft) heldAbove(i int, n int64) bool {
	for q := d.r.leaf[i]; q > 0; q = d.r.nodes[q].parent {
		if d.holds(q, i, n) {
			return true
		}
	}
	return false
}

// level returns the largest part of the cluster that queue q has of any kind, with n more containers of application i if n is not 0,
// and what it had before, over its weight.
func (d *draft) level(q, i int, n int64) float64 {
	if n == 0 && d.levels[q] >= 0 {
		return d.levels[q]
	}
	part := 0.0
	for k, total := range d.r.shared {
		used := d.used[q][k]
		if n > 0 {
			used += n * d.r.problem.Applications[i].Demand[k]
		}
		if total > 0 {
			part = max(part, float64(used)/float64(total))
		}
	}
	level := (part + d.r.nodes[q].usage) / d.r.nodes[q].weight
	if n == 0 {
		d.levels[q] = level
	}
	return level
}

// spares reports whether what has been taken from application v leaves the queues above it, up to b, their guarantees: of each
// a kind that v demands is used to no less. What v had then was not within the guarantee, and cannot be taken back by it.
func (d *draft) spares(v, b int) bool {
	for q := d.r.leaf[v]; ; q = d.r.nodes[q].parent {
		beyond := d.r.nodes[q].guarantee == nil
		for k, demand := range d.r.problem.Applications[v].Demand {
			beyond = beyond || demand > 0 && d.used[q][k] >= d.r.nodes[q].guarantee[k]
		}
		if !beyond || q == b {
			return beyond
		}
	}
}

// right is the rule by which one application may take from another.
type right int

const (
	noRight     right = iota
	byPriority        // of one leaf, and the priority is higher
	byGuarantee       // its queue stays within its guarantee at the fork
	byLevel           // its queue stays no higher than the other one at the fork
)

// right returns the rule by which n containers of application i that are still to come may be had from application v. All that is
// to be taken must have been taken: the rules are about what is in the end, so that nobody can take back by the same rule.
func (d *draft) right(i, v int, n int64) right {
	a, b := d.r.fork(i, v)
	apps, options := d.r.problem.Applications, &d.r.problem.Options
	switch {
	case a == 0 && options.Preempt && apps[v].Priority < apps[i].Priority:
		return byPriority
	case a == 0 || !d.spares(v, b):
		return noRight
	case d.holds(a, i, n):
		return byGuarantee
	case options.ReclaimLevel && d.level(a, i, n) <= d.level(b, v, 0):
		return byLevel
	}
	return noRight
}

// mayTake reports whether application i, with n containers that are still to come, could have a right to anything: there is no set of
// others to all of which it has one where it has none to any as they are now, since only what is taken by priority in its own leaf makes
// room within a guarantee above it. O(applications + depth x kinds).
func (d *draft) mayTake(i int, n int64) bool {
	if d.r.problem.Options.ReclaimLevel || d.heldAbove(i, n) {
		return true
	}
	for v := range d.counts {
		if d.r.leaf[v] == d.r.leaf[i] && d.in[v] && d.r.mayBePreempted(v) && d.r.problem.Applications[v].Priority < d.r.problem.Applications[i].Priority {
			return true
		}
	}
	return false
}

// entitled reports whether the guarantee of its queue lets application i take n containers from v, if v's queue has so much beyond
// its own.
func (d *draft) entitled(i, v int, n int64) bool {
	a, _ := d.r.fork(i, v)
	return a > 0 && d.holds(a, i, n)
}
