// This file minimizes a bound over its multipliers: a proximal bundle method, [Kiwiel90].

package lagrange

import (
	"context"
	"math"
)

const (
	// serious is the part of what the cuts promise that a point must bring to become the center, and good the
	// part from which a longer step may be tried.
	serious, good = 0.01, 0.5
	// patience is how many rounds in a row may bring too little before the steps get shorter.
	patience = 10
	// longest is the most that a step becomes longer or shorter by after a round.
	longest = 10
	// firstStep is the first step in parts of the way to the target.
	firstStep = 0.3
	// negligible is what the cuts must promise, in parts of the bound, for a round to be worth its while, and
	// quiet how many times in a row they may promise less, with other steps.
	negligible, quiet = 1e-9, 4
	// flat is the square of the length below which a slope is zero.
	flat = 1e-18
)

// Oracle is a convex function that evaluates to a bound, and a subgradient of it.
// Every value that it returns is a bound by itself, so a descent may stop at any
// point: an inexact minimum costs quality, never correctness.
// It is asked at finite points only, whose components from free to last are not negative.
type Oracle interface {
	// Evaluate returns the bound at x and leaves a subgradient in slope; the caller may read it
	// until the next evaluation.
	Evaluate(x []float64) float64
	gradient() []float64
}

// Descent is the state of the method. Every evaluation gives a cut, a linear function that is nowhere above the
// bound; each round goes from the best point, the center, to where the cuts promise most, less the price of the
// way there, and either moves the center or learns a cut that promises less.
//
// Component c of x moves in units of Scale[c], all of which should be of one size there: a price per byte and a
// price per GPU differ by ten orders of magnitude. Those from free to last stay at 0 or above. The invariant
// between calls is Bound = F(Best). Bound only falls, so that more rounds never give a worse one.
//
// It takes 8 (mostCuts + 10) bytes for each component. A round takes O(mostCuts components + mostCuts^3) beside the
// evaluation.
type Descent struct {
	F       Oracle
	X, Best []float64
	Bound   float64 // at Best
	Scale   []float64
	// The first free components may be negative, and those from last on.
	free, last int
	// Rounds counts evaluations by Run.
	Rounds int64
	bundle bundle
	// streak counts the rounds in a row that moved the center, and those that did not from 0 down; still is how
	// many in a row promised next to nothing.
	streak, still int
}

// newDescent returns a descent at the origin, with scales that the caller has to fill
// in: a component of scale 0 never moves. Bound +Inf means that nothing was evaluated
// yet.
func newDescent(f Oracle, dim, free, cuts int) *Descent {
	backing := make([]float64, 3*dim)
	// The third index keeps an append to one part from running into the next.
	part := func(n int) []float64 { return backing[n*dim : (n+1)*dim : (n+1)*dim] }
	return &Descent{F: f, X: part(0), Best: part(1), Scale: part(2), bundle: newBundle(dim, cuts), free: free, last: dim, Bound: math.Inf(1)}
}

// Start evaluates at X and makes it the best. Cuts are forgotten: the choices of a node, or the scales, may be
// others than before.
func (d *Descent) Start() {
	copy(d.Best, d.X)
	d.Bound = d.evaluate()
	d.bundle.clear()
	d.streak, d.still = 0, 0
}

// Run takes at most rounds steps from the best point, and ends early once the bound is at most stop, no step
// promises more, or ctx has ended. After Start the first step goes in the direction of target.
// It goes on where the last Run ended: many short ones are as good as a long one.
// A round that changes only the length of the step, without an evaluation, counts as well.
func (d *Descent) Run(ctx context.Context, rounds int, target, stop float64) {
	// Cuts of an earlier Run are kept, and with them the step: begin is for the first Run after Start alone.
	if ctx.Err() != nil || len(d.bundle.values) == 0 && !d.begin(target) {
		return
	}
	for range rounds {
		// stop is the cut of a tree: below it the node is ruled out, whatever more rounds would prove.
		if d.Bound <= stop || d.still > quiet || ctx.Err() != nil {
			return
		}
		d.round()
	}
}

// begin takes the first cut, and the length of the first step from how far target is. It reports false where
// there is nothing to descend.
func (d *Descent) begin(target float64) bool {
	b := &d.bundle
	// An infinite bound has no subgradient; +Inf says that numbers left the range, -Inf that there is no
	// solution.
	if d.Back(); math.IsInf(d.Bound, 0) || d.Bound <= target {
		return false
	}
	b.add(d.Bound, d.Scale, d.F.gradient())
	// The slope is 0 at a minimum. The upper limit keeps sums of squares in range, and a NaN fails both
	// comparisons.
	if !(b.size > flat && b.size < math.MaxFloat32) {
		b.clear()
		return false
	}
	// The minimum of v - t |g|^2 over t is attained where the cut promises target.
	b.t = firstStep * (d.Bound - target) / b.size
	return true
}

