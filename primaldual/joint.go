// This file implements the least cost of workers and parameter servers together in one slot, where they compete for the
// same machines or must share one. In the paper's Algorithm 2 two sides that have nothing in common add up.
// That least cost is still C_t as the search sees it: it starts at 0 and never falls with either
// number, since parts of a placement are a placement of fewer.

package primaldual

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
)

// couple is a number of workers with a number of parameter servers.
type couple struct{ workers, ps int64 }

// joint prices and places couples of one job in one slot, exactly. It keeps its storage from one slot to the next.
//
// The two sides apart from each other cost at least what their cheapest containers cost. Where the parameter servers still
// find room for that price beside the workers, this is the least cost, and so it is for all smaller couples: parts of what
// was placed do. Where not, a dynamic program over machines decides; only the workers + ps cheapest of either side can
// matter, as a container on a dearer machine can move to one of these that is not used.
type joint struct {
	market  *market
	demands *[2]demand
	rule    Colocation

	greedy greedy
	sums   [2][]float64
	places []place
	best   []float64 // least cost of y workers and z parameter servers, by y*(ps+1) + z
	taken  []couple  // by place and entry of best, what the place has of it; only where it is asked for
	zero   []float64 // prices of nothing
}

// place is a machine as a job sees it.
type place struct {
	at    [2]int     // position in the list of each side; -1: not on it
	units [2]float64 // what one container costs, by side
	// colocated is the most parameter servers beside 0, 1, ... workers; its length less one is the most workers.
	colocated []int64
}

// set begins with a market, the demands and the rule of a job.
func (j *joint) set(m *market, demands *[2]demand, rule Colocation) {
	j.market, j.demands, j.rule = m, demands, rule
}

// setFree is set at prices of nothing: what fits is then what has a cost.
// free is a copy whose slots and room are those of m; only base prices are replaced, so that slots
// must come through unpriced.
func (j *joint) setFree(m *market, demands *[2]demand, rule Colocation) {
	if len(j.zero) != len(m.base) {
		j.zero = make([]float64, len(m.base))
	}
	free := *m
	free.base = j.zero
	j.set(&free, demands, rule)
}

// unpriced returns a slot without prices of its own, for setFree.
func unpriced(s *slotState) *slotState { return &slotState{used: s.used, down: s.down} }

// costs returns the least cost of each couple, infinite where it does not fit. Containers that cost budget or more are of
// no use. At worst O(machines x kinds + places x (workers+1) (ps+1) x containers of a machine).
func (j *joint) costs(s *slotState, couples []couple, budget float64) []float64 {
	out := make([]float64, len(couples))
	if j.rule == OneMachine {
		// On one machine no cheaper place can stand in for one that is too small, so that all
		// places are looked at.
		j.list(s, most(couples), budget, false)
		for i, c := range couples {
			_, out[i] = j.alone(c)
		}
		return out
	}
	// 1. What each side costs by itself, and the largest couples for which both have room.
	// Sums are made once, up to the largest couple; smaller ones are read off them.
	limit := most(couples)
	j.sums[Workers] = j.greedy.sums(j.sums[Workers], j.market, s, &j.demands[Workers], order{limit.workers, budget})
	j.sums[ParameterServers] = j.greedy.sums(j.sums[ParameterServers], j.market, s, &j.demands[ParameterServers], order{limit.ps, budget})
	// A_t(y) + B_t(z) is the cost where the sides do not meet and a lower bound where they do, as
	// containers can only get in each other's way.
	separate := func(c couple) float64 {
		if c.workers >= int64(len(j.sums[Workers])) || c.ps >= int64(len(j.sums[ParameterServers])) {
			return inf
		}
		return j.sums[Workers][c.workers] + j.sums[ParameterServers][c.ps]
	}
	// Couples that do not fit even apart from each other are infinite already, and would only make
	// the table of solve larger.
	largest := couple{}
	for i, c := range couples {
		if out[i] = separate(c); out[i] < inf {
			largest = most([]couple{largest, c})
		}
	}
	// 2. The sides do not meet, or not in vain: that is all.
	if _, ok := j.workersFirst(s, largest, budget); ok {
		return out
	}
	// 3. They do.
	// Costs alone are asked for here: the choices would take places times as much memory.
	j.solve(s, largest, budget, false)
	for i, c := range couples {
		// solve's table has no entry for a couple beyond largest.
		if out[i] < inf {
			out[i] = max(out[i], j.best[c.workers*(largest.ps+1)+c.ps]) // never below what rounding makes of the bound
		}
	}
	return out
}

