// This file holds queues as admission sees them: whose turn it is among several, and what each is guaranteed, [Program §7].

package event

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/queues"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/exact"
)

// node is a queue. The first is the whole cluster, the last the leaf of the applications without a queue.
type node struct {
	parent        int // of the cluster -1
	children      []int
	weight, usage float64
	guarantee     apportion.Resources // what it states, else the sum of those below it; nil: there is none
}

// tree is the queues, and what they have while an event is decided.
type tree struct {
	nodes []node
	leaf  map[string]int        // by name
	used  []apportion.Resources // nil where it has changed
}

// newTree returns the tree of valid queues, nil where there are none.
func newTree(queues []drf.Queue) *tree {
	if queues == nil {
		return nil
	}
	t := &tree{nodes: []node{{parent: -1, weight: 1}}, leaf: map[string]int{"": 0}}
	for q := range queues {
		t.leaf[queues[q].ID] = q + 1
	}
	for q := range queues {
		t.nodes = append(t.nodes, node{parent: t.leaf[queues[q].Parent], weight: queues[q].Weight, usage: queues[q].Usage, guarantee: slices.Clone(queues[q].Guarantee)})
	}
	t.leaf[""] = len(t.nodes)
	t.nodes = append(t.nodes, node{weight: 1})
	for q := 1; q < len(t.nodes); q++ {
		up := &t.nodes[t.nodes[q].parent]
		up.children = append(up.children, q)
	}
	t.sum(0)
	t.nodes[0].guarantee = nil
	return t
}

// sum gives every queue below q that states no guarantee the sum of those below it, and returns that of q.
func (t *tree) sum(q int) apportion.Resources {
	var sum apportion.Resources
	for _, c := range t.nodes[q].children {
		below := t.sum(c)
		if sum == nil && below != nil {
			sum = make(apportion.Resources, len(below))
		}
		for k, g := range below {
			sum[k] += min(g, math.MaxInt64-sum[k])
		}
	}
	if t.nodes[q].guarantee == nil {
		t.nodes[q].guarantee = sum
	}
	return t.nodes[q].guarantee
}

// guarantees reports whether any queue is guaranteed anything.
func (t *tree) guarantees() bool {
	return t != nil && slices.ContainsFunc(t.nodes, func(n node) bool { return n.guarantee != nil })
}

// promises reports whether the guarantees below every queue are no more than it has, and those below the cluster than total.
func (t *tree) promises(total apportion.Resources) bool {
	for q := range t.nodes {
		has := t.nodes[q].guarantee.Clone()
		if q == 0 {
			has = total.Clone()
		}
		for _, c := range t.nodes[q].children {
			for k, g := range t.nodes[c].guarantee {
				if has[k] -= g; has[k] < 0 {
					return false
				}
			}
		}
	}
	return true
}

// add adds n containers of a demand to what the queues from q up have in sums.
func (t *tree) add(sums []apportion.Resources, q int, n int64, demand apportion.Resources) {
	for ; q >= 0; q = t.nodes[q].parent {
		_ = exact.AddTimesTo(sums[q], sums[q], n, demand)
	}
}

// none returns a vector of nothing for each queue.
func (t *tree) none(kinds int) []apportion.Resources {
	sums := make([]apportion.Resources, len(t.nodes))
	for q := range sums {
		sums[q] = make(apportion.Resources, kinds)
	}
	return sums
}

// count states what the queues use. O(groups x levels).
func (m *repairing) count() {
	if m.tree.used != nil {
		return
	}
	m.tree.used = m.tree.none(m.kinds)
	for _, g := range m.groups {
		for _, l := range g.levels {
			m.tree.add(m.tree.used, m.tree.leaf[g.given.Queue], l.n*int64(len(l.apps)), g.given.Demand)
		}
	}
}

// holds reports whether queue q, with the fewest containers of one more member of g, uses no more than its guarantee of each kind that
// these demand.
func (t *tree) holds(q int, g *group) bool {
	guarantee := t.nodes[q].guarantee
	for k, d := range g.given.Demand {
		if guarantee == nil || d > 0 && g.least()*d > guarantee[k]-t.used[q][k] {
			return false
		}
	}
	return true
}

