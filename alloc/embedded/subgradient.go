// This file minimizes the root bound over the prices: a deflected subgradient method with the step
// rule of [Polyak69].

package embedded

import (
	"context"
	"math"
)

const (
	// startPrice is the price of all of a kind at the start: a full cluster is worth about one a
	// kind, and the optimal prices sum to a little less.
	startPrice = 0.8
	// targetShare is how much of the incumbent's value the step rule aims at.
	targetShare = 0.999
	// keptLossScale is the scale of lambda where applications may stay: the loss then jumps by
	// whole applications, and a full scale makes lambda swing.
	keptLossScale = 0.05
	// deflection is the weight of the newest subgradient in the direction.
	deflection = 0.25
	// firstStep, shrink and patience: the step's factor starts at firstStep and shrinks after
	// patience rounds without improvement; it ends the ascent below lastStep.
	firstStep = 0.3
	shrink    = 0.75
	patience  = 10
	lastStep  = 1e-4
	// progress is the relative gain that counts as improvement; lastGain is rounding.
	progress, lastGain = 1e-5, 1e-12
	// flat is the square of the length below which a direction is zero.
	flat = 1e-18
)

// ascent is the state of the method.
type ascent struct {
	d         *dual
	at, best  *prices
	bound     float64   // at best
	scale     []float64 // of the server prices
	lossScale float64
	direction []float64 // scaled, the last entry is lambda's
	capacity  []float64 // class g, kind k: all its servers together
	fixed     bool      // lambda stays as it is
}

// newAscent starts from prices in proportion to 1/C_k.
func newAscent(d *dual) *ascent {
	p := d.p
	a := &ascent{d: d, scale: make([]float64, len(d.used)), capacity: make([]float64, len(d.used)), lossScale: 1}
	a.at = &prices{server: make([]float64, len(d.used))}
	if p.keepable > 0 {
		a.lossScale = keptLossScale
	}
	for j := range p.servers {
		for k := range p.kinds {
			a.capacity[int(d.classOf[j])*p.kinds+k] += float64(p.capacity[j*p.kinds+k])
		}
	}
	for gk, capacity := range a.capacity {
		if capacity > 0 {
			total := float64(p.total[gk%p.kinds])
			a.scale[gk] = 1 / math.Sqrt(capacity*total)
			a.at.server[gk] = startPrice / total
		}
	}
	a.direction = make([]float64, len(d.used)+1)
	a.adopt()
	return a
}

// adopt makes the current prices the best ones.
func (a *ascent) adopt() {
	a.best = a.at.clone()
	a.bound = a.d.evaluate(a.at)
}

// fixLoss starts afresh with a price on loss that stays: 0 with the usual prices, else with none.
func (a *ascent) fixLoss(lambda float64) {
	a.fixed, a.at.loss = true, lambda
	if lambda > 0 {
		clear(a.at.server)
	}
	a.adopt()
}

// sides returns what must be placed and what there is, both at the best prices and in parts of the
// latter, where the bound is their difference.
func (a *ascent) sides() (need, have float64) {
	var worth float64
	for gk, price := range a.best.server {
		worth += float64(price * a.capacity[gk])
	}
	return 1 - a.bound/worth, 1
}

// run takes at most rounds steps and keeps the best prices met. It ends early once the bound has
// come down to incumbent, the steps have become tiny or ctx has ended; it returns the steps taken.
func (a *ascent) run(ctx context.Context, rounds int, incumbent float64) int {
	target := targetShare * incumbent
	theta, stale := firstStep, 0
	bound := a.bound
	copy(a.at.server, a.best.server)
	a.at.loss = a.best.loss
	a.d.evaluate(a.at)
	clear(a.direction)
	for round := range rounds {
		if theta < lastStep || a.bound <= incumbent+lastGain || ctx.Err() != nil {
			return round
		}
		if !a.move(theta * (bound - target)) {
			return round
		}
		bound = a.d.evaluate(a.at)
		stale++
		if bound < a.bound-lastGain {
			// Tiny gains are kept, but do not count as progress.
			if bound < a.bound-float64(progress*math.Abs(a.bound)) {
				stale = 0
			}
			a.bound = bound
			copy(a.best.server, a.at.server)
			a.best.loss = a.at.loss
		} else if stale >= patience {
			theta, stale = theta*shrink, 0
			copy(a.at.server, a.best.server)
			a.at.loss = a.best.loss
			bound = a.d.evaluate(a.at)
		}
	}
	return rounds
}

// move turns the direction towards the newest subgradient and steps length/|direction|^2 along it.
// It reports false where the subgradient vanishes: the prices are optimal.
func (a *ascent) move(length float64) bool {
	d := a.d
	var norm float64
	blend := func(s int, g float64) {
		a.direction[s] = float64((1-deflection)*a.direction[s]) + float64(deflection*g)
		norm += float64(a.direction[s] * a.direction[s])
	}
	for gk, used := range d.used {
		g := used - a.capacity[gk]
		if g < 0 && a.at.server[gk] == 0 {
			g = 0 // the price cannot fall below zero
		}
		blend(gk, g*a.scale[gk])
	}
	last := len(d.used)
	if a.fixed {
		return a.shift(length, norm)
	}
	g := d.loss - d.budget
	if g < 0 && a.at.loss == 0 {
		g = 0
	}
	blend(last, g*a.lossScale)
	return a.shift(length, norm)
}

// shift goes length along the direction, whose squared length is norm.
func (a *ascent) shift(length, norm float64) bool {
	if norm < flat {
		return false
	}
	factor, last := length/norm, len(a.at.server)
	for gk := range a.at.server {
		a.at.server[gk] = math.Max(0, a.at.server[gk]+float64(factor*a.direction[gk]*a.scale[gk]))
	}
	a.at.loss = math.Max(0, a.at.loss+float64(factor*a.direction[last]*a.lossScale))
	return true
}
