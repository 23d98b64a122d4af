// This file implements the exact search over what reduced costs leave open.

package schedule

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
)

// reduced searches for a schedule of a prefix that costs less than lower + gap, where lower is the
// bound of the multipliers lambda >= 0 (work) and nu >= 0 (parameter servers): with
//
//	rc_t(y) = C_t(y) - nu ceil(y b/B) - lambda y - (the least of that over y)  >= 0
//
// every schedule costs at least lower + sum_t rc_t(y_t). So only numbers y with rc_t(y) < gap can
// occur; most slots have one such number and are fixed. The rest is a small dynamic program over the
// sum of y. It drops states whose reduced costs reach the gap, and of states with one sum it keeps that
// of least cost: with nu > 0 reduced costs order schedules differently than costs do, as they credit
// parameter servers above the least number.
type reduced struct {
	options []option // of all distinct tables
	from    []int    // options of table i: options[from[i]:to[i]]; from[i] < 0: not computed yet
	to      []int
	free    []int // slots with more than one option, fewest workers between them first
	arena   []state
	at      []int32 // at[sum]: state of this sum in the layer at work
}

// option is a number of workers that a slot may have, its cost and its reduced cost.
type option struct {
	workers       int
	cost, reduced float64
}

// state is one sum of workers reached after some of the free slots. States of one layer, that is after the same slots, lie
// beside each other in the arena.
type state struct {
	sum           int32
	choice        int32 // option of the last slot, as an index into options
	parent        int32 // state of the layer before, as an index into the arena; -1: the first
	cost, reduced float64
}

// multipliers are lambda and nu, with the bound they give.
type multipliers struct{ lambda, nu, lower float64 }

type outcome int

const (
	found    outcome = iota // workers hold the cheapest schedule below the gap
	nothing                 // no schedule is below the gap
	tooLarge                // the plain dynamic program is less work
)

// search writes the cheapest schedule below lower + gap into workers, or reports that there is none.
func (x *reduced) search(p *prefix, m multipliers, gap float64, workers []int64) outcome {
	// Slots with one option left are fixed; need is what the others must do.
	need := p.work - x.open(p, m, gap, workers)
	if x.effort(p, need) > plainEffort(p)/2 || CheckCells(int64(len(x.free)), int64(need)+1, p.limit, apportion.Item{}, "") != nil {
		return tooLarge
	}
	// A state survives only if the slots to come can still make up the work, neither more nor less.
	// The window of sums shrinks as slots are decided: what lies outside can no longer end at the target.
	low, high := 0, 0 // workers that the free slots still to come add at least and at most
	for _, s := range x.free {
		first, last := x.ends(p, s)
		low, high = low+first, high+last
	}
	if need < low || need > high {
		return nothing
	}
	// The first layer is one state: no free slot is decided, nothing is done and nothing spent.
	x.at = grown(x.at, need+1)
	for i := range x.at {
		x.at[i] = -1
	}
	x.arena = append(x.arena[:0], state{parent: -1})
	start := 0
	for _, s := range x.free {
		first, last := x.ends(p, s)
		low, high = low-first, high-last
		end := len(x.arena)
		x.layer(start, p.tables.of[s], window{need - high, need - low, gap})
		if len(x.arena) == end {
			return nothing
		}
		start = end
	}
	// Every state of the last layer has the sum need.
	x.trace(len(x.arena)-1, workers)
	return found
}

// open computes the options of each slot, fixes slots with one, and returns the workers fixed.
func (x *reduced) open(p *prefix, m multipliers, gap float64, workers []int64) int {
	x.options, x.free = x.options[:0], x.free[:0]
	x.from, x.to = grown(x.from, p.tables.distinct()), grown(x.to, p.tables.distinct())
	for i := range x.from {
		x.from[i] = -1
	}
	fixed := 0
	for s := 0; s <= p.last; s++ {
		i := p.tables.of[s]
		// Slots with the same table have the same options, which are priced once.
		if x.from[i] < 0 {
			x.price(p, i, m, gap)
		}
		if x.to[i]-x.from[i] > 1 {
			x.free = append(x.free, s)
			continue
		}
		y := x.options[x.from[i]].workers
		workers[s] = int64(y)
		fixed += y
	}
	// Narrow slots first keep the sums that may occur few for as long as possible. Equal ones stay in the order of slots, so
	// that ties end alike everywhere.
	slices.SortFunc(x.free, func(a, b int) int {
		firstA, lastA := x.ends(p, a)
		firstB, lastB := x.ends(p, b)
		return cmp.Or(cmp.Compare(lastA-firstA, lastB-firstB), cmp.Compare(a, b))
	})
	return fixed
}

