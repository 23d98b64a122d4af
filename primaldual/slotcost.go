// This file implements COST_t: the least cost of y workers in slot t, for every y, [OASiS]
// Algorithm 2, lines 23-46.
// Within a slot prices do not move with what the job itself takes, since (32) has those before it.
// Containers of a side are alike, so that the cheapest servers first is exact, and where the sides
// are on servers of their own their costs add up.

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
	joint   joint
}

// reset begins the tables of a request.
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
	if len(r.job.Speeds) > 0 || r.coupled(c.market) {
		c.buildWays(tables, state, budget)
		return
	}
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

// buildWays pushes one table of a job by its ways: at least d units at the cost of the cheapest way to do so many.
func (c *slotCosts) buildWays(tables *schedule.Tables, state *slotState, budget float64) {
	r := c.request
	ways := r.ways(c.market)
	costs := c.costsOf(state, ways, budget)
	// By units, what the cheapest way costs that does just these; a way that does more than all there is does all.
	top := int64(0)
	for _, w := range ways {
		top = max(top, min(w.Units, r.units))
	}
	cost := make([]float64, top+1)
	for d := range cost {
		cost[d] = inf
	}
	// Several ways may do the same d units, or more than all there is: the cheapest one stands for
	// them.
	for i, w := range ways {
		d := min(w.Units, r.units)
		cost[d] = min(cost[d], costs[i])
	}
	// A faster way may be the cheaper one for less work, since more than d units do no harm.
	for d := len(cost) - 2; d >= 1; d-- {
		cost[d] = min(cost[d], cost[d+1])
	}
	tables.Push(0)
	for _, x := range cost[1:] {
		// cost never falls after the pass before, so that the table may end at the first cost that
		// is too high.
		if x >= budget {
			return
		}
		tables.Push(x)
	}
}

// wayFor returns the cheapest way to do so many units in one slot, which the search has found to be there.
// Tables keep costs and not ways, to stay small; for the few slots of a schedule the way is found
// again.
func (c *slotCosts) wayFor(state *slotState, units int64) Speed {
	r := c.request
	if len(r.job.Speeds) == 0 {
		y := r.workersFor(units)
		return Speed{y, r.job.PSFor(y), units}
	}
	return cheapest(units, r.job.Speeds, c.costsOf(state, r.job.Speeds, inf))
}

// costsOf returns the least cost of each way in one slot, infinite where it does not fit.
func (c *slotCosts) costsOf(state *slotState, ways []Speed, budget float64) []float64 {
	r := c.request
	if r.coupled(c.market) {
		c.joint.set(c.market, &r.demands, r.job.Colocation)
		return c.joint.costs(state, couplesOf(ways), budget)
	}
	workers := c.sums(state, Workers, order{r.most[Workers], budget})
	ps := c.sums(state, ParameterServers, order{r.most[ParameterServers], budget})
	costs := make([]float64, len(ways))
	for i, w := range ways {
		// A sum that ends before w has no room for so many, or none that costs less than the
		// budget.
		costs[i] = inf
		if w.Workers < int64(len(workers)) && w.PS < int64(len(ps)) {
			costs[i] = workers[w.Workers] + ps[w.PS]
		}
	}
	return costs
}

// sums is greedy.sums for a side of the request.
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
	way := c.wayFor(state, units)
	if !r.coupled(m) {
		plan.Workers = c.place(m, state, &r.demands[Workers], way.Workers)
		plan.PS = c.place(m, state, &r.demands[ParameterServers], way.PS)
		return plan
	}
	c.joint.set(m, &r.demands, r.job.Colocation)
	placed, _ := c.joint.place(state, couple{way.Workers, way.PS}) // the search has found room
	// Lists that are not nil, as without sharing.
	plan.Workers = append([]apportion.Placement{}, placed[Workers]...)
	plan.PS = append([]apportion.Placement{}, placed[ParameterServers]...)
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
	sortPlacements(placements)
	return placements
}

// sortPlacements sorts by server.
func sortPlacements(placements []apportion.Placement) {
	slices.SortFunc(placements, func(a, b apportion.Placement) int { return cmp.Compare(a.Server, b.Server) })
}
