// This file says what one application loses, and what it is worth at prices, [Dorm] (2).

package problem

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// floorMargin is well above rounding, in parts of what is summed.
const floorMargin = 1e-6

// LeastLoss returns the least loss that application i can have within its bounds.
func (p *Problem) LeastLoss(i int32) float64 {
	return p.Inst.Apps[i].LeastLoss(p.Apps[i].Min, p.Apps[i].Max)
}

// Loss returns l_i with n containers of an application of type t (2).
func (p *Problem) Loss(i int32, n int64) float64 {
	a := &p.Apps[i]
	// Losses that are stated number by number are looked up.
	if t := &p.Types[a.Type]; t.StatesLosses() {
		return t.Own.Loss(n)
	}
	// l_i = |delta n - s^_i|, in shares. float64(...) keeps the product from being fused with the subtraction:
	// a machine with such an instruction would round differently.
	return math.Abs(float64(p.Types[a.Type].Delta*float64(n)) - a.share)
}

// worthy reports whether anything is worth something beside its Value. A price of restarts in an instance that is plain but for that
// makes no application unlike others of its demand.
func worthy(inst *solver.Instance, plain bool) bool {
	return spreads(inst) || slices.ContainsFunc(inst.Apps, func(app solver.App) bool { return app.Worth != nil || app.Stay > 0 && !plain })
}

// spreads reports whether an application loses something by its servers.
func spreads(inst *solver.Instance) bool {
	return slices.ContainsFunc(inst.Apps, func(app solver.App) bool { return app.Spread != nil })
}

// Floor returns what every solution is worth at least, and a little less for rounding: a bound below it proves that there is
// none. O(applications + entries of Worth).
func (p *Problem) Floor() float64 {
	floor := -float64(p.Inst.LossPrice * (math.Max(0, p.Inst.LossBudget) + solver.LossTolerance))
	for i := range p.Inst.Apps {
		app := &p.Inst.Apps[i]
		least := math.Min(0, app.Idle)
		for _, w := range app.Worth {
			least = math.Min(least, w)
		}
		floor += least - p.mostTorn(app)
	}
	return floor - float64(floorMargin*(1+math.Abs(floor)))
}

// scale returns Scale: what all applications can gain together by their numbers and by staying, by kind.
func (p *Problem) scale() float64 {
	if !p.Worthy {
		return 1
	}
	var sum float64
	for i := range p.Apps {
		a, t := &p.Apps[i], &p.Types[p.Apps[i].Type]
		// spread = v (max - min) + the range of the curve: what the choice of n can gain. It is capped by the
		// number of kinds, what the whole cluster is worth in (10).
		spread := float64(t.Value * float64(max(0, a.Max-a.Min)))
		if t.Curve != nil && len(t.Curve.At) > 0 {
			spread += slices.Max(t.Curve.Extra) - slices.Min(t.Curve.Extra)
		}
		sum += math.Min(spread, float64(p.Kinds)) + p.Inst.Apps[i].Stay
	}
	// Instances without anything to gain have no scale of their own, and 1 is that of the paper's P2.
	if sum == 0 {
		return 1
	}
	// Scale is by kind, as (10) adds up the kinds: one full kind is worth 1 there.
	return sum / float64(p.Kinds)
}

// Typical returns what a container of type t brings about where its applications stand.
func (p *Problem) Typical(t int32) float64 {
	value := p.Types[t].Value
	if curve := p.Types[t].Curve; curve != nil {
		value += curve.Typical
	}
	return value
}

// lossWeight is a thousandth of the least value of a container.
// A thousandth lets a thousand steps of delta = v weigh as much as one container: loss decides among equals,
// and hardly ever against a container.
func (p *Problem) lossWeight() float64 {
	least := math.Inf(1)
	for t := range p.Types {
		if v := p.Typical(int32(t)); v > 0 {
			least = math.Min(least, v)
		}
	}
	// Where no container brings anything loss alone decides, and any positive weight does.
	if math.IsInf(least, 1) {
		return 1
	}
	return least / 1000
}

// Wanted returns the n in [min, max] with the largest price n - lambda loss_i(n), and that value.
// The loss falls by delta a container up to fair, and rises by delta beyond fair + 1.
func (p *Problem) Wanted(i int32, price, lambda float64) (int64, float64) {
	a := &p.Apps[i]
	slope := float64(lambda * p.Types[a.Type].Delta)
	// price n - lambda loss is concave in n: the slope changes at Fair and Fair + 1 only, so that three tests
	// replace a search. O(1).
	n := a.Min
	// Below Fair a container brings price + lambda delta.
	if price > -slope {
		n = max(n, a.Fair)
	}
	// Here is the fractional step, between Fair and Fair + 1.
	if n == a.Fair && n < a.Max && price > float64(lambda*(p.Loss(i, n+1)-p.Loss(i, n))) {
		n++
	}
	// Beyond it a container brings price - lambda delta, the same for all the rest.
	if price > slope {
		n = a.Max
	}
	return n, float64(price*float64(n)) - float64(lambda*p.Loss(i, n))
}

// KeepWorth returns v n + Stay_i - lambda loss_i(n) for the n containers that application i holds.
// It is keep_i of pattern.Cells, without any price for the room, which multipliers on copies pay for.
func (p *Problem) KeepWorth(i int32, lambda float64) float64 {
	a := &p.Apps[i]
	return float64(p.Types[a.Type].Value*float64(a.Held)) + a.HeldExtra - float64(lambda*a.HeldLoss)
}
