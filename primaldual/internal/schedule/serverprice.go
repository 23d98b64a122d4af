// This file implements the multiplier of constraint (6): a price on parameter servers that repairs
// what the hulls lose where one more parameter server is needed.

package schedule

import "github.com/apportion/apportion/internal/exact"

// The most slots looked at, and the most prices tried.
const (
	tiesLooked = 4
	nusTried   = 4
)

// priceServers tries prices nu on parameter servers. Every schedule has at least fewestServers of them
// over all slots, so the relaxation of C_t(y) - nu ceil(y b/B) plus nu times that number is another
// lower bound; where all slots cost the same it is exact. It keeps the greatest bound in m and the
// cheapest schedule in b.workers, and returns the cost of that one.
func (b *Search) priceServers(p *prefix, m *multipliers, upper float64) float64 {
	// A handful of prices is tried, each with hulls of its own: O(prices x cells).
	b.collectJumps(p)
	tables := p.distinct()
	least := float64(p.fewestServers(tables))
	for _, nu := range b.nus {
		b.shifted.reset()
		for i := range tables {
			// Costs less nu times the servers may be negative and fall; hulls do not mind.
			b.shifted.add(p.tables.table(i), p.servers, nu)
		}
		b.relax.reset()
		for _, i := range p.tables.of[:p.last+1] {
			b.relax.add(b.shifted.of(i), p.work)
		}
		lower, lambda, ok := b.relax.bound(p.work)
		if !ok {
			continue
		}
		// round returns what the schedule costs at true prices: the shifted hulls only choose it.
		if cost := b.trial.round(p, &b.shifted, lambda); cost < upper {
			upper = cost
			b.workers = append(b.workers[:0], b.trial.workers...)
		}
		if lower += float64(nu * least); lower > m.lower {
			*m = multipliers{lambda: lambda, nu: nu, lower: lower}
		}
	}
	return upper
}

// fewestServers returns a number of parameter servers, over all slots, that no schedule goes below.
// If y workers with z(y) = ceil(y b/B) of them are the most to one that any slot can have, then
// sum z(y_t) >= sum y_t z(y)/y = W z(y)/y. That is more than W b/B where B/b is no integer.
func (p *prefix) fewestServers(tables int) int64 {
	// No slot has more than the longest table, so that larger numbers of workers need not be looked at.
	longest := 0
	for i := range tables {
		longest = max(longest, len(p.tables.table(i))-1)
	}
	workers, ps := int64(1), int64(1)
	for y := int64(2); y <= int64(longest); y++ {
		// z/y against ps/workers, multiplied out: in whole numbers without rounding.
		if z := p.servers.PSFor(y); exact.Less(workers, z, y, ps) {
			workers, ps = y, z
		}
	}
	return CeilMulDiv(int64(p.work), ps, workers)
}

// collectJumps fills b.nus with prices of one more parameter server, found in slots where the
// relaxation is indifferent: by how much a worker that needs another one costs more than a worker
// next to it that does not.
// The ties are those of the last rounding, at the lambda of the hulls.
func (b *Search) collectJumps(p *prefix) {
	b.nus = b.nus[:0]
	for _, t := range b.trial.ties[:min(len(b.trial.ties), tiesLooked)] {
		table := p.tables.Of(t.slot)
		for y := 1; y < len(table) && len(b.nus) < nusTried; y++ {
			if !p.steps(y) {
				continue
			}
			// A worker that brings a new server costs that server more than its neighbour, whose server is there
			// already.
			step := table[y] - table[y-1]
			switch {
			case y > 1 && !p.steps(y-1):
				b.addJump(step - (table[y-1] - table[y-2]))
			case y+1 < len(table) && !p.steps(y+1):
				b.addJump(step - (table[y+1] - table[y]))
			}
		}
	}
}

// steps reports whether worker y needs one more parameter server than y-1 workers do.
func (p *prefix) steps(y int) bool { return p.servers.PSFor(int64(y)) > p.servers.PSFor(int64(y)-1) }

// addJump adds a positive price that is not among them yet, rounding apart.
func (b *Search) addJump(jump float64) {
	if jump <= 0 {
		return
	}
	for _, nu := range b.nus {
		if abs(nu-jump) <= jumpTie*jump {
			return
		}
	}
	b.nus = append(b.nus, jump)
}

// jumpTie is the relative difference below which two prices count as equal.
const jumpTie = 1e-9
