// This file implements market: servers, what is taken of them in each slot, and the prices, as the
// best schedule of a job sees them, [OASiS] Table 1.
// Tables are flat and indexed by cell, as the search reads them for every server of every slot: a
// slice of slices would miss the cache at each server.

package primaldual

import "github.com/apportion/apportion"

// park is what never changes: the machines, which are the worker servers and after them the parameter servers. Tables over
// machines and kinds are flat: cell(machine, kind) = machine*kinds + kind.
type park struct {
	cluster  *Cluster
	bounds   *Bounds
	kinds    int
	machines int     // H + K
	capacity []int64 // by cell
	curves   []curve // by side*kinds + kind
}

func newPark(cluster *Cluster, bounds *Bounds) *park {
	p := &park{cluster: cluster.clone(), bounds: bounds.clone(), kinds: len(cluster.Kinds)}
	for _, ends := range [][2][]float64{{bounds.UWorker, bounds.LWorker}, {bounds.UPS, bounds.LPS}} {
		for r := range p.kinds {
			p.curves = append(p.curves, newCurve(ends[0][r], ends[1][r]))
		}
	}
	for _, side := range []Side{Workers, ParameterServers} {
		for _, server := range p.cluster.servers(side) {
			p.capacity = append(p.capacity, server.Capacity...)
			p.machines++
		}
	}
	return p
}

// machine returns the machine of a server: its position among those of both sides.
func (p *park) machine(side Side, server int) int {
	return int(side)*len(p.cluster.WorkerServers) + server
}

// basePrices returns the price of every cell on an empty server.
// They are L of each cell, P(0) and Q(0) in line 1 of Algorithm 1; 0 for a kind without price.
func (p *park) basePrices() []float64 {
	base := make([]float64, len(p.capacity))
	for cell := range base {
		base[cell] = p.price(cell, 0)
	}
	return base
}

func (p *park) price(cell int, used int64) float64 {
	side := Workers
	if cell >= len(p.cluster.WorkerServers)*p.kinds {
		side = ParameterServers
	}
	return p.curves[int(side)*p.kinds+cell%p.kinds].at(used, p.capacity[cell])
}

// slotState is one slot of the horizon. The zero value is an empty slot at base prices.
// In a ledger price and used are nil or set together; down is by itself, as a slot can be empty
// and lack a server.
type slotState struct {
	price []float64 // by cell; nil: base prices
	used  []int64   // by cell; nil: nothing is taken
	down  []bool    // by machine; nil: all are up
	busy  int       // cells with used > 0
}

// market is a stretch of slots with prices and room.
// The ledger is a market whose tables change; a certificate makes others with prices of its own
// over the same park.
type market struct {
	*park
	base  []float64   // prices of slots without prices of their own
	first int         // number of slots[0]
	slots []slotState // the horizon
	// cheapest is at most every price of its kind and side, by side*kinds + kind.
	cheapest []float64
}

func (m *market) last() int { return m.first + len(m.slots) - 1 }

func (m *market) slot(slot int) *slotState { return &m.slots[slot-m.first] }

func (m *market) prices(s *slotState) []float64 {
	if s.price == nil {
		return m.base
	}
	return s.price
}

func (m *market) room(s *slotState, d *demand, machine int) int64 {
	if s.down != nil && s.down[machine] || d.open != nil && !d.open[machine] {
		return 0
	}
	at := machine * m.kinds
	// min over r with w_i[r] > 0 of floor((c_h[r] - g_h[r](t)) / w_i[r]), lines 26 and 36 of
	// Algorithm 2. A kind that is not demanded limits nothing; a machine that is down or unsuited
	// has no room.
	count := maxCount
	for i, r := range d.kinds {
		free := m.capacity[at+r]
		if s.used != nil {
			free -= s.used[at+r]
		}
		count = min(count, free/d.amounts[i])
	}
	return count
}

// maxCount is the room of a server for containers that demand nothing: more than any job has.
const maxCount = int64(1) << 62

// demand is the demand of one container without its zeros.
type demand struct {
	side    Side
	kinds   []int
	amounts []int64
	weights []float64 // amounts as floats
	floor   float64   // no container costs less, in any slot of the market
	open    []bool    // by machine, whether its labels suit; nil: all machines do
}

func (d *demand) set(m *market, side Side, r apportion.Resources) {
	d.side, d.floor, d.open = side, 0, nil
	d.kinds, d.amounts, d.weights = d.kinds[:0], d.amounts[:0], d.weights[:0]
	for k, q := range r {
		if q > 0 {
			d.kinds = append(d.kinds, k)
			d.amounts = append(d.amounts, q)
			d.weights = append(d.weights, float64(q))
			// The market of a certificate may go below L, so that it knows no cheapest ones,
			// and floor 0 is the only safe bound.
			if m.cheapest != nil {
				d.floor += float64(m.cheapest[int(side)*m.kinds+k] * float64(q))
			}
		}
	}
}

// restrict closes the machines whose labels do not satisfy what a job requires. O(machines x requirements).
// Labels are looked at once a job, not once a slot: they do not change over the horizon.
func (d *demand) restrict(m *market, requires []apportion.Requirement) {
	if len(requires) == 0 {
		return
	}
	d.open = make([]bool, m.machines)
	servers := m.cluster.servers(d.side)
	for i := range servers {
		d.open[m.machine(d.side, i)] = servers[i].Satisfies(requires)
	}
}

// unit returns the cost of one container on a server at prices by cell.
// It is sum_r p[r] w_i[r]. The conversion of each product keeps the compiler from fusing it with
// the sum, which would round otherwise on other machines.
func (d *demand) unit(prices []float64, at int) float64 {
	sum := 0.0
	for i, k := range d.kinds {
		sum += float64(prices[at+k] * d.weights[i])
	}
	return sum
}
