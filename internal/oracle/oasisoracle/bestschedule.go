// Package oasisoracle answers by exhaustive search what package primaldual computes cleverly: the
// best schedule of one job at given prices, and the best set of schedules for all jobs of a tiny
// cluster. It is for tests only.
//
// # Contract
//
// It shares no code with primaldual and uses none of its facts: it tries every number of workers and
// parameter servers on every server in every slot. Slots count from 0. Time grows exponentially with
// everything; callers keep instances tiny.
package oasisoracle

import "math"

// Side holds the servers of one side.
type Side struct {
	// Free[t][h][r] is what is left of kind r on server h in slot t, negative where the server is down;
	// Price[t][h][r] is its price.
	Free  [][][]int64
	Price [][][]float64
	// Demand is the demand of one container.
	Demand []int64
	// Closed[h] says that the job may not use server h; nil: it may use all.
	Closed []bool
}

// Problem is one job at given prices.
// The span is as long as Values, and the job may run in all of it: whoever asks about a job that arrives later cuts
// off the slots before.
type Problem struct {
	Workers, PS Side
	// MaxWorkers is N_i, Work is W_i.
	MaxWorkers, Work int64
	// WorkerBandwidth and PSBandwidth are b_i and B_i.
	WorkerBandwidth, PSBandwidth int64
	// Values[t] is the utility of a job whose last worker runs in slot t.
	Values []float64
}

// Best returns the greatest payoff over all schedules, 0 if none is positive, and the least cost of
// doing the work by each slot, infinite where it cannot be done. ([OASiS] eqs. 21 and 28)
// Prices are at least 0 and Values do not grow with the slot. Products of demands and counts are not
// checked for overflow: quantities of such tests are small. O((MaxWorkers+1)^slots).
func Best(p *Problem) (payoff float64, costs []float64) {
	slots := len(p.Values)
	// Slots are independent of each other at given prices: what a number of workers costs in a slot is found first.
	tables := make([][]float64, slots)
	for t := range slots {
		tables[t] = p.slot(t)
	}
	costs = make([]float64, slots)
	for t := range costs {
		costs[t] = math.Inf(1)
	}
	// walk fills in schedules whose last worker runs in slot t itself ...
	p.walk(tables, 0, 0, 0, costs)
	for t := range costs {
		// ... and work that is done by slot t - 1 is done by slot t too. (28)
		if t > 0 {
			costs[t] = min(costs[t], costs[t-1])
		}
		// (21); values do not grow, so an earlier completion in costs[t] is not paid too little.
		payoff = max(payoff, p.Values[t]-costs[t])
	}
	return payoff, costs
}

// walk tries every number of workers in slot t and all later ones; done and cost are what earlier
// slots did. costs[t] receives the least cost of schedules whose last worker runs in slot t.
func (p *Problem) walk(tables [][]float64, t int, done int64, cost float64, costs []float64) {
	if t == len(tables) {
		return
	}
	// Every number of workers in this slot.
	for y, slot := range tables[t] {
		if math.IsInf(slot, 1) {
			continue
		}
		// (2): the work is done, and slot t is the last with a worker, (8). More work than is needed is allowed.
		if y > 0 && done+int64(y) >= p.Work {
			costs[t] = min(costs[t], cost+slot)
		}
		p.walk(tables, t+1, done+int64(y), cost+slot, costs)
	}
}

// slot returns the least cost of exactly y workers in slot t, for y = 0 to MaxWorkers, over every
// choice of servers and every number of parameter servers that satisfies (3), (6) and (7).
// No worker and no parameter server satisfy (6) and (7) too and cost nothing, so that a slot may be
// left out.
func (p *Problem) slot(t int) []float64 {
	// The sides add up, and by (7) there are never more parameter servers than workers.
	workers, ps := p.Workers.totals(t, p.MaxWorkers), p.PS.totals(t, p.MaxWorkers)
	out := make([]float64, p.MaxWorkers+1)
	for y := range out {
		out[y] = math.Inf(1)
		for z := range ps {
			served := int64(y)*p.WorkerBandwidth <= int64(z)*p.PSBandwidth // (6)
			if served && z <= y {                                          // (7)
				out[y] = min(out[y], workers[y]+ps[z])
			}
		}
	}
	return out
}

// totals returns the least cost of n containers in slot t, for n = 0 to most, trying every number of
// containers on every server.
// Infinite where so many do not fit. Room is by slot alone: what a job holds in one slot takes nothing
// from another.
func (s *Side) totals(t int, most int64) []float64 {
	out := make([]float64, most+1)
	for n := range out {
		out[n] = math.Inf(1)
	}
	// Exhaustive: a product of all counts on all servers.
	s.place(t, 0, 0, 0, out)
	return out
}

// place tries every count on server h and all later ones, n containers at that cost being on earlier ones. (4)(5)
func (s *Side) place(t, h int, n int64, cost float64, out []float64) {
	if h == len(s.Free[t]) {
		out[n] = min(out[n], cost)
		return
	}
	for count := int64(0); n+count < int64(len(out)) && s.fits(t, h, count); count++ {
		s.place(t, h+1, n+count, cost+float64(count)*s.unit(t, h), out)
	}
}

// fits reports whether server h has room for count containers in slot t. A server that is down, with a
// negative rest, holds none, not even of a job without demand there.
func (s *Side) fits(t, h int, count int64) bool {
	for r, q := range s.Demand {
		if free := s.Free[t][h][r]; count > 0 && (free < 0 || q*count > free) {
			return false
		}
	}
	return count == 0 || s.Closed == nil || !s.Closed[h]
}

// unit is what one container costs on server h in slot t: sum_r p_h[r](t) w[r].
// Kinds are added in their order, and nothing else is: prices of tests are compared up to rounding.
func (s *Side) unit(t, h int) float64 {
	sum := 0.0
	for r, q := range s.Demand {
		sum += s.Price[t][h][r] * float64(q)
	}
	return sum
}
