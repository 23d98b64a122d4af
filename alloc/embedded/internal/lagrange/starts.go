// This file says where descents begin, and in which units each multiplier moves.

package lagrange

import (
	"math"
)

const (
	// startPrice is the price of all of a kind at the start: a full cluster is worth about one a
	// kind, and the optimal prices sum to a little less.
	startPrice = 0.8
	// keptLossScale is the scale of lambda where applications may stay: the loss then jumps by
	// whole applications, and a full scale makes lambda swing.
	keptLossScale = 0.05
)

const (
	// TargetShare is how much of the incumbent's value the step rule aims at.
	TargetShare = 0.999
	// BlindTarget is what it aims at, in parts of the bound at the start, without an incumbent.
	BlindTarget = 0.9
)

// NewPriceDescent starts from prices in proportion to 1/C_k, and none on loss.
func NewPriceDescent(d *Dual) *Descent {
	p, last := d.Problem, d.Dim()-1
	desc := newDescent(d, d.Dim(), 0)
	desc.Scale[last] = 1
	if p.Pinnable > 0 {
		desc.Scale[last] = keptLossScale
	}
	for gk, have := range d.Have {
		if have > 0 {
			total := float64(p.Total[gk%p.Kinds])
			desc.Scale[gk] = 1 / math.Sqrt(have*total)
			desc.X[gk] = startPrice / total
		}
	}
	desc.Start()
	return desc
}

// NewCopyDescent starts at no price on containers and loss, and at multipliers that share what freeing
// all residents of a server would bring there, by their footprint. It has not been started.
func NewCopyDescent(ev *Decomposition) *Descent {
	s, p := ev.s, ev.s.Problem
	types := len(p.Types)
	d := newDescent(ev, Dim(s), types)
	d.last = LimitsAt(s)
	d.FirstStep, d.patience = 0.2, 5
	for t := range p.Types {
		d.Scale[t] = p.Types[t].Value / (2 * math.Sqrt(float64(p.Servers)))
		ev.worth[t] = p.Types[t].Value
	}
	d.Scale[types] = keptLossScale
	for g := range ev.bestOf {
		ev.bestAt[g], ev.bestOf[g] = s.Lists.Best(int32(g), ev.worth)
	}
	for j := range p.Servers {
		c := &s.Cells[s.CellOf[j]]
		if c.Residents == 0 || c.First == c.Last { // in the latter case the bound is -Inf anyway
			continue
		}
		var most, foot float64
		none := ev.bestOf[s.Subsets[c.First].Class]
		for n := c.First; n < c.Last; n++ {
			most = math.Max(most, ev.bestOf[s.Subsets[n].Class]-none)
		}
		for b, i := range p.Residents[j] {
			foot += p.Types[p.Apps[i].Type].Delta * float64(p.Holding[j][b])
		}
		for b, i := range p.Residents[j] {
			e := types + 1 + int(c.Entry) + b
			d.X[e] = most * p.Types[p.Apps[i].Type].Delta * float64(p.Holding[j][b]) / foot
			d.Scale[e] = math.Max(most, 1e-6) / float64(c.Residents)
		}
	}
	return d
}
