// This file minimizes a bound over its multipliers: a deflected subgradient method with the step
// rule of [Polyak69].

package lagrange

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

// Oracle is a convex function that evaluates to a bound, and a subgradient of it.
type Oracle interface {
	// evaluate returns the bound at x and leaves a subgradient in slope; the caller may read it
	// until the next evaluation.
	Evaluate(x []float64) float64
	gradient() []float64
}

// Descent is the state of the method. Component c of x moves in units of scale[c]; those from
// free to last stay at 0 or above.
type Descent struct {
	F       Oracle
	X, Best []float64
	Bound   float64 // at best
	Scale   []float64
	// The first free components may be negative, and those from last on.
	free, last int
	direction  []float64
	Rounds     int64
	// FirstStep is the factor of the first steps, theta that of the next one; patience how many rounds
	// without improvement shrink it.
	FirstStep, Theta float64
	patience         int
}

func newDescent(f Oracle, dim, free int) *Descent {
	backing := make([]float64, 4*dim)
	part := func(n int) []float64 { return backing[n*dim : (n+1)*dim : (n+1)*dim] }
	return &Descent{F: f, FirstStep: 0.3, patience: 10, X: part(0), Best: part(1), Scale: part(2), direction: part(3), free: free, last: dim, Bound: math.Inf(1)}
}

// Start evaluates at x and makes it the best.
func (d *Descent) Start() {
	copy(d.Best, d.X)
	d.Bound = d.evaluate()
	d.Theta = d.FirstStep
	clear(d.direction)
}

// Run takes at most rounds steps from the best point towards target, and ends early once the bound
// is at most stop, the steps have become tiny or ctx has ended.
func (d *Descent) Run(ctx context.Context, rounds int, target, stop float64) {
	stale := 0
	bound := d.Back()
	for range rounds {
		if d.Bound <= stop || d.Theta < lastStep || ctx.Err() != nil || !d.step(d.Theta*(bound-target)) {
			return
		}
		d.Rounds++
		bound = d.evaluate()
		stale++
		if bound < d.Bound {
			if bound < d.Bound-float64(progress*math.Abs(d.Bound)) {
				stale = 0
			}
			d.Bound = bound
			copy(d.Best, d.X)
		}
		if stale >= d.patience {
			d.Theta *= shrink
			stale = 0
			bound = d.Back()
		}
	}
}

// Back returns to the best point.
func (d *Descent) Back() float64 {
	copy(d.X, d.Best)
	return d.evaluate()
}

// step turns the direction towards the newest subgradient and goes length/|direction|^2 along it. It
// reports false where the direction vanishes.
func (d *Descent) step(length float64) bool {
	var norm float64
	for c, g := range d.F.gradient() {
		if c >= d.free && c < d.last && g > 0 && d.X[c] == 0 {
			g = 0
		}
		v := float64((1-deflection)*d.direction[c]) - float64(float64(deflection*d.Scale[c])*g)
		d.direction[c] = v
		norm += float64(v * v)
	}
	if norm < flat {
		return false
	}
	factor := length / norm
	for c, v := range d.direction {
		d.X[c] += float64(float64(factor*d.Scale[c]) * v)
		if c >= d.free && c < d.last && d.X[c] < 0 {
			d.X[c] = 0
		}
	}
	return true
}

// evaluate returns the bound at X, and that there is none where numbers leave the range of float64.
func (d *Descent) evaluate() float64 {
	if bound := d.F.Evaluate(d.X); !math.IsNaN(bound) {
		return bound
	}
	return math.Inf(1)
}
