// This file minimizes a bound over its multipliers: a deflected subgradient method with the step
// rule of [Polyak69].

package embedded

import (
	"context"
	"math"
)

const (
	// deflection is the weight of the newest subgradient in the direction.
	deflection = 0.25
	// The step's factor shrinks by shrink after patience rounds without improvement, and ends the
	// descent below lastStep.
	shrink   = 0.75
	lastStep = 1e-4
	// progress is the relative gain that counts as improvement.
	progress = 1e-5
	// flat is the square of the length below which a direction is zero.
	flat = 1e-18
)

// oracle is a convex function that evaluates to a bound, and a subgradient of it.
type oracle interface {
	// evaluate returns the bound at x and leaves a subgradient in slope; the caller may read it
	// until the next evaluation.
	evaluate(x []float64) float64
	gradient() []float64
}

// descent is the state of the method. Component c of x moves in units of scale[c]; those from
// free to last stay at 0 or above.
type descent struct {
	f       oracle
	x, best []float64
	bound   float64 // at best
	scale   []float64
	// The first free components may be negative, and those from last on.
	free, last int
	direction  []float64
	rounds     int64
	// firstStep is the factor of the first steps, theta that of the next one; patience how many rounds
	// without improvement shrink it.
	firstStep, theta float64
	patience         int
}

func newDescent(f oracle, dim, free int) *descent {
	backing := make([]float64, 4*dim)
	part := func(n int) []float64 { return backing[n*dim : (n+1)*dim : (n+1)*dim] }
	return &descent{f: f, firstStep: 0.3, patience: 10, x: part(0), best: part(1), scale: part(2), direction: part(3), free: free, last: dim, bound: math.Inf(1)}
}

// start evaluates at x and makes it the best.
func (d *descent) start() {
	copy(d.best, d.x)
	d.bound = d.f.evaluate(d.x)
	d.theta = d.firstStep
	clear(d.direction)
}

// run takes at most rounds steps from the best point towards target, and ends early once the bound
// is at most stop, the steps have become tiny or ctx has ended.
func (d *descent) run(ctx context.Context, rounds int, target, stop float64) {
	stale := 0
	bound := d.back()
	for range rounds {
		if d.bound <= stop || d.theta < lastStep || ctx.Err() != nil || !d.step(d.theta*(bound-target)) {
			return
		}
		d.rounds++
		bound = d.f.evaluate(d.x)
		stale++
		if bound < d.bound {
			if bound < d.bound-float64(progress*math.Abs(d.bound)) {
				stale = 0
			}
			d.bound = bound
			copy(d.best, d.x)
		}
		if stale >= d.patience {
			d.theta *= shrink
			stale = 0
			bound = d.back()
		}
	}
}

// back returns to the best point.
func (d *descent) back() float64 {
	copy(d.x, d.best)
	return d.f.evaluate(d.x)
}

// step turns the direction towards the newest subgradient and goes length/|direction|^2 along it. It
// reports false where the direction vanishes.
func (d *descent) step(length float64) bool {
	var norm float64
	for c, g := range d.f.gradient() {
		if c >= d.free && c < d.last && g > 0 && d.x[c] == 0 {
			g = 0
		}
		v := float64((1-deflection)*d.direction[c]) - float64(float64(deflection*d.scale[c])*g)
		d.direction[c] = v
		norm += float64(v * v)
	}
	if norm < flat {
		return false
	}
	factor := length / norm
	for c, v := range d.direction {
		d.x[c] += float64(float64(factor*d.scale[c]) * v)
		if c >= d.free && c < d.last && d.x[c] < 0 {
			d.x[c] = 0
		}
	}
	return true
}
