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
// Every value that it returns is a bound by itself, so a descent may stop at any
// point: an inexact minimum costs quality, never correctness.
type Oracle interface {
	// evaluate returns the bound at x and leaves a subgradient in slope; the caller may read it
	// until the next evaluation.
	Evaluate(x []float64) float64
	gradient() []float64
}

// Descent is the state of the method. Component c of x moves in units of scale[c]; those from
// free to last stay at 0 or above.
// The step is taken in y = x/scale, where all components are of one size: a price per
// byte and a price per GPU differ by ten orders of magnitude, and the plain
// subgradient would move one of them only. The invariant between calls is that Bound =
// F(Best) is the least value met since Start.
type Descent struct {
	F       Oracle
	X, Best []float64
	Bound   float64 // at best
	Scale   []float64
	// The first free components may be negative, and those from last on.
	free, last int
	direction  []float64
	// direction is the deflected direction in units of y; Rounds counts evaluations by
	// Run.
	Rounds int64
	// FirstStep is the factor of the first steps, theta that of the next one; patience how many rounds
	// without improvement shrink it.
	FirstStep, Theta float64
	patience         int
}

// newDescent returns a descent at the origin, with scales that the caller has to fill
// in: a component of scale 0 never moves. Bound +Inf means that nothing was evaluated
// yet.
func newDescent(f Oracle, dim, free int) *Descent {
	backing := make([]float64, 4*dim)
	// The third index keeps an append to one part from running into the next.
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
// The method is a heuristic: a subgradient need not be a direction of descent, and
// without the true minimum target only stands in for it. So the bound of a single
// round may rise, and only the best point counts.
func (d *Descent) Run(ctx context.Context, rounds int, target, stop float64) {
	stale := 0
	bound := d.Back()
	// bound belongs to X, Bound to Best; the direction carries over from earlier calls of
	// Run.
	for range rounds {
		// Polyak's step in y, with target for the unknown minimum f*:
		//	y <- y + theta (f(y) - f*) / |v|^2 v
		if d.Bound <= stop || d.Theta < lastStep || ctx.Err() != nil || !d.step(d.Theta*(bound-target)) {
			return
		}
		d.Rounds++
		bound = d.evaluate()
		stale++
		// A round counts as stale unless it gains by more than progress: else a long tail of
		// tiny gains would keep theta where it is for ever.
		if bound < d.Bound {
			if bound < d.Bound-float64(progress*math.Abs(d.Bound)) {
				stale = 0
			}
			d.Bound = bound
			copy(d.Best, d.X)
		}
		// patience rounds without gain mean that the steps overshoot: the next ones are
		// shorter and start from the best point again, as the current one may be far off.
		if stale >= d.patience {
			d.Theta *= shrink
			stale = 0
			bound = d.Back()
		}
	}
}

// Back returns to the best point.
// The evaluation is repeated since the oracle must hold the subgradient of the point
// that the next step starts from.
func (d *Descent) Back() float64 {
	copy(d.X, d.Best)
	return d.evaluate()
}

// step turns the direction towards the newest subgradient and goes length/|direction|^2 along it. It
// reports false where the direction vanishes.
func (d *Descent) step(length float64) bool {
	var norm float64
	// v <- (1 - a) v - a scale g
	//
	// The old direction damps the zigzag between two subgradients of a kink.
	for c, g := range d.F.gradient() {
		if c >= d.free && c < d.last && g > 0 && d.X[c] == 0 {
			// The bound x >= 0 is active, and the step would only leave it to be projected back:
			// the component must not lengthen |v| either.
			g = 0
		}
		v := float64((1-deflection)*d.direction[c]) - float64(float64(deflection*d.Scale[c])*g)
		d.direction[c] = v
		norm += float64(v * v)
	}
	if norm < flat {
		return false
	}
	// x = scale y, so that the step in x is scaled twice: once in v, once here.
	factor := length / norm
	for c, v := range d.direction {
		d.X[c] += float64(float64(factor*d.Scale[c]) * v)
		if c >= d.free && c < d.last && d.X[c] < 0 {
			// Projection on x >= 0: a negative price on a constraint of the form <= proves
			// nothing.
			d.X[c] = 0
		}
	}
	return true
}

// evaluate returns the bound at X, and that there is none where numbers leave the range of float64.
// Demands and prices near the ends of the range make Inf - Inf; +Inf is a bound that
// holds whatever the instance is, and NaN would slip through every comparison.
func (d *Descent) evaluate() float64 {
	if bound := d.F.Evaluate(d.X); !math.IsNaN(bound) {
		return bound
	}
	return math.Inf(1)
}