// place returns the placements of a couple at the least cost, servers ascending, or false where it does not fit.
func (j *joint) place(s *slotState, c couple) (placed [2][]apportion.Placement, ok bool) {
	if j.rule == OneMachine {
		j.list(s, c, inf, false)
		// No budget here: the search has chosen the couple by its cost already.
		at, cost := j.alone(c)
		if cost == inf {
			return placed, false
		}
		if c.workers > 0 {
			placed[Workers] = []apportion.Placement{{Server: j.places[at].at[Workers], Count: c.workers}}
		}
		if c.ps > 0 {
			placed[ParameterServers] = []apportion.Placement{{Server: j.places[at].at[ParameterServers], Count: c.ps}}
		}
		return placed, true
	}
	for _, side := range []Side{Workers, ParameterServers} {
		// Both sums are needed again, as workersFirst compares with them and costs may have been asked
		// for another slot since.
		need := []int64{c.workers, c.ps}[side]
		j.sums[side] = j.greedy.sums(j.sums[side], j.market, s, &j.demands[side], order{need, inf})
		if int64(len(j.sums[side])) <= need {
			return placed, false
		}
	}
	if placed, ok = j.workersFirst(s, c, inf); ok {
		return placed, true
	}
	j.solve(s, c, inf, true)
	// c is the limit of the table, so that its entry is the last one.
	if j.best[len(j.best)-1] == inf {
		return placed, false
	}
	return j.trace(c), true
}

// most returns the greatest numbers of either side.
func most(couples []couple) couple {
	var out couple
	for _, c := range couples {
		out.workers, out.ps = max(out.workers, c.workers), max(out.ps, c.ps)
	}
	return out
}

// slackOfSums is the part by which two sums of the same costs may differ.
const slackOfSums = 1e-12

// workersFirst places the cheapest workers, and parameter servers into what these leave. It is false where that costs more than
// the two sides apart from each other, which sums says.
func (j *joint) workersFirst(s *slotState, c couple, budget float64) (placed [2][]apportion.Placement, ok bool) {
	m := j.market
	// after is the slot as it will be with the workers in it. The tables of the ledger are shared
	// and stay as they are; prices too, since (32) has those before the job.
	after := slotState{price: s.price, used: make([]int64, len(m.capacity)), down: s.down}
	copy(after.used, s.used)
	// A machine that has workers takes no parameter servers: in the copy it is down.
	if j.rule == Apart {
		after.down = make([]bool, m.machines)
		copy(after.down, s.down)
	}
	workers := &j.demands[Workers]
	for _, p := range j.greedy.fill(m, s, workers, order{c.workers, budget}) {
		machine := m.on[Workers][p.server]
		for i, r := range workers.kinds {
			after.used[machine*m.kinds+r] += p.count * workers.amounts[i]
		}
		if j.rule == Apart {
			after.down[machine] = true
		}
		placed[Workers] = append(placed[Workers], apportion.Placement{Server: p.server, Count: p.count})
	}
	// Only the parameter servers can cost more than apart: the workers stand where the greedy would
	// put them anyway.
	cost, left := 0.0, c.ps
	for _, p := range j.greedy.fill(m, &after, &j.demands[ParameterServers], order{c.ps, inf}) {
		cost += float64(float64(p.count) * p.unit)
		left -= p.count
		placed[ParameterServers] = append(placed[ParameterServers], apportion.Placement{Server: p.server, Count: p.count})
	}
	// The greedy gives placements by cost; schedules list servers in ascending order.
	sortPlacements(placed[Workers])
	sortPlacements(placed[ParameterServers])
	// No placement costs less than both sides apart from each other. One that costs the same, up to
	// the rounding of two sums, is thus the cheapest, and no table is needed.
	return placed, left == 0 && cost <= j.sums[ParameterServers][c.ps]*(1+slackOfSums)
}

// alone returns the cheapest place that has all of a couple, and its cost; infinite where there is none.
// Of equal ones it is the first, so that ties go to the lowest machine. O(places).
func (j *joint) alone(c couple) (at int, cost float64) {
	cost = inf
	for i := range j.places {
		p := &j.places[i]
		if c.workers >= int64(len(p.colocated)) || c.ps > p.colocated[c.workers] {
			continue
		}
		if sum := float64(float64(c.workers)*p.units[Workers]) + float64(float64(c.ps)*p.units[ParameterServers]); sum < cost {
			at, cost = i, sum
		}
	}
	return at, cost
}

// list finds the places that may have containers of couples up to a limit; with few only those that can matter where
// containers may be spread.
func (j *joint) list(s *slotState, limit couple, budget float64, few bool) {
	m := j.market
	j.places = j.places[:0]
	// A machine has a position on each list it is on, and placements name positions.
	at := [2][]int{positions(m, Workers), positions(m, ParameterServers)}
	prices := m.prices(s)
	for machine := range m.machines {
		p := place{at: [2]int{at[Workers][machine], at[ParameterServers][machine]}}
		var room [2]int64
		for _, side := range []Side{Workers, ParameterServers} {
			p.units[side] = j.demands[side].unit(prices, machine*m.kinds)
			// A machine that is not on a list has no room for its side, and one that is too dear
			// has none that pays.
			if p.at[side] >= 0 && p.units[side] < budget {
				room[side] = m.room(s, &j.demands[side], machine)
			}
		}
		if room[Workers] > 0 || room[ParameterServers] > 0 {
			j.fillColocated(&p, s, machine, room, limit)
			j.places = append(j.places, p)
		}
	}
	if few {
		j.keepCheapest(int(min(limit.workers+limit.ps, int64(len(j.places)))))
	}
}

