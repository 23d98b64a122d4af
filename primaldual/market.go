// This file implements market: servers, what is taken of them in each slot, and the prices, as the
// best schedule of a job sees them, [OASiS] Table 1.

package primaldual

import "github.com/apportion/apportion"

// park is what never changes: the servers of both sides in one list, worker servers first. Tables
// over servers and kinds are flat: cell(server, kind) = server*kinds + kind.
type park struct {
	cluster  *Cluster
	bounds   *Bounds
	kinds    int
	workers  int     // H
	servers  int     // H + K
	capacity []int64 // by cell
	totals   []int64 // capacity of all servers together, by side*kinds + kind
	curves   []curve // by side*kinds + kind
}

// newPark copies the cluster and makes its price functions.
func newPark(cluster *Cluster, bounds *Bounds) *park {
	p := &park{
		cluster: cluster.clone(), bounds: bounds.clone(), kinds: len(cluster.Kinds),
		workers: len(cluster.WorkerServers), servers: len(cluster.WorkerServers) + len(cluster.PSServers),
	}
	for r := range p.kinds {
		p.curves = append(p.curves, newCurve(bounds.UWorker[r], bounds.LWorker[r]))
	}
	for r := range p.kinds {
		p.curves = append(p.curves, newCurve(bounds.UPS[r], bounds.LPS[r]))
	}
	for _, side := range []Side{Workers, ParameterServers} {
		for _, server := range p.cluster.servers(side) {
			p.capacity = append(p.capacity, server.Capacity...)
		}
	}
	p.total()
	return p
}

// total adds up the capacity of each side. Validate has refused sums that overflow.
func (p *park) total() {
	p.totals = make([]int64, 2*p.kinds)
	for cell, c := range p.capacity {
		p.totals[p.pair(cell)] += c
	}
}

// pair returns side*kinds + kind of a cell.
func (p *park) pair(cell int) int {
	if cell >= p.workers*p.kinds {
		return p.kinds + cell%p.kinds
	}
	return cell % p.kinds
}

// basePrices returns the price of every cell on an empty server.
func (p *park) basePrices() []float64 {
	base := make([]float64, len(p.capacity))
	for cell := range base {
		base[cell] = p.price(cell, 0)
	}
	return base
}

// price returns the price of a cell of which used is taken.
func (p *park) price(cell int, used int64) float64 {
	return p.curves[p.pair(cell)].at(used, p.capacity[cell])
}

// span returns the servers of a side as [from, to) of the one list.
func (p *park) span(side Side) (from, to int) {
	if side == ParameterServers {
		return p.workers, p.servers
	}
	return 0, p.workers
}

// slotState is one slot of the horizon. The zero value is an empty slot at base prices.
type slotState struct {
	price []float64 // by cell; nil: base prices
	used  []int64   // by cell; nil: nothing is taken
	taken []int64   // used of all servers together, by side*kinds + kind; nil with used
	down  []bool    // by server; nil: all servers are up
	busy  int       // cells with used > 0
}

// market is a stretch of slots with prices and room.
type market struct {
	*park
	base  []float64   // prices of slots without prices of their own
	first int         // number of slots[0]
	slots []slotState // the horizon
	// cheapest is at most every price of its kind and side, by side*kinds + kind.
	cheapest []float64
}

// last returns the last slot of the horizon.
func (m *market) last() int { return m.first + len(m.slots) - 1 }

// slot returns the state of a slot of the horizon.
func (m *market) slot(slot int) *slotState { return &m.slots[slot-m.first] }

// prices returns the prices of a slot by cell.
func (m *market) prices(s *slotState) []float64 {
	if s.price == nil {
		return m.base
	}
	return s.price
}

// room returns how many more containers of a demand a server takes in a slot.
func (m *market) room(s *slotState, d *demand, server int) int64 {
	if s.down != nil && s.down[server] {
		return 0
	}
	at := server * m.kinds
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
}

// set makes d the demand of a container.
func (d *demand) set(m *market, side Side, r apportion.Resources) {
	d.side, d.floor = side, 0
	d.kinds, d.amounts, d.weights = d.kinds[:0], d.amounts[:0], d.weights[:0]
	for k, q := range r {
		if q > 0 {
			d.kinds = append(d.kinds, k)
			d.amounts = append(d.amounts, q)
			d.weights = append(d.weights, float64(q))
			if m.cheapest != nil {
				d.floor += float64(m.cheapest[int(side)*m.kinds+k] * float64(q))
			}
		}
	}
}

// unit returns the cost of one container on a server at prices by cell.
func (d *demand) unit(prices []float64, at int) float64 {
	sum := 0.0
	for i, k := range d.kinds {
		sum += float64(prices[at+k] * d.weights[i])
	}
	return sum
}
