// This file says what one application loses, and what it is worth at prices, [Dorm] (2).

package problem

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// LeastLoss returns the least loss that application i can have within its bounds, or within its
// maximum alone.
func (p *Problem) LeastLoss(i int32, minima bool) float64 {
	a := &p.Apps[i]
	n := a.Fair
	if minima {
		n = max(n, a.Min)
	}
	return math.Min(p.Loss(i, n), p.Loss(i, min(n+1, a.Max)))
}

// Loss returns l_i with n containers of an application of type t (2).
func (p *Problem) Loss(i int32, n int64) float64 {
	a := &p.Apps[i]
	return math.Abs(float64(p.Types[a.Type].Delta*float64(n)) - a.share)
}

// worthy reports whether anything is worth something beside its Value.
func worthy(inst *solver.Instance) bool {
	return slices.ContainsFunc(inst.Apps, func(app solver.App) bool { return app.Worth != nil || app.Stay > 0 })
}

// scale returns Scale: what all applications can gain together by their numbers and by staying, by kind.
func (p *Problem) scale() float64 {
	if !p.Worthy {
		return 1
	}
	var sum float64
	for i := range p.Apps {
		a, t := &p.Apps[i], &p.Types[p.Apps[i].Type]
		spread := float64(t.Value * float64(max(0, a.Max-a.Min)))
		if t.Curve != nil && len(t.Curve.At) > 0 {
			spread += slices.Max(t.Curve.Extra) - slices.Min(t.Curve.Extra)
		}
		sum += math.Min(spread, float64(p.Kinds)) + p.Inst.Apps[i].Stay
	}
	if sum == 0 {
		return 1
	}
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
func (p *Problem) lossWeight() float64 {
	least := math.Inf(1)
	for t := range p.Types {
		if v := p.Typical(int32(t)); v > 0 {
			least = math.Min(least, v)
		}
	}
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
	n := a.Min
	if price > -slope {
		n = max(n, a.Fair)
	}
	if n == a.Fair && n < a.Max && price > float64(lambda*(p.Loss(i, n+1)-p.Loss(i, n))) {
		n++
	}
	if price > slope {
		n = a.Max
	}
	return n, float64(price*float64(n)) - float64(lambda*p.Loss(i, n))
}

// KeepWorth returns v n - lambda loss_i(n) for the n containers that application i holds.
func (p *Problem) KeepWorth(i int32, lambda float64) float64 {
	a := &p.Apps[i]
	return float64(p.Types[a.Type].Value*float64(a.Held)) - float64(lambda*a.HeldLoss)
}
