// This file says where descents begin, and in which units each multiplier moves.

package lagrange

import (
	"math"
)

const (
	// startPrice is the price of all of a kind at the start: a full cluster is worth about one a
	// kind, and the optimal prices sum to a little less.
	startPrice = 0.8
	// priceCuts and copyCuts are how many cuts descents keep: more need fewer rounds, which pays where an
	// evaluation is dear, as that of all servers and types; fewer make a round cheap.
	priceCuts, copyCuts = 40, 16
	// BlindTarget is what the first step goes to, in parts of the bound at the start, without an incumbent.
	BlindTarget = 0.9
)

// NewPriceDescent starts from prices in proportion to 1/C_k, and none on loss.
// With x_gk = 0.8 / C_k a container costs 0.8 of its value v = sum_k d_k / C_k, whatever its demand:
// profits are all positive and of one size, which is where a full cluster's prices lie.
// It evaluates once, so that its Bound is valid when it comes back.
func NewPriceDescent(d *Dual) *Descent {
	p, last := d.Problem, d.Dim()-1
	desc := newDescent(d, d.Dim(), 0, priceCuts)
	// Both the loss and what a unit of it is worth are of order 1.
	desc.Scale[last] = 1
	// Classes that have none of a kind get no price on it: scale 0 keeps the component at
	// 0.
	for gk, have := range d.Have[:d.ceilingsAt()] {
		if have > 0 {
			total := float64(p.Total[gk%p.Kinds])
			// The subgradient in p_gk is of the size of have, and the price itself of 1/total:
			// with this scale both classes of one server and of a thousand move by comparable
			// parts of their price.
			desc.Scale[gk] = 1 / math.Sqrt(have*total)
			desc.X[gk] = startPrice / total
		}
	}
	// Ceilings cost nothing at first: what binds shows in the first slopes. One of 0 allows no container, so that
	// its price is of no use.
	for c, ceiling := range p.Ceilings {
		if at := d.ceilingsAt() + c; ceiling.Limit > 0 {
			desc.Scale[at] = 1 / math.Sqrt(d.Have[at]*float64(p.Total[ceiling.Kind]))
		}
	}
	if d.pieces != nil {
		d.pieces.scale(desc.Scale, p.Total)
	}
	desc.Start()
	return desc
}

// scale fills in the units in which prices on pieces move: a piece of q units costs q times as much, and fits q times as seldom.
func (s *pieces) scale(scale []float64, total []int64) {
	for l, list := range s.lists {
		units := float64(total[list.Kind]) / float64(list.Unit)
		for q := range list.Price {
			scale[s.at[l]+q] = float64(q+1) / math.Sqrt(units*s.servers[l]*float64(len(list.Price)))
		}
	}
}

// NewCopyDescent starts at no price on containers and loss, and at multipliers that share what freeing
// all residents of a server would bring there, by their footprint. It has not been started.
// The start of mu_ij is most_j Delta_i n_ij / sum over residents of Delta n, where most_j is the gain of
// the best subset of server j over freeing nobody: the multipliers of one server sum to that gain, so
// that freeing all of its residents neither pays nor costs. Where no Delta is positive they share alike.
// O(patterns x types + subsets + residents): about an evaluation.
func NewCopyDescent(ev *Decomposition) *Descent {
	s, p := ev.s, ev.s.Problem
	types := len(p.Types)
	// Prices on containers, before types, may be negative; so may those on limits, from
	// last on.
	d := newDescent(ev, Dim(s), types, copyCuts)
	d.last = LimitsAt(s)
	for t := range p.Types {
		d.Scale[t] = p.Types[t].Value / (2 * math.Sqrt(float64(p.Servers)))
		ev.worth[t] = p.Types[t].Value
	}
	d.Scale[types] = 1
	// Without prices on containers the best pattern of a class is worth all that its containers bring.
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
			// The footprint is the dominant share of what the resident holds here: in parts of the
			// cluster.
			foot += float64(p.Types[p.Apps[i].Type].Delta * float64(p.Holding[j][b]))
		}
		for b, i := range p.Residents[j] {
			e := types + 1 + int(c.Entry) + b
			d.X[e] = most / float64(c.Residents)
			if foot > 0 {
				d.X[e] = most * p.Types[p.Apps[i].Type].Delta * float64(p.Holding[j][b]) / foot
			}
			// Never 0, for a server whose residents block nothing now may block something at other
			// prices.
			d.Scale[e] = math.Max(most, 1e-6) / float64(c.Residents)
		}
	}
	return d
}