// above counts the queues above a member of g that have a guarantee, and those that stay within it with one member more.
func (t *tree) above(g *group) (guaranteed, within int) {
	for q := t.leaf[g.given.Queue]; q > 0; q = t.nodes[q].parent {
		if t.nodes[q].guarantee == nil {
			continue
		}
		if guaranteed++; t.holds(q, g) {
			within++
		}
	}
	return guaranteed, within
}

// nextOfQueues is next where there are queues: applications with which all guarantees above them are kept come before others.
func (m *repairing) nextOfQueues() int {
	m.count()
	within, all := slices.Repeat([]int{-1}, len(m.tree.nodes)), slices.Repeat([]int{-1}, len(m.tree.nodes)) // by leaf: the first
	first := func(list []int, q, i int) {
		if list[q] < 0 || m.compare(i, list[q]) < 0 {
			list[q] = i
		}
	}
	for _, l := range m.lines {
		if !l.group.fits() || m.refused[m.request(l.group)] {
			continue
		}
		q, i := m.tree.leaf[l.group.given.Queue], int(l.apps[0])
		first(all, q, i)
		if guaranteed, kept := m.tree.above(l.group); guaranteed > 0 && kept == guaranteed {
			first(within, q, i)
		}
	}
	if i := m.least(0, within, m.part); i >= 0 {
		return i
	}
	return m.least(0, all, m.level)
}

// least returns which application queue q sends: of a leaf that in of, else that of the child of the least rank. -1: none.
func (m *repairing) least(q int, of []int, rank func(q int) float64) int {
	if m.tree.nodes[q].children == nil {
		return of[q]
	}
	return queues.Least(m.tree.nodes[q].children, func(c int) int { return m.least(c, of, rank) }, rank)
}

// part returns how much of its guarantee queue q uses, of the kind of which that is most; of one without a guarantee more than of any
// with one, in the order of levels.
func (m *repairing) part(q int) float64 {
	if m.tree.nodes[q].guarantee == nil {
		return queues.Beyond + m.level(q)
	}
	return queues.Part(m.tree.used[q], m.tree.nodes[q].guarantee)
}

// level returns the largest part of the cluster that queue q has of any kind, and what it had before, over its weight.
func (m *repairing) level(q int) float64 {
	part := 0.0
	for k, total := range m.total {
		if total > 0 {
			part = max(part, float64(m.tree.used[q][k])/float64(total))
		}
	}
	return (part + m.tree.nodes[q].usage) / m.tree.nodes[q].weight
}

// owed returns a reason where a queue uses less of its guarantee than what ran before would, or than whole containers of the shares
// would, and where an application waits within it. O(groups x (levels + depth x kinds) + lines x depth x kinds).
func (m *repairing) owed() string {
	m.count()
	due := m.tree.none(m.kinds)
	for _, g := range m.groups {
		q := m.tree.leaf[g.given.Queue]
		for _, l := range g.levels {
			m.tree.add(due, q, max(l.n, g.whole())*int64(len(l.apps)), g.given.Demand)
		}
	}
	for _, i := range m.touched {
		if g := m.apps[i].group; g != nil {
			more := solver.Containers(m.before[i]) - max(m.apps[i].n, g.whole())
			m.tree.add(due, m.tree.leaf[g.given.Queue], max(0, more), g.given.Demand)
		}
	}
	for q := range m.tree.nodes {
		for k, g := range m.tree.nodes[q].guarantee {
			if m.tree.used[q][k] < min(g, due[q][k]) {
				return "a queue lacks what it is guaranteed"
			}
		}
	}
	if slices.ContainsFunc(m.lines, func(l *line) bool { return m.waitsWithin(l.group) }) {
		return waitsWithin
	}
	return ""
}

const waitsWithin = "an application waits for what its queue is guaranteed"

// waitsWithin reports whether a queue above a member of g, which waits and would fit the empty cluster, is guaranteed what it waits for.
func (m *repairing) waitsWithin(g *group) bool {
	_, within := m.tree.above(g)
	return within > 0 && g.fits()
}

// whole returns the whole containers of the share of a member of g, at least its fewest.
func (g *group) whole() int64 {
	n := g.least()
	if g.app.Delta > 0 {
		n = max(n, g.app.AtMost(int64(math.Min(g.app.Share/g.app.Delta+ceilTolerance, float64(g.app.Max)))))
	}
	return n
}
