// This file bounds the payoff of every completion of a job, and ranks completions by it.

package schedule

import (
	"cmp"
	"slices"
)

// bound is what is known of completion in one slot: what the relaxation says, and the greatest lower
// bound on the cost.
type bound struct{ lower, lambda, proven float64 }

// completion is a slot in which the job may end, with an upper bound on its payoff.
type completion struct {
	last   int
	payoff float64
}

// collect builds the tables slot by slot and bounds the payoff of completion in each. It ends where
// no later completion can be better than a schedule found by rounding on the way.
// Each slot costs O(length of its table) if that is fresh, and the logarithm of the stretches kept;
// roundings add up to a logarithmic number of passes.
func (b *Search) collect(p *Problem, source Source) {
	b.Tables.Reset()
	b.hulls.reset()
	b.relax.reset()
	b.bounds = b.bounds[:0]
	work, floor, incumbent := int(p.Work), p.Floor, 0.0
	// Rounding costs as much as a slot of bounds and more: after one slot, then two, four and so on, it is a
	// constant part of all.
	first, next := -1, 0 // first completion possible, next one to round
	for s, value := range p.Values {
		// Even at the lowest prices there are, this completion and all later ones pay no more.
		if s >= p.Shortest-1 && value-floor <= incumbent {
			return
		}
		// A hull is made once for each distinct table; slots that repeat a table repeat its hull.
		if source.Add(&b.Tables, p.best()) {
			b.hulls.add(b.Tables.Of(s), p.Servers, 0)
		}
		b.relax.add(b.hulls.of(b.Tables.of[s]), work)
		lower, lambda, ok := b.relax.bound(work)
		b.bounds = append(b.bounds, bound{lower, lambda, lower})
		// A completion that cannot beat the schedule found so far is not worth rounding; its bound stays for rank.
		if !ok || value-lower <= incumbent || s < next {
			continue
		}
		if first < 0 {
			first = s
		}
		next = s + s - first + 1 // after 1, 2, 4, ... more slots
		incumbent = max(incumbent, value-b.trial.round(b.prefix(p, s), &b.hulls, lambda))
	}
}

// rank lists the completions that may have a positive payoff, best bound first. Of equal bounds, as a
// utility that does not fall with time has them, the earliest leads and the latest comes next: if it
// is no better than the leader, none between them is.
func (b *Search) rank(p *Problem) {
	b.orders = b.orders[:0]
	for s, bd := range b.bounds {
		if payoff := p.Values[s] - bd.lower; payoff > p.Slack() {
			b.orders = append(b.orders, completion{s, payoff})
		}
	}
	slices.SortFunc(b.orders, func(x, y completion) int {
		return cmp.Or(cmp.Compare(y.payoff, x.payoff), cmp.Compare(y.last, x.last))
	})
	// Sorting has the latest of equal bounds first, so that the earliest of the leaders is the last of them; it is
	// moved to the front and the others follow.
	leaders := 0
	for leaders < len(b.orders) && b.orders[leaders].payoff == b.orders[0].payoff {
		leaders++
	}
	if leaders > 0 {
		earliest := b.orders[leaders-1]
		copy(b.orders[1:leaders], b.orders)
		b.orders[0] = earliest
	}
}

// prove notes that no schedule that ends in slot last costs less than cost; one that ends earlier
// could run with the completion last too.
// It is what lets boundsFirst pass over completions that an earlier search has answered.
func (b *Search) prove(last int, cost float64) {
	for s := range b.bounds[:last+1] {
		b.bounds[s].proven = max(b.bounds[s].proven, cost)
	}
}

// miss describes why no schedule has a positive payoff: of the completions bounded, and the first one
// that was not as it cannot pay, the one that comes closest.
// The closest is the one that would lose least.
func (b *Search) miss(p *Problem) Answer {
	// No slot has room for anything that costs as much as the job is worth.
	budget := p.best()
	closest := Answer{Status: Unreached, Last: -1}
	consider := func(s int, cost float64) {
		if closest.Last < 0 || p.Values[s]-cost > closest.Value-closest.Cost {
			closest.Last, closest.Value, closest.Cost = s, p.Values[s], cost
		}
	}
	// inf: the slots up to s hold less than the work, whatever it costs.
	for s, bd := range b.bounds {
		if bd.lower < inf {
			closest.Status = TooDear
			consider(s, min(bd.proven, budget))
		}
	}
	// collect has ended before this completion, as even the floor would not have paid there.
	if s := len(b.bounds); s < len(p.Values) {
		consider(s, p.Floor)
	}
	if closest.Last < 0 {
		consider(p.Shortest-1, budget)
	}
	return closest
}
