// This file climbs from one set of freed applications to better ones by many exchanges at once, at the prices of the
// residual problem of the last one.

package sets

import (
	"context"
	"math"
)

// climb exchanges several members at the prices of the set, judges what comes out, and goes on from there while that is
// better. Prices hold for small changes: what is no better is taken back, and half as many are exchanged next. It
// judges tries sets at most, and returns how many it has.
//
// On large clusters one exchange is a thousandth of what is to be gained, and a set takes as long to judge as a
// thousand exchanges to price.
func (q *Search) climb(ctx context.Context, tries int64) int64 {
	// at is the best set so far, and value what its residual problem may bring.
	stride, judged := q.stride(), int64(0)
	if stride == 0 {
		return 0
	}
	at, value := append([]bool(nil), q.free...), q.value()
	for stride > 0 && judged < tries && ctx.Err() == nil {
		// Prices are those of the set that all of the next exchanges begin with.
		q.priceHere()
		exchanged := int64(0)
		for exchanged < stride && ctx.Err() == nil && q.exchange() {
			exchanged++
		}
		if exchanged == 0 {
			break // no exchange pays at these prices
		}
		judged++
		if v := q.value(); v > value+leastRise {
			value = v
			copy(at, q.free)
			continue
		}
		// Half of what was exchanged, and not of what was asked for: there may have been fewer that pay.
		q.load(at)
		stride = min(stride, exchanged) / 2
	}
	return judged
}

// stride returns how many a climb exchanges at first. There is no climb where that is a single one: so few exchanges the
// walk tries as soon.
func (q *Search) stride() int64 {
	if budget := q.leaves.S.Problem.Budget; q.tune.Stride > 0 && budget >= 2*q.tune.Stride {
		return budget / q.tune.Stride
	}
	return 0
}

// priceHere sets the local prices to those of the residual problem of the set. A type without free applications has
// none there, and keeps those of the root.
func (q *Search) priceHere() {
	r := q.leaves.R
	// What no residual problem prices keeps the prices of the root, lambda too.
	copy(q.worth, q.rootWorth)
	lambda := q.rootLambda
	if r.Fix(func(i int32) bool { return q.free[i] }) {
		r.Solve(math.Inf(-1))
		for _, t := range r.Types {
			q.worth[t] = r.Pi[t]
		}
		lambda = r.Lambda
	}
	q.local.set(q.leaves.S, q.worth, lambda)
}

// exchange frees the one who gains most, and keeps the one who is missed least where the budget asks for it. It
// reports false, and changes nothing, where that gains nothing.
func (q *Search) exchange() bool {
	// Below the budget somebody may be freed without anybody in exchange.
	out, loss := int32(-1), 0.0
	if q.n >= q.leaves.S.Problem.Budget {
		if out, loss = q.most(true); out < 0 {
			return false
		}
		q.toggle(out)
	}
	// Who comes in is looked for where out has gone already: they may have shared a server.
	in, gain := q.most(false)
	if in >= 0 && in != out && gain+loss > leastRise {
		q.toggle(in)
		return true
	}
	// Whoever has gone out comes back.
	if out >= 0 {
		q.toggle(out)
	}
	return false
}

// most returns who changes U most by leaving the set, if members, or by joining it, and the change: the lesser one of
// those at the prices of the root and of the set. It returns -1 where nobody can. Ties go to the first. O(applications and their servers).
func (q *Search) most(members bool) (int32, float64) {
	who, most := int32(-1), math.Inf(-1)
	for i, in := range q.free {
		if in != members || !q.leaves.S.Problem.Apps[i].Pinnable {
			continue
		}
		// Both are bounds, so that the lesser one says more.
		if change := min(q.change(&q.local, int32(i)), q.change(&q.root, int32(i))); change > most {
			who, most = int32(i), change
		}
	}
	return who, most
}
