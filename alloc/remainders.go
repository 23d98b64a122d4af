// This file finds the server on which best fit puts containers, without a look at each: servers of equal remainders are one group.

package alloc

import (
	"container/heap"
	"encoding/binary"
	"slices"

	"github.com/apportion/apportion"
)

// remainders groups the servers of a draft that are open to the same applications and have equally much left. A server that is taken
// out is in no group until it is put back.
type remainders struct {
	draft  *draft
	known  map[string]int // by key: the group
	of     []int          // by server: its group, -1 where it is taken out
	groups []*remainder
	live   []int // the groups that have servers, in any order
	key    []byte
}

// remainder is a group. Positions has its servers, and some that have left it.
type remainder struct {
	positions positions
	count     int
	at        int // in live
}

// positions is a heap of servers, the first one on top.
type positions []int

func (p positions) Len() int           { return len(p) }
func (p positions) Less(a, b int) bool { return p[a] < p[b] }
func (p positions) Swap(a, b int)      { p[a], p[b] = p[b], p[a] }
func (p *positions) Push(x any)        { *p = append(*p, x.(int)) }
func (p *positions) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// unlike is how many servers a group must have in the mean: where nearly each is alone, groups save no look. It changes no answer.
const unlike = 4

// newRemainders groups the servers of d; nil where too many of them are unlike. O(servers x kinds).
func newRemainders(d *draft) *remainders {
	g := &remainders{draft: d, known: make(map[string]int), of: make([]int, len(d.left))}
	for j := range g.of {
		g.of[j] = -1
		if g.putBack(j); g.tooMany() {
			return nil
		}
	}
	return g
}

// tooMany reports whether so few servers are alike that groups cost more than they save.
func (g *remainders) tooMany() bool { return len(g.live)*unlike > len(g.of)+unlike }

// takeOut takes server j out of its group.
func (g *remainders) takeOut(j int) {
	if g.of[j] < 0 {
		return
	}
	from := g.groups[g.of[j]]
	g.of[j] = -1
	if from.count--; from.count == 0 {
		last := g.live[len(g.live)-1]
		g.live[from.at], g.groups[last].at = last, from.at
		g.live = g.live[:len(g.live)-1]
		from.positions = from.positions[:0]
	}
}

// putBack puts server j, which is in no group, into that of what it has left.
func (g *remainders) putBack(j int) {
	g.key = appendVector(binary.AppendUvarint(g.key[:0], uint64(g.draft.r.open.class[j])), g.draft.left[j])
	at, ok := g.known[string(g.key)]
	if !ok {
		at = len(g.groups)
		g.known[string(g.key)] = at
		g.groups = append(g.groups, &remainder{})
	}
	to := g.groups[at]
	if to.count++; to.count == 1 {
		to.at = len(g.live)
		g.live = append(g.live, at)
	}
	g.of[j] = at
	heap.Push(&to.positions, j)
}

// first returns the first server of a group for which nothing is reserved, -1 where there is none.
func (g *remainders) first(at int) (server int) {
	to, server := g.groups[at], -1
	var aside []int
	for len(to.positions) > 0 && server < 0 {
		switch top := to.positions[0]; {
		case g.of[top] != at || slices.Contains(aside, top):
			heap.Pop(&to.positions)
		case g.draft.isReserved(top):
			aside = append(aside, heap.Pop(&to.positions).(int))
		default:
			server = top
		}
	}
	for _, j := range aside {
		heap.Push(&to.positions, j)
	}
	return server
}

// isReserved reports whether something is reserved on server j.
func (d *draft) isReserved(j int) bool {
	return slices.ContainsFunc(d.reserved, func(v *reserved) bool {
		return slices.ContainsFunc(v.servers, func(p apportion.Placement) bool { return p.Server == j })
	})
}

// fit is the best server found so far for containers of an application: the one that takes most of them, then the one that has least
// left beside them, then the first.
type fit struct {
	server int
	count  int64
	rest   float64
}

// consider looks at server j for need containers of application i.
func (f *fit) consider(d *draft, i, j int, need int64) {
	// A server that takes more than is needed is no better than one that takes just that.
	n := min(need, d.r.most(i, j, d.room(i, j)))
	if n <= 0 || n < f.count {
		return
	}
	if rest := d.rest(i, j, n); n > f.count || rest < f.rest || rest == f.rest && j < f.server {
		*f = fit{j, n, rest}
	}
}

// bestServer returns the server, other than those in used, that takes the most of need containers of
// application i, and how many; of equals the one that has least left afterwards. -1: no server takes any.
// O(groups of remainders x kinds), or O(servers x (kinds + used)) where most servers are unlike. Of servers that are equal in both the
// first counts, so that the same problem gives the same draft.
func (d *draft) bestServer(i int, need int64, used []apportion.Placement) (server int, count int64) {
	// Few servers come before a tight fit: a job that is spread pays for that as long as it runs.
	best := fit{server: -1}
	if d.remain == nil {
		for j := range d.left {
			if !slices.ContainsFunc(used, func(p apportion.Placement) bool { return p.Server == j }) {
				best.consider(d, i, j, need)
			}
		}
		return best.server, best.count
	}
	for _, at := range d.remain.live {
		if j := d.remain.first(at); j >= 0 {
			best.consider(d, i, j, need)
		}
	}
	for _, v := range d.reserved {
		for _, p := range v.servers {
			if d.remain.of[p.Server] >= 0 {
				best.consider(d, i, p.Server, need)
			}
		}
	}
	return best.server, best.count
}
