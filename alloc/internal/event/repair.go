// This file repairs the answer that runs after an event: gives and takes containers where something is to be gained or too much is lost,
// within (16) and at the prices of restarts, [Program §10].

package event

import (
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

const (
	// mostMoves is how many applications one event gives or takes containers at most, for each budget of loss that is tried. It bounds the
	// time of an event; half and double change nothing in TestStream.
	mostMoves = 24
	// tries is how often a unit of loss above its budget is made dearer, steeper times each. With two tries, or twice as dear each, one
	// event of 500 more is decided elsewhere; more of either changes nothing.
	tries, steeper = 4, 4
	// leastPrice is what a unit of loss above its budget takes at least at first: some times what the share is worth. With half 5 events of
	// 500 are decided elsewhere in place of 6, and more is changed; with twice as much the same.
	leastPrice = 4
)

// repairing is the work on one event.
type repairing struct {
	*Cluster
	program
	// before is what each of touched had, in the order in which they were; a newcomer had nothing.
	before  map[int][]apportion.Placement
	touched []int
	// Newcomers, the forced, and those that leave a drained server: a change of these has no price, and but for the last costs nothing.
	newcomer, forced, leaving map[int]bool
	drained                   []int  // servers
	isScarce                  []bool // by kind
	loss                      float64
	// lossPrice is what a unit of loss within its budget takes, steep one above it.
	lossPrice, steep float64
	spent            int64
	admission
}

// Begin begins an event. Commit or Decide ends it.
func (c *Cluster) Begin() {
	c.Commit()
	c.ev = &repairing{Cluster: c, before: make(map[int][]apportion.Placement), newcomer: make(map[int]bool), forced: make(map[int]bool), leaving: make(map[int]bool)}
}

// Arrive adds an application, and returns its position.
func (c *Cluster) Arrive(given App, priority int64) int {
	i := c.AddWaiting(given, priority, 0)
	c.ev.fresh = append(c.ev.fresh, i)
	return i
}

// End takes application i out, with what it has.
func (c *Cluster) End(i int) {
	if c.apps[i].line != nil {
		c.await(i, nil)
		return
	}
	c.vacate(i)
	c.leave(i)
}

// vacate takes all containers of application i off their servers.
func (c *Cluster) vacate(i int) {
	for _, p := range slices.Clone(c.apps[i].placed) {
		c.Put(i, p.Server, -p.Count)
	}
}

// Update makes application i, whose containers need what they needed, one that is otherwise equal to others. It goes on as it is if it may.
func (c *Cluster) Update(i int, given App, priority int64) {
	was := c.apps[i].priority
	if c.apps[i].line != nil {
		c.await(i, nil)
		defer c.await(i, &given)
	}
	c.apps[i].priority = priority
	c.undo = append(c.undo, func() { c.apps[i].priority = was })
	if c.apps[i].group == nil {
		return
	}
	c.leave(i)
	c.enter(i, given)
	if stays := (solver.App{Min: given.Min, Max: given.Max, Step: given.Step, Counts: given.Counts}); !stays.Allows(c.apps[i].n) {
		c.ev.touch(i)
		c.ev.forced[i] = true
	}
}

// Set makes other what the problem says beside its servers and applications.
func (c *Cluster) Set(rule Rule) {
	was := c.rule
	c.rule = rule
	c.undo = append(c.undo, func() { c.rule = was })
}

// Lose takes server j away: what was on it has to go on elsewhere.
func (c *Cluster) Lose(j int) {
	c.empty(j, c.ev.forced)
	if !c.servers[j].closed {
		c.Close(j)
	}
	c.servers[j].gone = true
	c.undo = append(c.undo, func() { c.servers[j].gone = false })
}

// Drain closes server j, and what is on it leaves.
func (c *Cluster) Drain(j int) {
	if !c.servers[j].closed {
		c.Close(j)
		c.ev.drained = append(c.ev.drained, j)
	}
}

// empty takes all containers off server j, of applications that are noted in list.
func (c *Cluster) empty(j int, list map[int]bool) {
	for _, i := range slices.Clone(c.servers[j].residents) {
		c.ev.touch(int(i))
		list[int(i)] = true
		c.Put(int(i), j, -c.on(int(i), j))
	}
}

// touch notes what application i had before the event.
func (m *repairing) touch(i int) {
	if _, known := m.before[i]; !known {
		m.before[i] = slices.Clone(m.apps[i].placed)
		m.touched = append(m.touched, i)
	}
}

// price returns what a change of application i takes from the objective; 0 where it has changed already.
func (m *repairing) price(i int) float64 {
	if _, touched := m.before[i]; touched {
		return 0
	}
	return m.restart(i, m.apps[i].n)
}

// restart returns the price of a restart of an application that had n containers.
func (m *repairing) restart(i int, n int64) float64 {
	v := m.apps[i].group.app.Value
	price := m.rule.Restart * float64(v*float64(n))
	if m.rule.Gain > 0 {
		price = math.Max(price, m.rule.Gain*v)
	}
	if !(price > 0) {
		return 0
	}
	return math.Min(price+beyondTie, solver.MaxWorth)
}

// beyondTie is what a restart takes beside its price, as in package alloc.
const beyondTie = 2 * solver.ObjectiveTolerance

// affordable reports whether (16) allows a change of application i.
func (m *repairing) affordable(i int) bool {
	_, touched := m.before[i]
	return touched || !m.waitedFor(i) && m.spent+m.apps[i].group.given.Cost <= m.adjustBudget
}

// bothAffordable reports whether (16) allows a change of two applications, which must not be one.
func (m *repairing) bothAffordable(i, v int) bool {
	return i != v && (m.cost(i) == 0 && m.cost(v) == 0 || m.spent+m.cost(i)+m.cost(v) <= m.adjustBudget)
}

// charge touches application i, which is about to change by the decision's own will.
func (m *repairing) charge(i int) {
	if _, touched := m.before[i]; !touched {
		m.spent += m.apps[i].group.given.Cost
		m.touch(i)
	}
}

// score returns what a change is worth that adds so much to the utilization and to the loss: within its budget a unit of loss has the
// price of the bound, above it a steep one.
func (m *repairing) score(utilization, loss float64) float64 {
	cost := func(x float64) float64 {
		over := math.Max(0, x-m.lossBudget)
		return float64(m.lossPrice*(x-over)) + float64(m.steep*over)
	}
	return utilization - (cost(m.loss+loss) - cost(m.loss))
}

// changeOf returns what the utilization and the loss change by where application i has n containers.
func (m *repairing) changeOf(i int, n int64) (utilization, loss float64) {
	a := &m.apps[i]
	return float64(a.group.app.Value * float64(n-a.n)), a.group.app.Loss(n) - a.group.app.Loss(a.n)
}

// measure adds up the loss.
func (m *repairing) measure() {
	m.loss = 0
	for _, g := range m.groups {
		for _, l := range g.levels {
			m.loss += float64(float64(len(l.apps)) * g.app.Loss(l.n))
		}
	}
}

// repair improves the answer until nothing is gained. It returns a reason where it finds no way.
func (m *repairing) repair(ctx context.Context) string {
	m.steep = math.Max(leastPrice, steeper*m.prices.Loss)
	for try := 0; ; try++ {
		// What is lost has its price first, for other applications could lose it to more avail; what is left of the budget then costs nothing.
		for _, m.lossPrice = range [...]float64{m.prices.Loss, 0} {
			for range mostMoves {
				if ctx.Err() != nil {
					return ""
				}
				if m.measure(); !m.improve() {
					break
				}
			}
		}
		if m.measure(); m.loss <= m.lossBudget {
			return ""
		}
		if try == tries {
			return "the fairness loss could not be held"
		}
		m.steep *= steeper
	}
}

// settle gives application i the least number of containers that it may have from what it has on, if that is no such number; where there is
// none, or no room for it, the most below that. make: others make room.
func (m *repairing) settle(i int, make bool) bool {
	a := &m.apps[i]
	first := max(1, a.group.given.Min)
	for want := a.group.app.AtLeast(max(first, a.n)); a.n < want; {
		if m.grow(i, want-a.n) == 0 && !(make && m.makeRoom(i, a.n < first)) {
			break
		}
	}
	n := a.group.app.AtMost(a.n)
	if n < first {
		return false
	}
	m.leaves(i, a.n-n, func(j int, count int64) { m.Put(i, j, -count) })
	return true
}

// improve carries out the change that is worth most, and reports whether there was any.
func (m *repairing) improve() bool {
	best := move{grower: -1, victim: -1}
	growers := m.growers(&best)
	m.exchanges(&best, growers)
	if best.score > solver.ObjectiveTolerance {
		m.carryOut(&best)
		return true
	}
	// Kinds that few servers have are freed of what is in their way.
	for _, i := range growers {
		if m.makeRoom(i, false) {
			return true
		}
	}
	return false
}
