// This file finds the changes of which an event's answer is made: one application grows, one shrinks, or one grows in the place of another.

package event

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// How many applications of different groups are looked at for an exchange, and how many exchanges are tried on the servers of the victim:
// in TestStream 9 events of 500 are decided elsewhere with half the growers, 6 with these and with twice as many; of the trials half change
// nothing, and twice as many decide 3 events of 120 more on a mixed cluster.
const mostGrowers, mostTrials = 8, 8

// move is a change of at most two applications; -1 where there is none.
type move struct {
	grower, victim int
	more, fewer    int64
	score          float64
}

// consider keeps the better of two moves; of equals the first.
func (b *move) consider(m move) {
	if m.score > b.score {
		*b = m
	}
}

// targets returns the numbers of containers next to which a change of application i may be worth most: about its share, and about what
// brings the loss to its budget.
func (m *repairing) targets(i int) (list [6]int64) {
	a := &m.apps[i]
	app := &a.group.app
	loss := math.Max(0, app.Loss(a.n)+m.lossBudget-m.loss)
	for at, share := range [...]float64{app.Share, app.Share - loss, app.Share + loss} {
		n := math.Min(math.Max(0, share/app.Delta), float64(app.Max))
		list[2*at], list[2*at+1] = app.AtMost(int64(math.Floor(n))), app.AtLeast(int64(math.Ceil(n)))
	}
	return list
}

// growth returns the best number of containers for application i with up to reach more, and its score; nothing where none is better.
func (m *repairing) growth(i int, reach int64) (n int64, score float64) {
	a := &m.apps[i]
	try := func(to int64) {
		if to > a.n && to-a.n <= reach {
			if s := m.score(m.changeOf(i, to)) - m.price(i); s > score {
				n, score = to, s
			}
		}
	}
	for _, to := range m.targets(i) {
		try(to)
	}
	try(a.group.app.AtMost(a.n + min(reach, a.group.app.Max-a.n)))
	return n, score
}

// each calls look with one application for each group and number of containers, and with all that were touched, if (16) allows a change.
// Of those of a group that were not, first and last numbers and the one above the share stand for all where few says so.
func (m *repairing) each(few bool, look func(i int)) {
	for _, i := range m.touched {
		if m.apps[i].group != nil {
			look(i)
		}
	}
	for _, g := range m.groups {
		fair, _ := g.level(int64(math.Ceil(g.app.Share / g.app.Delta)))
		for at := range g.levels {
			if few && at > 1 && at < len(g.levels)-1 && at != fair {
				continue
			}
			for _, i := range g.levels[at].apps {
				if _, touched := m.before[int(i)]; !touched {
					if m.affordable(int(i)) {
						look(int(i))
					}
					break
				}
			}
		}
	}
}

// growers lists the applications for which more containers are worth most, whether or not there is room, and considers what there is
// room for.
func (m *repairing) growers(best *move) []int {
	var list []move
	m.each(false, func(i int) {
		a := &m.apps[i]
		to, score := m.growth(i, math.MaxInt64)
		if score <= solver.ObjectiveTolerance {
			return
		}
		list = append(list, move{grower: i, score: score})
		if room := m.fitting(a.group, to-a.n); room > 0 {
			if n, score := m.growth(i, room); n > 0 {
				best.consider(move{grower: i, victim: -1, more: n - a.n, score: score})
			}
		}
	})
	// Of one group the best stands for all, but for those that were touched.
	slices.SortStableFunc(list, func(a, b move) int { return cmp.Compare(b.score, a.score) })
	var growers []int
	seen := make(map[*group]bool)
	for _, g := range list {
		group := m.apps[g.grower].group
		if _, touched := m.before[g.grower]; (touched || !seen[group]) && len(growers) < mostGrowers {
			growers = append(growers, g.grower)
			seen[group] = true
		}
	}
	return growers
}

