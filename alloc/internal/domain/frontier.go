// This file holds the choices below one domain that are worth keeping, and joins those of several domains, [Program §13].

package domain

import (
	"cmp"
	"maps"
	"slices"
)

// point is one choice below a domain.
type point struct {
	used  [MaxLevels]int32 // domains by level
	room  int64            // of these domains together, in whole slices
	holds int64            // of that as much as is wanted
	trace *trace
}

// trace says which domains of the narrowest level a choice has.
type trace struct {
	domain int
	left   *trace
	right  *trace
}

// list appends the domains of a choice.
func (t *trace) list(to *[]int) {
	switch {
	case t == nil:
	case t.left == nil && t.right == nil:
		*to = append(*to, t.domain)
	default:
		t.left.list(to)
		t.right.list(to)
	}
}

// compare orders choices: the fewest wide domains first, then the fewest of each narrower level, then the least room.
func (p *point) compare(q *point) int {
	return cmp.Or(slices.Compare(p.used[:], q.used[:]), cmp.Compare(p.room, q.room))
}

func (p *point) better(q *point) bool { return p.compare(q) < 0 }

// add is the choice of both.
func (p *point) add(q *point, n int64) point {
	sum := *p
	for level, used := range q.used {
		sum.used[level] += used
	}
	sum.room += q.room
	sum.holds = min(n, sum.room)
	switch {
	case p.trace == nil:
		sum.trace = q.trace
	case q.trace != nil:
		sum.trace = &trace{left: p.trace, right: q.trace}
	}
	return sum
}

// frontier returns the choices below a domain, the domain itself counted where anything is in it: each holds more than all that cost
// less. The first one is nothing.
func (c *chooser) frontier(level, domain int) []point {
	list := []point{{}}
	if level == c.wish.Leaf() {
		if room := c.sliced(level, c.room[domain]); room > 0 {
			list = append(list, point{room: room, holds: min(c.n, room), trace: &trace{domain: domain}})
		}
	} else {
		list = c.joined(level+1, c.below[level][domain])
	}
	byHolds := make(map[int64]*point, len(list))
	for at := range list {
		p := &list[at]
		if p.room > 0 {
			p.used[level]++
		}
		p.room = c.sliced(level, p.room)
		p.holds = min(c.n, p.room)
		keep(byHolds, p)
	}
	return prune(byHolds)
}

// root returns the choices of the whole tree.
func (c *chooser) root() []point {
	all := make([]int, c.Domains(0))
	for at := range all {
		all[at] = at
	}
	return c.joined(0, all)
}

func (c *chooser) joined(level int, domains []int) []point {
	list := []point{{}}
	for _, domain := range domains {
		more := c.frontier(level, domain)
		byHolds := make(map[int64]*point, len(list)+len(more))
		for b := range more {
			for a := range list {
				sum := list[a].add(&more[b], c.n)
				keep(byHolds, &sum)
			}
		}
		list = prune(byHolds)
	}
	return list
}

// keep notes a choice unless a better one holds as much.
func keep(byHolds map[int64]*point, p *point) {
	if q := byHolds[p.holds]; q == nil || p.better(q) {
		byHolds[p.holds] = p
	}
}

// prune returns the choices that hold more than all that are better, the best first.
func prune(byHolds map[int64]*point) []point {
	list := make([]*point, 0, len(byHolds))
	// From the one that holds most on each must be better than all before it.
	for _, holds := range slices.Backward(slices.Sorted(maps.Keys(byHolds))) {
		if p := byHolds[holds]; len(list) == 0 || p.better(list[len(list)-1]) {
			list = append(list, p)
		}
	}
	slices.Reverse(list)
	points := make([]point, len(list))
	for at, p := range list {
		points[at] = *p
	}
	return points
}