// round proposes a point and evaluates there.
func (d *Descent) round() {
	b, tiny := &d.bundle, negligible*math.Abs(d.Bound)
	d.limit()
	// model is what the cuts promise at the proposal, lower what they promise anywhere along it: both lie at
	// or below Bound.
	model, lower := b.propose(d.Bound, tiny)
	gain := d.Bound - model
	if !(gain > tiny) {
		// Either there is nothing to gain nearby, or steps are so long that the proposal is far from exact.
		// The step is too long if lower is far below: the cuts are then no picture of the bound there.
		// Otherwise it is too short to see a gain.
		if d.still++; d.Bound-lower > longest*tiny {
			b.t /= longest
		} else {
			b.t *= longest
		}
		return
	}
	d.still = 0
	for c, step := range b.move {
		// x_c = best_c + scale_c move_c. Rounding may lead a hair below 0, where a multiplier of an inequality
		// makes the bound invalid: it is clamped.
		d.X[c] = d.Best[c] + float64(d.Scale[c]*step)
		if c >= d.free && c < d.last {
			d.X[c] = max(0, d.X[c])
		}
	}
	d.Rounds++
	switch value := d.evaluate(); {
	// The point left the range in which there is a bound: nothing can be learned there but that the step is
	// too long.
	case math.IsInf(value, 1):
		b.t /= longest
	// A serious step, [Kiwiel90]: the bound has fallen by at least a part of what was promised.
	case value <= d.Bound-float64(serious*gain):
		d.accept(value, gain)
	default:
		// A null step: the center stays, and the cut at X corrects the model for the next round.
		d.learn(value, gain)
	}
}

// limit sets how far down each component may go.
// It is asked for before every proposal, since the distances to 0 change with the center.
func (d *Descent) limit() {
	for c, least := range d.bundle.least {
		if d.Scale[c] > 0 && c >= d.free && c < d.last {
			// Moves are in units of Scale, so that x >= 0 means move >= -best / scale.
			least = -d.Best[c] / d.Scale[c]
		} else {
			least = math.Inf(-1)
		}
		d.bundle.least[c] = least
	}
}

// curvature returns by what 1/t is wrong if the bound is quadratic along the last step, [Kiwiel90] §3.
func (d *Descent) curvature(value, gain float64) float64 {
	// For a bound that is quadratic along the step the promise is kept by half at the best t: the result is
	// then 1.
	return 2 * (1 - (d.Bound-value)/gain)
}

// accept makes X the center. Steps get longer where the bound falls nearly as promised, or a second time in a row.
// F was evaluated at X last, so that its gradient is that of X; learn relies on that too.
func (d *Descent) accept(value, gain float64) {
	b := &d.bundle
	// The cuts are re-centered before the new one enters: their values are those at the center.
	b.shift()
	b.add(value, d.Scale, d.F.gradient())
	if d.streak = max(1, d.streak+1); d.streak > 1 {
		factor := 0.5
		if value <= d.Bound-float64(good*gain) {
			// factor is between 1/longest and 1: a step never gets shorter after a success.
			factor = min(1, max(d.curvature(value, gain), 1.0/longest))
		}
		b.t /= factor
		d.streak = 0
	}
	copy(d.Best, d.X)
	d.Bound = value
}

// learn adds the cut at X, and stays. Steps get shorter where for long they have led to where the cut says little
// about the center.
func (d *Descent) learn(value, gain float64) {
	b, gradient := &d.bundle, d.F.gradient()
	for c, step := range b.move {
		// The cut's value at the center = F(X) - g (X - center), in scaled components.
		value -= float64(float64(d.Scale[c]*gradient[c]) * step)
	}
	b.add(value, d.Scale, gradient)
	// A cut far below the center says nothing about its neighbourhood; in between patience waits for others.
	if d.streak = min(0, d.streak) - 1; d.streak < -patience && d.Bound-value > gain {
		b.t /= 2
		d.streak = 0
	}
}

// Back returns to the best point.
// The evaluation is repeated since the oracle must hold the subgradient of the point
// that the next step starts from.
// It costs one evaluation. Callers use it as well to have the counts and scores that belong to Best.
func (d *Descent) Back() float64 {
	copy(d.X, d.Best)
	return d.evaluate()
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
