// This file implements COST_t: the least cost of y workers in slot t, for every y, [OASiS]
// Algorithm 2, lines 23-46.
// Within a slot prices do not move with what the job itself takes, since (32) has those before it.
// Containers of a side are alike, so that the cheapest servers first is exact, and the costs of the two sides, which are on
// servers of their own, add up.

package primaldual

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual/internal/schedule"
)

// slotCosts gives the search C_t(y) = A_t(y) + B_t(ceil(y b/B)), y = 0, 1, ...: A_t and B_t add up the
// cheapest containers of their side. C_t(0) = 0 and C_t never falls, but it is not convex: it jumps where one
// more parameter server is needed. All slots that nobody uses share one table.
//
// The storage is kept from one job to the next.
type slotCosts struct {
	greedy  greedy
	market  *market
	request *request
	next    int // offset of the slot that Add appends
	empty   int // the table of unused slots; -1: none yet
	prefix  [2][]float64
}

func (c *slotCosts) reset(m *market, r *request) {
	c.market, c.request, c.next, c.empty = m, r, 0, -1
}

// Add appends the table of the next slot and reports whether it is one that was not there before.
func (c *slotCosts) Add(tables *schedule.Tables, budget float64) (fresh bool) {
	state := c.market.slot(c.request.first + c.next)
	c.next++
	// A server that is down changes the table, though nothing is taken of it.
	unused := state.price == nil && state.used == nil && state.down == nil
	// Most slots far ahead are empty, and at base prices: one table does for all of them.
	if unused && c.empty >= 0 {
		tables.Repeat(c.empty)
		return false
	}
	// The first unused slot builds the table that all others share: T slots of which few are used
	// cost little more than these few.
	c.build(tables, state, budget)
	if table := tables.Close(); unused {
		c.empty = table
	}
	return true
}

// build pushes one table. With d units it is the cost of the workers that do them, and of as few parameter
// servers as serve these: the fewest are the cheapest, and (7) holds as b <= B.
func (c *slotCosts) build(tables *schedule.Tables, state *slotState, budget float64) {
	r := c.request
	most := min(r.job.Chunks, r.work) // more than all the work is of no use
	// workers[y] is A_t(y), up to N_i, all the work, what has room, or what the budget pays,
	// whichever is least.
	workers := c.sums(state, Workers, order{most, budget})
	most = int64(len(workers) - 1)
	// ps[z] is B_t(z), up to as many as all these workers need.
	ps := c.sums(state, ParameterServers, order{r.job.PSFor(most), budget})
	tables.Push(0)
	for d := int64(1); d <= r.units; d++ {
		y := r.workersFor(d)
		if y > most {
			return
		}
		z := r.job.PSFor(y)
		// C_t never falls: where parameter servers run out (lines 41-43) or the cost reaches the
		// budget, all greater d are out of reach too, and the length of the table says so.
		if z >= int64(len(ps)) || workers[y]+ps[z] >= budget {
			return
		}
		tables.Push(workers[y] + ps[z])
	}
}

func (c *slotCosts) sums(state *slotState, side Side, o order) []float64 {
	c.prefix[side] = c.greedy.sums(c.prefix[side], c.market, state, &c.request.demands[side], o)
	return c.prefix[side]
}

// plan places the containers that do so many units in slot s, at that price, and returns what runs where.
// price is what the table says, so that prices of slots add up to the cost that the search
// compared.
func (c *slotCosts) plan(s int, units int64, price float64) SlotPlan {
	m, r := c.market, c.request
	state := m.slot(r.first + s)
	plan := SlotPlan{Slot: r.first + s, Price: price}
	workers := r.workersFor(units)
	plan.Workers = c.place(m, state, &r.demands[Workers], workers)
	plan.PS = c.place(m, state, &r.demands[ParameterServers], r.job.PSFor(workers))
	return plan
}

// place returns the placements of count containers, servers ascending.
// The same order gives the same picks as for the table, so that the placements cost what the table
// says.
func (c *slotCosts) place(m *market, state *slotState, d *demand, count int64) []apportion.Placement {
	picks := c.greedy.fill(m, state, d, order{count, inf})
	placements := make([]apportion.Placement, len(picks))
	for i, p := range picks {
		placements[i] = apportion.Placement{Server: p.server, Count: p.count}
	}
	slices.SortFunc(placements, func(a, b apportion.Placement) int { return cmp.Compare(a.Server, b.Server) })
	return placements
}