// exchanges considers that one application shrinks, alone or in favour of one of growers.
func (m *repairing) exchanges(best *move, growers []int) {
	var list []move
	m.each(true, func(h int) {
		v := &m.apps[h]
		for _, to := range append(slices.Clone(m.targetsOf(h)), v.group.app.AtLeast(max(1, v.group.given.Min))) {
			if to < max(1, v.group.given.Min) || to >= v.n {
				continue
			}
			alone := m.pair(-1, h, 0, v.n-to)
			best.consider(alone)
			for _, i := range growers {
				if !m.bothAffordable(i, h) {
					continue
				}
				if more := m.apps[i].group.app.AtMost(m.apps[i].n+m.instead(i, h, v.n-to)) - m.apps[i].n; more > 0 {
					list = append(list, m.pair(i, h, more, v.n-to))
				}
			}
		}
		for _, i := range growers {
			if !m.bothAffordable(i, h) {
				continue
			}
			for _, to := range m.targets(i) {
				a := &m.apps[i]
				if to <= a.n {
					continue
				}
				if less := v.group.app.AtMost(v.n - m.needed(i, h, to-a.n)); less >= max(1, v.group.given.Min) && less < v.n {
					list = append(list, m.pair(i, h, to-a.n, v.n-less))
				}
			}
		}
	})
	slices.SortStableFunc(list, func(a, b move) int { return cmp.Compare(b.score, a.score) })
	for _, try := range list[:min(len(list), mostTrials)] {
		if try.score <= best.score {
			break
		}
		a := &m.apps[try.grower]
		if fits := a.group.app.AtMost(a.n + min(try.more, m.fitsInPlace(try.grower, try.victim, try.fewer))); fits > a.n {
			best.consider(m.pair(try.grower, try.victim, fits-a.n, try.fewer))
		}
	}
}

// targetsOf is targets as a slice.
func (m *repairing) targetsOf(i int) []int64 {
	list := m.targets(i)
	return list[:]
}

// pair returns the move in which a grower gets so many more and a victim so many fewer, with its score.
func (m *repairing) pair(grower, victim int, more, fewer int64) move {
	var utilization, loss, price float64
	if grower >= 0 {
		utilization, loss = m.changeOf(grower, m.apps[grower].n+more)
		price = m.price(grower)
	}
	u, l := m.changeOf(victim, m.apps[victim].n-fewer)
	return move{grower, victim, more, fewer, m.score(utilization+u, loss+l) - price - m.price(victim)}
}

// scarce reports whether a kind has a price anywhere.
func (m *repairing) scarce(k int) bool {
	return slices.ContainsFunc(m.shapes, func(s *shape) bool { return s.price[k] > 0 })
}

// instead returns about how many containers of a grower have room in the place of so many of a victim.
func (m *repairing) instead(grower, victim int, fewer int64) int64 {
	more, give := int64(math.MaxInt64), m.apps[victim].group.given.Demand
	for k, d := range m.apps[grower].group.given.Demand {
		if d > 0 && m.isScarce[k] {
			more = min(more, fewer*give[k]/d)
		}
	}
	if more == math.MaxInt64 {
		more = fewer
	}
	return min(more, m.allowedInPlace(grower, victim, fewer))
}

// needed returns about how many containers of a victim have to go for so many of a grower.
func (m *repairing) needed(grower, victim int, more int64) (fewer int64) {
	fewer = 1
	give := m.apps[victim].group.given.Demand
	for k, d := range m.apps[grower].group.given.Demand {
		if d == 0 || !m.isScarce[k] {
			continue
		}
		if give[k] == 0 {
			return math.MaxInt64 / 2
		}
		fewer = max(fewer, (more*d+give[k]-1)/give[k])
	}
	return fewer
}

// leaving goes through the servers that so many containers of application i leave: those with few of them first.
func (m *repairing) leaves(i int, fewer int64, each func(j int, count int64)) {
	placed := slices.Clone(m.apps[i].placed)
	slices.SortStableFunc(placed, func(a, b apportion.Placement) int { return cmp.Compare(a.Count, b.Count) })
	for _, p := range placed {
		if count := min(p.Count, fewer); count > 0 {
			each(p.Server, count)
			fewer -= count
		}
	}
}

// fitsInPlace returns how many containers of a grower there is room for when so many of a victim have left.
func (m *repairing) fitsInPlace(grower, victim int, fewer int64) (n int64) {
	g, give := m.apps[grower].group, m.apps[victim].group.given.Demand
	n = m.onServers(g, fewer)
	left := make(apportion.Resources, m.kinds)
	m.leaves(victim, fewer, func(j int, count int64) {
		if m.servers[j].closed {
			return
		}
		for k := range left {
			left[k] = m.servers[j].left[k] + count*give[k]
		}
		n += g.most(left) - g.most(m.servers[j].left)
	})
	return min(n, m.allowedInPlace(grower, victim, fewer))
}

// carryOut makes a move.
func (m *repairing) carryOut(b *move) {
	if b.victim >= 0 {
		m.charge(b.victim)
		m.leaves(b.victim, b.fewer, func(j int, count int64) { m.Put(b.victim, j, -count) })
	}
	if b.grower < 0 {
		return
	}
	m.charge(b.grower)
	m.grow(b.grower, b.more)
	// What best fit finds no room for may leave a number that is not allowed.
	a := &m.apps[b.grower]
	if n := a.group.app.AtMost(a.n); n < a.n {
		m.leaves(b.grower, a.n-n, func(j int, count int64) { m.Put(b.grower, j, -count) })
	}
}
