// This file implements the greedy of one slot: the cheapest servers first, [OASiS] Algorithm 2,
// lines 25-31 and 35-40.

package primaldual

// pick is a number of containers put on one server, at unit cost each.
type pick struct {
	server int // position in the list of the side
	count  int64
	unit   float64
}

// greedy fills servers in ascending cost of one container, ties by index. Every container of a job
// demands the same, so this is the cheapest way to place any number of them, however many kinds
// there are and however unequal the servers. The order depends on the demand, so none is kept
// between jobs: a heap gives the few cheapest servers without sorting the rest.
// A dearer server is never used while a cheaper one has room: moving a container there would lower
// the cost, and no other container could mind.
type greedy struct {
	heap  []candidate
	picks []pick
}

// candidate is a server that may be picked.
type candidate struct {
	unit   float64
	server int
}

// less orders candidates: the cheaper one first, of equal ones that of lower index.
// Without the index the shape of the heap would decide ties, and with it which server a job gets.
func (c candidate) less(d candidate) bool {
	return c.unit < d.unit || c.unit == d.unit && c.server < d.server
}

// fill picks servers for need containers, all or as many as there is room for, and stops when they
// cost budget or more. The result is valid until the next call. O(servers x kinds + picks log servers).
func (g *greedy) fill(m *market, s *slotState, d *demand, o order) []pick {
	g.picks = g.picks[:0]
	if o.need == 0 {
		return g.picks
	}
	// What one container costs on a server is sum_r p_h[r](t) w_i[r] in line 25 and sum_r q_k[r](t)
	// s_i[r] in line 35.
	prices := m.prices(s)
	g.heap = g.heap[:0]
	for server := range m.cluster.servers(d.side) {
		// The budget is what the job can be worth at most: a container that costs as much by itself
		// is part of no schedule with a positive payoff.
		if unit := d.unit(prices, m.machine(d.side, server)*m.kinds); unit < o.budget {
			g.heap = append(g.heap, candidate{unit, server})
		}
	}
	// Built from the bottom the heap takes O(servers); sorting would take a logarithm more for
	// servers of which few are looked at.
	for i := len(g.heap)/2 - 1; i >= 0; i-- {
		g.sift(i)
	}
	cost, left := 0.0, o.need
	// Lines 26-31 and 36-40: y_h = min(room of h, need), then need -= y_h. Room is asked for only
	// here, as most servers are never reached.
	for left > 0 && cost < o.budget && len(g.heap) > 0 {
		c := g.pop()
		if count := min(left, m.room(s, d, m.machine(d.side, c.server))); count > 0 {
			g.picks = append(g.picks, pick{c.server, count, c.unit})
			cost += float64(float64(count) * c.unit)
			left -= count
		}
	}
	return g.picks
}

// order is how many containers to place, and the cost from which they are of no use.
type order struct {
	need   int64
	budget float64
}

// pop removes and returns the cheapest candidate.
// O(log servers) a server that is used or found full.
func (g *greedy) pop() candidate {
	top := g.heap[0]
	last := len(g.heap) - 1
	g.heap[0] = g.heap[last]
	g.heap = g.heap[:last]
	g.sift(0)
	return top
}

func (g *greedy) sift(i int) {
	h := g.heap
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].less(h[child]) {
			child++
		}
		if !h[child].less(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// sums returns the cost of the 0, 1, 2, ... cheapest containers, up to o.need or as many as fit, in the storage of dst.
func (g *greedy) sums(dst []float64, m *market, state *slotState, d *demand, o order) []float64 {
	// sums[n] is convex in n, since unit never falls from one pick to the next. Each entry is made
	// by one product and one sum, so that its rounding does not grow with n.
	sums := append(dst[:0], 0)
	for _, p := range g.fill(m, state, d, o) {
		before := sums[len(sums)-1]
		for n := int64(1); n <= p.count; n++ {
			sums = append(sums, before+float64(float64(n)*p.unit))
		}
	}
	return sums
}
