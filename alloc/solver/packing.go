// This file packs whole containers, each with a worth, into what is left of a server: the subproblem of
// CopyBound, [Guignard87].

package solver

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// mostSteps bounds the steps of one packing; then a simpler bound takes its place.
const mostSteps = 200_000

// packing is a list of items to pack, any number of each.
type packing struct {
	items []item
	known map[string]float64 // room -> worth of the best packing
	steps int                // of this packing
}

// item is a demand and the most that a container of it is worth.
type item struct {
	demand apportion.Resources
	worth  float64
}

// add adds containers of a demand; of two with one demand the one that is worth more counts. A container
// that is worth nothing is left out.
func (p *packing) add(demand apportion.Resources, worth float64) {
	if worth <= 0 {
		return
	}
	at := slices.IndexFunc(p.items, func(o item) bool { return o.demand.Equal(demand) })
	if at < 0 {
		p.items = append(p.items, item{demand, worth})
	} else {
		p.items[at].worth = math.Max(p.items[at].worth, worth)
	}
}

// best returns the most that whole containers in left are worth, or, where that takes too long, a
// bound on it: never less than the truth, so that what is built on it is a bound in any case. What was computed once is
// remembered. left has no negative quantity.
func (p *packing) best(left apportion.Resources) float64 {
	key := string(vectorKey(nil, left))
	if worth, ok := p.known[key]; ok {
		return worth
	}
	// The limit holds for each packing by itself, so that the order of servers does not matter.
	p.steps = 0
	// The result of a packing that ran out of steps is thrown away: it may be below the truth.
	worth := p.fill(0, left)
	if p.steps > mostSteps {
		worth = p.fractional(left)
	}
	if p.known == nil {
		p.known = make(map[string]float64)
	}
	p.known[key] = worth
	return worth
}

// fill tries every number of containers of item at and of those after it, and returns the best worth. Where the steps run out
// on the way its result means nothing, and best does not use it.
func (p *packing) fill(at int, left apportion.Resources) float64 {
	if p.steps++; at == len(p.items) || p.steps > mostSteps {
		return 0
	}
	// No demand is zero in every kind, so that n is finite.
	it := p.items[at]
	n := it.demand.CountIn(left)
	// Of the last item all that fit are best, since every item left in the list has a positive
	// worth.
	if at == len(p.items)-1 {
		return float64(float64(n) * it.worth)
	}
	rest, best := left.Clone(), 0.0
	for c := int64(0); c <= n && p.steps <= mostSteps; c++ {
		best = math.Max(best, float64(float64(c)*it.worth)+p.fill(at+1, rest))
		for k, d := range it.demand {
			rest[k] -= d
		}
	}
	return best
}

// fractional bounds the worth of containers in left by each item and by each kind alone: all items at their largest numbers,
// or a kind sold at the best worth a unit of it, whichever is least. O(items x kinds).
func (p *packing) fractional(left apportion.Resources) float64 {
	// Each item at the number that fits alone is a bound, and often a loose one.
	best := 0.0
	for _, it := range p.items {
		best += float64(float64(it.demand.CountIn(left)) * it.worth)
	}
	for k, q := range left {
		ratio := 0.0
		for _, it := range p.items {
			ratio = math.Max(ratio, it.worth/float64(it.demand[k])) // +Inf without demand: no bound
		}
		if q > 0 {
			best = math.Min(best, ratio*float64(q))
		}
	}
	return best
}

func vectorKey(key []byte, r apportion.Resources) []byte {
	for _, q := range r {
		key = binary.LittleEndian.AppendUint64(key, uint64(q))
	}
	return key
}
