// This file lets in who can be had after an event, in admission's order, [Program §3], point 2.

package event

import (
	"cmp"
	"context"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// admission is who is let in by an event.
type admission struct {
	fresh     []int                   // those that came
	suspended []int                   // forced ones without room
	refused   map[string]bool         // by what is asked for
	first     map[string]refusedFirst // by queue: the first that was refused
	owes      bool                    // one was refused what its queue is guaranteed
	entered   float64                 // the least counts of those that came in, as parts of the cluster
	members   int                     // how often who is in has changed
	stated    int                     // members when the program was stated
}

// refusedFirst is an application that was refused, and what had been let in by then.
type refusedFirst struct {
	i    int
	then float64
}

// unstated is admission.stated before a program was stated.
const unstated = -1

// admit lets in who can be had: the forced, then those that wait, each at its fewest containers beside all that are in. Who cannot be had
// blocks nobody. It returns a reason where that is not for an event to say.
func (m *repairing) admit(ctx context.Context) string {
	m.refused, m.first = make(map[string]bool), make(map[string]refusedFirst)
	for _, i := range m.fresh {
		if l := m.apps[i].line; l != nil && !l.group.fits() {
			return "an application does not fit the empty cluster"
		}
	}
	for _, i := range m.order(m.forced) {
		if !m.have(i) {
			m.suspend(i)
			m.refuse(i)
		}
	}
	for _, h := range slices.Clone(m.holds) {
		if !m.letInHeld(h) {
			m.refuse(h.app)
		}
	}
	for i := m.next(); i >= 0 && ctx.Err() == nil; i = m.next() {
		if !m.letIn(i) {
			m.refuse(i)
		}
	}
	switch {
	case len(m.first) == 0:
	case m.rule.Suspends:
		return "others may be suspended for an application that waits"
	case m.owes:
		return waitsWithin
	}
	for _, i := range m.order(m.leaving) {
		if !m.have(i) {
			return "no room was found for what leaves a drained server"
		}
	}
	return m.restate()
}

// refuse notes that application i is refused: what asks for the same is not asked any more, and what is let in from here on passes the first
// of its queue.
func (m *repairing) refuse(i int) {
	g, leaf := m.apps[i].line.group, ""
	m.refused[m.request(g)] = true
	if m.tree != nil {
		m.count()
		m.owes, leaf = m.owes || m.waitsWithin(g), g.given.Queue
	}
	if _, known := m.first[leaf]; !known {
		m.first[leaf] = refusedFirst{i, m.entered}
	}
}

// order lists the applications in a set that are still there, in the order in which they are asked.
func (m *repairing) order(of map[int]bool) (list []int) {
	for i := range of {
		if m.apps[i].group != nil {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, m.compare)
	return list
}

// next returns who is asked next of those that wait, or -1. What asks for the same as one that was refused is not asked.
func (m *repairing) next() int {
	if m.tree != nil {
		return m.nextOfQueues()
	}
	best := -1
	for _, l := range m.lines {
		if i := int(l.apps[0]); (best < 0 || m.compare(i, best) < 0) && l.group.fits() && !m.refused[m.request(l.group)] {
			best = i
		}
	}
	return best
}

// request is what a member of g asks for: of two with the same request both can be had, or none.
func (m *repairing) request(g *group) string {
	m.key = appendVector(appendVector(m.key[:0], g.given.Demand), []int64{g.least()})
	if m.tree != nil {
		m.key = append(m.key, g.given.Queue...)
	}
	return string(m.key)
}

// letIn lets application i in, which waits, if it can be had. Where it returns false nothing has changed.
func (m *repairing) letIn(i int) bool {
	return m.try(func() bool {
		given := m.apps[i].line.group.given
		m.await(i, nil)
		m.enter(i, given)
		g := m.apps[i].group
		if m.members++; g.app.Demand == nil {
			m.number(g, m.total)
			g.app.Share = g.app.Delta * float64(g.least())
		}
		m.newcomer[i] = true
		m.touch(i)
		m.setPassed(i, 0)
		if !m.have(i) {
			return false
		}
		m.entered += float64(g.app.Delta * float64(g.least()))
		return true
	})
}

// suspend takes all from application i, which is forced, and lets it wait.
func (m *repairing) suspend(i int) {
	given := m.apps[i].group.given
	m.vacate(i)
	m.leave(i)
	m.await(i, &given)
	m.number(m.apps[i].line.group, m.total)
	m.members++
	m.suspended = append(m.suspended, i)
}

// have gives application i, which is in, a number of containers that it may have: where there is room, else where others make some. Where
// it returns false nothing has changed.
func (m *repairing) have(i int) bool {
	if m.try(func() bool { return m.settle(i, false) }) || m.try(func() bool { return m.fewest(i) }) {
		return true
	}
	// What changes are worth is known by the first statement near enough.
	if m.lacks(i) || m.stated == unstated && m.restate() != "" {
		return false
	}
	return m.try(func() bool { return m.settle(i, true) }) || m.exchange(i)
}

// try does something, and takes it back where that returns false.
func (m *repairing) try(do func() bool) bool {
	undo, touched, spent, members := len(m.undo), len(m.touched), m.spent, m.members
	if do() {
		return true
	}
	m.backTo(undo)
	if m.members > members {
		m.members++ // others are in than at any time before
	}
	for _, i := range m.touched[touched:] {
		delete(m.before, i)
		delete(m.newcomer, i)
	}
	m.touched, m.spent = m.touched[:touched], spent
	return false
}

// fewest places application i anew with its fewest containers.
func (m *repairing) fewest(i int) bool {
	m.vacate(i)
	n := m.apps[i].group.least()
	return m.grow(i, n) == n
}

// lacks reports whether the cluster as one server had too little of a kind for the fewest containers of application i if all others
// went down to theirs. O(remainders x kinds + groups x levels).
func (m *repairing) lacks(i int) bool {
	g, spare := m.apps[i].group, m.free()
	for _, of := range m.groups {
		least := of.least()
		for _, l := range of.levels {
			_ = exact.AddTimesTo(spare, spare, max(0, l.n-least)*int64(len(l.apps)), of.given.Demand)
		}
	}
	for _, p := range m.apps[i].placed {
		_ = exact.AddTimesTo(spare, spare, p.Count, g.given.Demand)
	}
	return g.given.Demand.CountIn(spare) < g.least() || m.below(g, m.yields) < g.least()-m.apps[i].n
}

// yields returns what of kind k would be left below a ceiling if all below it went down to their fewest.
func (m *repairing) yields(at, k int) int64 {
	left := m.left(at, k)
	for _, of := range m.groups {
		if !slices.Contains(of.above, at) {
			continue
		}
		least := of.least()
		for _, l := range of.levels {
			left += max(0, l.n-least) * int64(len(l.apps)) * of.given.Demand[k]
		}
	}
	return left
}

// exchange places application i with its fewest containers after others have gone down to theirs, here or elsewhere: one of them if that
// is enough, else more and more. Where it returns false nothing has changed.
func (m *repairing) exchange(i int) bool {
	victims := m.victims(i)
	instead := func(of []int) bool { return m.try(func() bool { return m.swap(i, of) }) }
	for at := range victims {
		if instead(victims[at : at+1]) {
			return true
		}
	}
	for last := 2; last <= len(victims); last++ {
		if instead(victims[:last]) {
			return true
		}
		last += last/2 - 1
	}
	return len(victims) > 2 && instead(victims)
}

// swap places application i with its fewest containers, and then all of victims anew with theirs.
func (m *repairing) swap(i int, victims []int) bool {
	for _, v := range victims {
		m.charge(v)
		m.vacate(v)
	}
	return m.spent <= m.adjustBudget && m.fewest(i) && !slices.ContainsFunc(victims, func(v int) bool { return !m.fewest(v) })
}

// victims lists who may make room for application i within (16), those that cost least and then those that give most first. One that has
// its fewest, and for which there is room nowhere else, can make none.
func (m *repairing) victims(i int) []int {
	type victim struct {
		i           int
		cost, gives int64
	}
	var list []victim
	g, left := m.apps[i].group, make(apportion.Resources, m.kinds)
	for _, of := range m.groups {
		elsewhere, below := m.onServers(of, 1) > 0, m.shareFull(g, of)
		for _, l := range of.levels {
			if l.n <= of.least() && !elsewhere {
				continue
			}
			for _, v := range l.apps {
				if int(v) == i || !m.affordable(int(v)) {
					continue
				}
				if gives := m.gives(g, int(v), left); gives > 0 || below {
					list = append(list, victim{int(v), m.cost(int(v)), gives})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b victim) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(b.gives, a.gives), cmp.Compare(a.i, b.i))
	})
	list = list[:min(len(list), m.rule.Victims)]
	victims := make([]int, len(list))
	for at := range list {
		victims[at] = list[at].i
	}
	return victims
}

// gives returns how many containers of a member of g fit where application v is if it left, and do not now. left is scratch.
func (m *repairing) gives(g *group, v int, left apportion.Resources) (n int64) {
	for _, p := range m.apps[v].placed {
		s := &m.servers[p.Server]
		if s.closed {
			continue
		}
		for k, d := range m.apps[v].group.given.Demand {
			left[k] = s.left[k] + p.Count*d
		}
		n += g.most(left) - g.most(s.left)
	}
	return n
}
