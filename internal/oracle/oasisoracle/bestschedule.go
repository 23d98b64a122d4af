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
	// Same[k] is the worker server that parameter-server server k is the same machine as, -1 for none; nil: none is. Both
	// have the same Free and Price then.
	Same []int
	// Apart: no machine has containers of both sides in a slot. Alone: all containers of a slot are on one machine.
	Apart, Alone bool
	// MaxWorkers is N_i, Work is W_i.
	MaxWorkers, Work int64
	// WorkerBandwidth and PSBandwidth are b_i and B_i.
	WorkerBandwidth, PSBandwidth int64
	// Speed, if not nil, is the work that some numbers of workers and parameter servers do in a slot, 0 where they do
	// not run together; MaxPS is then the most parameter servers of any slot, and bandwidths count for nothing.
	Speed func(workers, ps int64) int64
	MaxPS int64
	// Values[t] is the utility of a job whose last worker runs in slot t.
	Values []float64
}

// Best returns the greatest payoff over all schedules, 0 if none is positive, and the least cost of
// doing the work by each slot, infinite where it cannot be done. ([OASiS] eqs. 21 and 28)
// Prices are at least 0 and Values do not grow with the slot. Products of demands and counts are not
// checked for overflow: quantities of such tests are small. O((MaxWorkers+1)^slots) for linear speed.
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
	// Every number of workers, or with speeds every amount of work, in this slot.
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
	if p.Speed != nil {
		return p.ways(t)
	}
	// By (7) there are never more parameter servers than workers.
	together := p.together(t, p.MaxWorkers)
	out := make([]float64, p.MaxWorkers+1)
	for y := range out {
		out[y] = math.Inf(1)
		for z := range together[y] {
			served := int64(y)*p.WorkerBandwidth <= int64(z)*p.PSBandwidth // (6)
			if served && z <= y {                                          // (7)
				out[y] = min(out[y], together[y][z])
			}
		}
	}
	return out
}

// ways returns the least cost of each amount of work in slot t up to all of it, over every number of workers and
// parameter servers and every choice of servers.
// walk then takes the index for the work that a slot does, which with linear speed is the number of its
// workers.
func (p *Problem) ways(t int) []float64 {
	together := p.together(t, p.MaxPS)
	out := make([]float64, p.Work+1)
	for d := range out {
		out[d] = math.Inf(1)
	}
	// A slot without the job costs nothing; speeds say nothing of it.
	out[0] = 0
	for y := range together {
		for z := range together[y] {
			// More work than there is does no harm, as more workers than needed do none with linear speed.
			if d := min(p.Work, p.Speed(int64(y), int64(z))); d > 0 {
				out[d] = min(out[d], together[y][z])
			}
		}
	}
	return out
}

// Together returns the least cost of y workers and z parameter servers of a job in one slot, y to MaxWorkers and z to maxPS.
func Together(p *Problem, slot int, maxPS int64) [][]float64 { return p.together(slot, maxPS) }

// together returns the least cost of y workers and z parameter servers in slot t, y to MaxWorkers and z to maxPS.
// out[y][z] is infinite where so many do not fit under the rules.
func (p *Problem) together(t int, maxPS int64) [][]float64 {
	out := make([][]float64, p.MaxWorkers+1)
	if p.Same == nil && !p.Alone {
		// Nothing is shared, so that the sides add up.
		workers, ps := p.Workers.totals(t, p.MaxWorkers), p.PS.totals(t, maxPS)
		for y := range out {
			for z := range ps {
				out[y] = append(out[y], workers[y]+ps[z])
			}
		}
		return out
	}
	for y := range out {
		out[y] = make([]float64, maxPS+1)
		for z := range out[y] {
			out[y][z] = math.Inf(1)
		}
	}
	// Machines are shared, so that both sides are placed together.
	w := &walker{p: p, t: t, out: out, workers: make([]int64, len(p.Workers.Free[t])), ps: make([]int64, len(p.PS.Free[t]))}
	w.spread(0, 0, 0)
	return out
}

// walker tries all placements in one slot, for both sides together: first all workers, then, for each such placement, all
// parameter servers. Its time is the product of both numbers of placements.
type walker struct {
	p           *Problem
	t           int
	workers, ps []int64 // how many are where
	out         [][]float64
}

// spread tries every number of workers on worker server h and all later ones; y workers at that cost are on earlier ones.
func (w *walker) spread(h int, y int64, cost float64) {
	if h == len(w.workers) {
		w.add(0, y, 0, cost)
		return
	}
	// All counts that fit this server, none first.
	for count := int64(0); y+count <= w.p.MaxWorkers && w.p.Workers.fits(w.t, h, count); count++ {
		w.workers[h] = count
		w.spread(h+1, y+count, cost+float64(count)*w.p.Workers.unit(w.t, h))
	}
	// The caller's next branch reads all servers and must find this one empty.
	w.workers[h] = 0
}

// add tries every number of parameter servers on server k and all later ones beside the workers, under the rules.
// Server k must hold count beside what the workers took of the same machine; Free is never reduced,
// since prices are by container and one job alone is placed.
func (w *walker) add(k int, y, z int64, cost float64) {
	if k == len(w.ps) {
		// The rule of one machine is looked at when all is placed; that of apart, and room, at each step.
		if !w.p.Alone || w.p.machines(w.workers, w.ps) <= 1 {
			w.out[y][z] = min(w.out[y][z], cost)
		}
		return
	}
	most := int64(len(w.out[y]) - 1)
	for count := int64(0); z+count <= most && w.p.PS.fits(w.t, k, count) && w.p.fitTogether(w.t, k, count, w.workers); count++ {
		w.ps[k] = count
		w.add(k+1, y, z+count, cost+float64(count)*w.p.PS.unit(w.t, k))
	}
	w.ps[k] = 0
}

// fitTogether reports whether count parameter servers fit server k with the workers that are on the same machine.
// It reads what is free from the side of the parameter servers; that of the workers is the same.
func (p *Problem) fitTogether(t, k int, count int64, workers []int64) bool {
	// Only what is on the same machine is in the way.
	if p.Same == nil || p.Same[k] < 0 || count == 0 || workers[p.Same[k]] == 0 {
		return true
	}
	if p.Apart {
		return false
	}
	for r, q := range p.PS.Demand {
		if q*count+p.Workers.Demand[r]*workers[p.Same[k]] > p.PS.Free[t][k][r] {
			return false
		}
	}
	return true
}

// machines counts the machines that have a container. The rule of one machine, Alone, asks for at most one.
// It counts over servers of both lists: a server of parameter servers that is no worker's machine is
// one by itself.
func (p *Problem) machines(workers, ps []int64) int {
	n := 0
	for _, count := range workers {
		if count > 0 {
			n++
		}
	}
	// A machine of both sides is counted once, with its workers.
	for k, count := range ps {
		if count > 0 && (p.Same == nil || p.Same[k] < 0 || workers[p.Same[k]] == 0) {
			n++
		}
	}
	return n
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