// positions returns the position of every machine in the list of a side, -1 where it is not there.
// O(machines), once a slot; a search for each machine would multiply by the servers of the list.
func positions(m *market, side Side) []int {
	at := make([]int, m.machines)
	for machine := range at {
		at[machine] = -1
	}
	for i, machine := range m.on[side] {
		at[machine] = i
	}
	return at
}

// fillColocated counts how many parameter servers a machine takes beside each number of workers.
func (j *joint) fillColocated(p *place, s *slotState, machine int, room [2]int64, limit couple) {
	m := j.market
	// colocated never rises with a: each worker takes from what parameter servers could have.
	for a := int64(0); a <= min(room[Workers], limit.workers); a++ {
		b := min(room[ParameterServers], limit.ps)
		if a > 0 && j.rule == Apart {
			b = 0
		}
		for i, r := range j.demands[ParameterServers].kinds {
			free := m.capacity[machine*m.kinds+r]
			if s.used != nil {
				free -= s.used[machine*m.kinds+r]
			}
			// Kinds that only one side demands do not make the two compete; room has counted those
			// of the workers.
			if at := slices.Index(j.demands[Workers].kinds, r); at >= 0 {
				free -= a * j.demands[Workers].amounts[at]
			}
			b = min(b, free/j.demands[ParameterServers].amounts[i])
		}
		p.colocated = append(p.colocated, b)
	}
}

// keepCheapest keeps of the places the n that are cheapest for a worker and the n cheapest for a parameter server, of those
// with room for one.
// n containers stand on n machines at most: a container on a dearer machine could always move to
// one of the n cheapest with room that holds none, so that others cannot lower the cost.
func (j *joint) keepCheapest(n int) {
	keep := make([]bool, len(j.places))
	for _, side := range []Side{Workers, ParameterServers} {
		var open []int
		for i := range j.places {
			if p := &j.places[i]; side == Workers && len(p.colocated) > 1 || side == ParameterServers && p.colocated[0] > 0 {
				open = append(open, i)
			}
		}
		// The sort is stable: of equal costs the first machines are kept.
		slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(j.places[a].units[side], j.places[b].units[side]) })
		for _, i := range open[:min(n, len(open))] {
			keep[i] = true
		}
	}
	kept := j.places[:0]
	for i := range keep {
		if keep[i] {
			kept = append(kept, j.places[i])
		}
	}
	j.places = kept
}

// solve fills best up to a couple, place by place. With choices it also keeps what each place has, for trace.
func (j *joint) solve(s *slotState, limit couple, budget float64, choices bool) {
	j.list(s, limit, budget, true)
	// best[y width + z] is the least cost over the places so far, of y workers and z parameter
	// servers: a knapsack of two quantities. O(places x (workers+1) (ps+1) x couples that a place
	// has room for).
	width := limit.ps + 1
	states := (limit.workers + 1) * width
	j.best = append(j.best[:0], make([]float64, states)...)
	for i := range j.best {
		j.best[i] = inf
	}
	// Without containers there is no cost; all else is out of reach until some place takes it.
	j.best[0] = 0
	j.taken = j.taken[:0]
	for i := range j.places {
		p := &j.places[i]
		var chosen []couple
		if choices {
			j.taken = append(j.taken, make([]couple, states)...)
			chosen = j.taken[len(j.taken)-int(states):]
		}
		// From the end, so that what an entry is made of does not hold this place yet.
		// Descending y and z read entries that still are without place i, so that each place is
		// used once and one table is enough.
		for y := limit.workers; y >= 0; y-- {
			for z := limit.ps; z >= 0; z-- {
				entry := y*width + z
				for a := int64(0); a <= min(y, int64(len(p.colocated)-1)); a++ {
					for b := int64(0); b <= min(z, p.colocated[a]); b++ {
						cost := j.best[(y-a)*width+z-b] + float64(float64(a)*p.units[Workers]) + float64(float64(b)*p.units[ParameterServers])
						// Strict <, so that ties leave containers on the places before: the first
						// machines.
						if cost < j.best[entry] {
							j.best[entry] = cost
							if choices {
								chosen[entry] = couple{a, b}
							}
						}
					}
				}
			}
		}
	}
}

// trace returns the placements behind the last entry of best.
// O(places), as each entry names what its place added.
func (j *joint) trace(c couple) (placed [2][]apportion.Placement) {
	width, states := c.ps+1, len(j.best)
	// Backwards, as taken[i] says what place i added to an entry that places 0 to i make up: what
	// is left of c is then made up by those before it.
	for i := len(j.places) - 1; i >= 0; i-- {
		has := j.taken[i*states+int(c.workers*width+c.ps)]
		if has.workers > 0 {
			placed[Workers] = append(placed[Workers], apportion.Placement{Server: j.places[i].at[Workers], Count: has.workers})
		}
		if has.ps > 0 {
			placed[ParameterServers] = append(placed[ParameterServers], apportion.Placement{Server: j.places[i].at[ParameterServers], Count: has.ps})
		}
		c.workers, c.ps = c.workers-has.workers, c.ps-has.ps
	}
	sortPlacements(placed[Workers])
	sortPlacements(placed[ParameterServers])
	return placed
}