// price appends the options of table i, fewest workers first. The one of least reduced cost, 0, is always among them where gap
// is above 0, so that no slot is left without one.
func (x *reduced) price(p *prefix, i int, m multipliers, gap float64) {
	start := len(x.options)
	// Reduced costs are counted from the least of the table, which the bound contains already.
	least := inf
	for y, cost := range p.tables.table(i) {
		reduced := cost - float64(m.lambda*float64(y))
		if m.nu != 0 {
			reduced -= float64(m.nu * float64(p.servers.PSFor(int64(y))))
		}
		x.options = append(x.options, option{y, cost, reduced})
		least = min(least, reduced)
	}
	// In place: what is kept is written behind what has been read.
	kept := x.options[:start]
	for _, o := range x.options[start:] {
		if o.reduced -= least; o.reduced < gap {
			kept = append(kept, o)
		}
	}
	x.options, x.from[i], x.to[i] = kept, start, len(kept)
}

// ends returns the fewest and the most workers among the options of slot s.
// Options come with their workers ascending, so that these are the outer ones.
func (x *reduced) ends(p *prefix, s int) (first, last int) {
	i := p.tables.of[s]
	return x.options[x.from[i]].workers, x.options[x.to[i]-1].workers
}

// effort estimates the steps of the search, plainEffort those of the plain dynamic program.
// Steps may be many more than are taken, since the gap drops states; that is not known beforehand.
func (x *reduced) effort(p *prefix, need int) int {
	// The sums that may occur grow by the span of each slot, and are never more than what is needed.
	steps, width := 0, 0
	for _, s := range x.free {
		first, last := x.ends(p, s)
		width += last - first
		i := p.tables.of[s]
		steps += (x.to[i] - x.from[i]) * min(width, max(0, need))
	}
	return steps
}

// plainEffort returns the steps of the plain dynamic program.
func plainEffort(p *prefix) int {
	cells := 0
	for s := 0; s <= p.last; s++ {
		cells += len(p.tables.Of(s))
	}
	return cells * p.work
}

// window is what a state must satisfy: a sum from which the rest can reach the target, and reduced
// costs below the gap.
type window struct {
	low, high int
	gap       float64
}

// layer appends the states after one more slot, with table i, to those from start on.
func (x *reduced) layer(start, i int, w window) {
	end := len(x.arena)
	for parent := start; parent < end; parent++ {
		from := x.arena[parent]
		for o := x.from[i]; o < x.to[i]; o++ {
			sum := int(from.sum) + x.options[o].workers
			reduced := from.reduced + x.options[o].reduced
			// Reduced costs only add up: a state at the gap never comes below it again.
			if reduced >= w.gap || sum < w.low || sum > w.high {
				continue
			}
			// at holds the state of this sum in the layer at work; an older index belongs to an earlier layer.
			at := x.at[sum]
			if int(at) < end { // a state of an earlier layer, or none
				at = int32(len(x.arena))
				x.at[sum] = at
				x.arena = append(x.arena, state{cost: inf})
			}
			if cost := from.cost + x.options[o].cost; cost < x.arena[at].cost {
				x.arena[at] = state{int32(sum), int32(o), int32(parent), cost, reduced}
			}
		}
	}
}

// trace writes the options that led to state at into the free slots, last slot first.
func (x *reduced) trace(at int, workers []int64) {
	for i := len(x.free) - 1; i >= 0; i-- {
		s := x.arena[at]
		workers[x.free[i]] = int64(x.options[s.choice].workers)
		at = int(s.parent)
	}
}
