// This file implements COST_t: the least cost of y workers in slot t, for every y, [OASiS]
// Algorithm 2, lines 23-46.

package primaldual

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
)

// slotCosts holds C_t(y) = A_t(y) + B_t(ceil(y b/B)), y = 0, 1, ...: A_t and B_t add up the cheapest
// containers of their side. C_t(0) = 0 and C_t never falls, but it is not convex: it jumps where one
// more parameter server is needed. All slots that nobody uses share one table.
//
// The storage is kept from one job to the next.
type slotCosts struct {
	greedy greedy
	cost   []float64 // all tables, one after the other
	from   []int     // table i is cost[from[i]:from[i+1]]
	of     []int     // of[s] is the table of slot s
	empty  int       // the table of unused slots; -1: none yet
	prefix [2][]float64
}

// reset forgets all tables.
func (c *slotCosts) reset() {
	c.cost, c.from, c.of, c.empty = c.cost[:0], append(c.from[:0], 0), c.of[:0], -1
}

// table returns C_t of slot s, for y from 0 to the most workers that are of use.
func (c *slotCosts) table(s int) []float64 { return c.distinct(c.of[s]) }

// distinct returns the i-th table.
func (c *slotCosts) distinct(i int) []float64 { return c.cost[c.from[i]:c.from[i+1]] }

// tables returns the number of tables.
func (c *slotCosts) tables() int { return len(c.from) - 1 }

// add appends the table of the next slot and reports whether it is one that was not there before.
func (c *slotCosts) add(m *market, r *request) (fresh bool) {
	state := m.slot(r.first + len(c.of))
	unused := state.price == nil && state.used == nil && state.down == nil
	// Most slots far ahead are empty, and at base prices: one table does for all of them.
	if unused && c.empty >= 0 {
		c.of = append(c.of, c.empty)
		return false
	}
	c.build(m, state, r)
	c.from = append(c.from, len(c.cost))
	c.of = append(c.of, c.tables()-1)
	if unused {
		c.empty = c.tables() - 1
	}
	return true
}

// addAll appends the tables of slots 0 to last.
func (c *slotCosts) addAll(m *market, r *request, last int) {
	c.reset()
	for range last + 1 {
		c.add(m, r)
	}
}

// build appends one table to the storage.
func (c *slotCosts) build(m *market, state *slotState, r *request) {
	most := min(r.job.Chunks, r.work)
	workers := c.sums(m, state, &r.demands[Workers], order{most, r.budget})
	most = int64(len(workers) - 1)
	ps := c.sums(m, state, &r.demands[ParameterServers], order{r.job.PSFor(most), r.budget})
	c.cost = append(c.cost, 0)
	for y := int64(1); y <= most; y++ {
		z := r.job.PSFor(y) // the fewest are the cheapest; (7) holds as b <= B
		if z >= int64(len(ps)) || workers[y]+ps[z] >= r.budget {
			return
		}
		c.cost = append(c.cost, workers[y]+ps[z])
	}
}

// sums returns the cost of the 0, 1, 2, ... cheapest containers, up to o.need or as many as fit.
func (c *slotCosts) sums(m *market, state *slotState, d *demand, o order) []float64 {
	sums := append(c.prefix[d.side][:0], 0)
	for _, p := range c.greedy.fill(m, state, d, o) {
		// Containers on one server cost the same each, as prices change only once the job is committed.
		before := sums[len(sums)-1]
		for n := int64(1); n <= p.count; n++ {
			sums = append(sums, before+float64(float64(n)*p.unit))
		}
	}
	c.prefix[d.side] = sums
	return sums
}

// plan places y workers and their parameter servers in slot s and returns what runs where.
func (c *slotCosts) plan(m *market, r *request, s int, y int64) SlotPlan {
	state := m.slot(r.first + s)
	plan := SlotPlan{Slot: r.first + s, Price: c.table(s)[y]}
	plan.Workers = c.place(m, state, &r.demands[Workers], y)
	plan.PS = c.place(m, state, &r.demands[ParameterServers], r.job.PSFor(y))
	return plan
}

// place returns the placements of count containers, servers ascending.
func (c *slotCosts) place(m *market, state *slotState, d *demand, count int64) []apportion.Placement {
	picks := c.greedy.fill(m, state, d, order{count, inf})
	offset, _ := m.span(d.side)
	placements := make([]apportion.Placement, len(picks))
	for i, p := range picks {
		placements[i] = apportion.Placement{Server: p.server - offset, Count: p.count}
	}
	sortPlacements(placements)
	return placements
}

// sortPlacements sorts by server.
func sortPlacements(placements []apportion.Placement) {
	slices.SortFunc(placements, func(a, b apportion.Placement) int { return cmp.Compare(a.Server, b.Server) })
}
