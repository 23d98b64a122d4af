// This file makes room on one server for a container that finds none, by moving what is in its way, [Program §3].

package event

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// clearing is a server and what leaves it for one container.
type clearing struct {
	server int
	leave  []apportion.Placement // Server is the application here
	score  float64
}

// makeRoom places one container of application i on the server where what has to leave is worth least. It does so whatever that takes
// where must says that i cannot do without, and else where something is gained by it. It reports whether it did.
func (m *repairing) makeRoom(i int, must bool) bool {
	a := &m.apps[i]
	if !must && (!m.isRare(a.group) || !a.group.app.Allows(a.n+1) || !m.affordable(i)) {
		return false
	}
	if m.allowed(a.group) == 0 {
		return false
	}
	best := clearing{server: -1}
	if best.score = 0; must {
		best.score = math.Inf(-1)
	}
	for _, at := range m.remain.Live() {
		j := m.remain.Next(at, 0)
		if c, found := m.cleared(i, j); found && (c.score > best.score || c.score == best.score && j < best.server) {
			best = c
		}
	}
	if best.server < 0 {
		return false
	}
	for _, p := range best.leave {
		m.charge(p.Server)
		m.Put(p.Server, best.server, -p.Count)
	}
	m.charge(i)
	m.Put(i, best.server, 1)
	m.measure()
	return true
}

// isRare reports whether containers of g need a kind that some servers have none of.
func (m *repairing) isRare(g *group) bool {
	for k, d := range g.given.Demand {
		if d > 0 && slices.ContainsFunc(m.shapes, func(s *shape) bool { return s.capacity[k] == 0 }) {
			return true
		}
	}
	return false
}

// cleared finds what has to leave server j for one container of application i: the applications that lose least by it, one after the
// other. found is false where that is not enough, or (16) forbids it.
func (m *repairing) cleared(i, j int) (c clearing, found bool) {
	g := m.apps[i].group
	short := make(apportion.Resources, m.kinds)
	for k, d := range g.given.Demand {
		if d > m.servers[j].capacity[k] {
			return c, false
		}
		short[k] = d - m.servers[j].left[k]
	}
	if g.given.PerServer > 0 && m.on(i, j) >= g.given.PerServer {
		return c, false
	}
	c.server = j
	utilization, loss := m.changeOf(i, m.apps[i].n+1)
	price, spent := m.price(i), m.spent+m.cost(i)
	asked := make(map[int]bool)
	for slices.Max(short) > 0 {
		h, count, lost := -1, int64(0), 0.0
		for _, r := range m.servers[j].residents {
			v := int(r)
			if v == i || asked[v] || m.waitedFor(v) {
				continue
			}
			n := m.helps(v, j, short)
			if n == 0 || spent+m.cost(v) > m.adjustBudget && m.cost(v) > 0 {
				continue
			}
			if l := m.price(v) - m.score(m.changeOf(v, m.apps[v].n-n)); h < 0 || l < lost {
				h, count, lost = v, n, l
			}
		}
		if h < 0 {
			return c, false
		}
		asked[h] = true
		spent += m.cost(h)
		price += m.price(h)
		u, l := m.changeOf(h, m.apps[h].n-count)
		utilization, loss = utilization+u, loss+l
		for k, d := range m.apps[h].group.given.Demand {
			short[k] -= count * d
		}
		c.leave = append(c.leave, apportion.Placement{Server: h, Count: count})
	}
	c.score = m.score(utilization, loss) - price
	return c, true
}

// cost returns what a change of application i takes from (16); 0 where it has been touched.
func (m *repairing) cost(i int) int64 {
	if _, touched := m.before[i]; touched {
		return 0
	}
	return m.apps[i].group.given.Cost
}

// helps returns how many containers application v has to take off server j, as far as it may, for what is short there; 0 where that does
// not help.
func (m *repairing) helps(v, j int, short apportion.Resources) int64 {
	a, n := &m.apps[v], int64(0)
	for k, d := range a.group.given.Demand {
		if short[k] > 0 && d > 0 {
			n = max(n, (short[k]+d-1)/d)
		}
	}
	n = min(n, m.on(v, j), a.n-max(1, a.group.given.Min))
	// Of numbers in steps it takes more than are needed, if it has them here.
	for ; n > 0 && n <= m.on(v, j); n++ {
		if a.group.app.Allows(a.n - n) {
			return n
		}
	}
	return 0
}
