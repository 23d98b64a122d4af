// This file holds the cuts that a descent knows, and proposes the point near the best one that they promise
// most of, [Kiwiel90].

package lagrange

import (
	"math"
)

const (
	// mostNewton bounds the steps of Newton's method in a proposal, and inexact is how far from exact, in parts
	// of what it promises, a proposal may be.
	mostNewton, inexact = 10, 0.1
	// shortest is how exact a line search is, in parts of the way.
	shortest = 1.0 / 1024
)

// bundle is a model of the bound around a center. In units y = x/scale, in which all components are of one
// size, each of its cuts is nowhere above the bound:
//
//	bound(y) >= values_i + slopes_i (y - center)
type bundle struct {
	weights
	most   int         // cuts at most
	slopes [][]float64 // by cut; there may be more rows than cuts, whose memory waits for the next ones
	values []float64   // of each cut at the center
	least  []float64   // the least step of a component, 0 or less
	mean   []float64   // sum_i w_i slopes_i
	move   []float64   // the proposal less the center
	along  []float64   // by cut: scratch of products and hold
	loose  []float64   // scratch of add
	heavy  []int       // the cuts with weight: scratch of average
	// held are the components whose step is their least one; gram is over the others.
	held []bool
	// w0 and mean0 are where a line search begins.
	w0, mean0 []float64
}

// newBundle returns a bundle without cuts, for dim components and up to most cuts. 8 most (most + dim) bytes when it is full.
func newBundle(dim, most int) bundle {
	b := bundle{most: most, held: make([]bool, dim), least: make([]float64, dim), mean: make([]float64, dim), move: make([]float64, dim), loose: make([]float64, dim)}
	for range most {
		b.gram = append(b.gram, make([]float64, most))
	}
	return b
}

// clear forgets all cuts, but keeps their memory.
// Cuts are of one function in one set of units: whoever changes the choices of a node, or the scale,
// has to clear them.
func (b *bundle) clear() {
	b.values, b.w, b.size = b.values[:0], b.w[:0], 0
	clear(b.held)
}

// add takes up the cut of that value at the center, with slope_c = scale_c gradient_c. O(cuts x components).
// scale is that of all cuts that are there. The gradient is read at once and not kept.
func (b *bundle) add(value float64, scale, gradient []float64) {
	// A new cut has no weight: the next proposal says what it is worth.
	at := len(b.values)
	if at == b.most {
		at = b.merge()
		b.values[at], b.w[at] = value, 0
	} else {
		b.values, b.w = append(b.values, value), append(b.w, 0)
		if at == len(b.slopes) {
			b.slopes = append(b.slopes, make([]float64, len(b.held)))
		}
	}
	// Slopes are in units of y, and so independent of what a component is counted in.
	slope := b.slopes[at]
	var size float64
	for c, g := range gradient {
		slope[c] = float64(scale[c] * g)
		size += float64(slope[c] * slope[c])
		b.loose[c] = slope[c]
		if b.held[c] {
			b.loose[c] = 0
		}
	}
	b.size = max(b.size, size)
	// One row and one column of gram are new, over the components that are free to move.
	for i, sum := range b.products(b.loose) {
		b.gram[i][at], b.gram[at][i] = sum, sum
	}
	// Weights sum to 1 from the first cut on.
	if len(b.values) == 1 {
		b.w[0] = 1
	}
}

// merge makes room for a cut, and returns where: in place of the one without weight that is lowest at the
// center, or else of the two of least weight, which become their mean, so that the weighted mean of all
// cuts stays, without which a bundle may run in circles.
// There must be two cuts at least. O(cuts + components).
func (b *bundle) merge() int {
	last, next := -1, -1 // the least, and the one above it
	less := func(i, j int) bool {
		return j < 0 || b.w[i] < b.w[j] || b.w[i] == b.w[j] && b.values[i] < b.values[j]
	}
	for i := range b.values {
		if less(i, last) {
			last, next = i, last
		} else if less(i, next) {
			next = i
		}
	}
	// What has no weight is no part of the mean, and can go without a trace.
	if b.w[last] == 0 {
		return last
	}
	// The mean of two cuts is one again: a convex combination of two lower bounds is a lower bound.
	sum := b.w[last] + b.w[next]
	// Both get the part that their weights have of the sum.
	p, q := b.w[last]/sum, b.w[next]/sum
	b.w[next] = sum
	mix := func(x, y float64) float64 { return float64(p*x) + float64(q*y) }
	b.values[next] = mix(b.values[last], b.values[next])
	for c, v := range b.slopes[last] {
		b.slopes[next][c] = mix(v, b.slopes[next][c])
	}
	// gram of the mean follows from those of both, without the slopes: rows first, and the diagonal at last.
	own := mix(mix(b.gram[last][last], b.gram[last][next]), mix(b.gram[next][last], b.gram[next][next]))
	for i := range b.values {
		g := mix(b.gram[i][last], b.gram[i][next])
		b.gram[i][next], b.gram[next][i] = g, g
	}
	b.gram[next][next] = own
	return last
}

// shift moves the center along move: values are those at the new center then, and slopes stay.
// move is that of the last proposal, in units of y. O(cuts x components).
func (b *bundle) shift() {
	for i, along := range b.products(b.move) {
		b.values[i] += along
	}
}

// propose sets move to the step from the center that minimizes
//
//	max_i (values_i + slopes_i move) + |move|^2/(2t),   move_c >= least_c
//
// and returns that maximum, and how low it may be at most. Either is exact to a part of how far it is below
// center, or to tolerance.
//
// By duality the step is -t times a weighted mean of the slopes, cut off at least, with the weights that maximize
//
//	sum_i w_i values_i + sum_c (mean_c move_c + move_c^2/(2t))
//
// which is concave, and quadratic as long as the same components are held: Newton's method with a line search.
func (b *bundle) propose(center, tolerance float64) (model, lower float64) {
	// A proposal need not be exact: whatever it is, the evaluation there gives a valid bound and a new
	// cut.
	// Each step solves the quadratic for the components that are held now, and goes there as far as the function rises.
	b.average()
	for range mostNewton {
		b.holdBelow()
		b.relax()
		b.w0, b.mean0 = append(b.w0[:0], b.w...), append(b.mean0[:0], b.mean...)
		b.solve(tolerance)
		b.average()
		b.search()
		// model is the maximum of the cuts at the proposal, and lower their weighted mean, which is the dual side: between
		// both lies what the exact proposal promises.
		model, lower = math.Inf(-1), 0
		for i, along := range b.products(b.move) {
			value := b.values[i] + along
			model = max(model, value)
			lower += float64(b.w[i] * value)
		}
		if model-lower <= max(tolerance, inexact*(center-model)) {
			break
		}
	}
	return model, lower
}

// average computes mean, the weighted slope of all cuts. O(cuts with weight x components).
func (b *bundle) average() {
	mean := b.mean
	clear(mean)
	b.heavy = b.heavy[:0]
	for i, w := range b.w {
		if w > 0 {
			b.heavy = append(b.heavy, i)
		}
	}
	// Four cuts are added at a time, in their order, so that a sum is written once for them.
	heavy := b.heavy
	for ; len(heavy) >= 4; heavy = heavy[4:] {
		i0, i1, i2, i3 := heavy[0], heavy[1], heavy[2], heavy[3]
		w0, w1, w2, w3 := b.w[i0], b.w[i1], b.w[i2], b.w[i3]
		s0, s1, s2, s3 := b.slopes[i0][:len(mean)], b.slopes[i1][:len(mean)], b.slopes[i2][:len(mean)], b.slopes[i3][:len(mean)]
		for c, sum := range mean {
			sum += float64(w0 * s0[c])
			sum += float64(w1 * s1[c])
			sum += float64(w2 * s2[c])
			mean[c] = sum + float64(w3*s3[c])
		}
	}
	for _, i := range heavy {
		w, slope := b.w[i], b.slopes[i][:len(mean)]
		for c, sum := range mean {
			mean[c] = sum + float64(w*slope[c])
		}
	}
}

// holdBelow holds those components that mean would take too far, and lets go of those that it no longer does: prices may not
// be negative.
// Each change costs O(cuts^2) in gram; from one proposal to the next there are few.
func (b *bundle) holdBelow() {
	for c, g := range b.mean {
		if out := -float64(b.t*g) < b.least[c]; out != b.held[c] {
			b.hold(c, out)
		}
	}
}

// relax sets linear to what each cut says where just the held components move.
// Components that are not held have no part in it: solve has them in gram.
func (b *bundle) relax() {
	b.linear = append(b.linear[:0], b.values...)
	for c, held := range b.held {
		if held && b.least[c] != 0 {
			for i := range b.linear {
				b.linear[i] += float64(b.slopes[i][c] * b.least[c])
			}
		}
	}
}

// search goes from w0 towards w as far as the concave function rises, and leaves mean and move there. Mostly
// that is all the way.
func (b *bundle) search() {
	var values float64 // what the values alone rise by
	for i, w := range b.w {
		values += float64((w - b.w0[i]) * b.values[i])
	}
	// The derivative falls along the way, so that a bisection finds where it is 0.
	part := 1.0
	if b.rise(values, part) < 0 {
		part = 0
		for half := 0.5; half >= shortest; half /= 2 {
			if b.rise(values, part+half) >= 0 {
				part += half
			}
		}
	}
	// Weights and slope are linear on the way, the step is cut off at least again.
	for i, w := range b.w {
		b.w[i] = b.w0[i] + float64(part*(w-b.w0[i]))
	}
	for c, g := range b.mean {
		b.mean[c] = b.mean0[c] + float64(part*(g-b.mean0[c]))
		b.move[c] = max(b.least[c], -float64(b.t*b.mean[c]))
	}
}

// rise returns the derivative of the concave function at that part of the way from w0 to w, of which values is the part that is the
// same all the way. O(components).
func (b *bundle) rise(values, part float64) float64 {
	rise, mean0, least, t := values, b.mean0[:len(b.mean)], b.least[:len(b.mean)], b.t
	for c, g := range b.mean {
		way := g - mean0[c]
		move := -float64(t * (mean0[c] + float64(part*way)))
		if move < least[c] {
			move = least[c]
		}
		rise += float64(way * move)
	}
	return rise
}

// hold says whether component c is held, and so not part of gram. O(cuts^2), only for cuts that have a slope in c.
func (b *bundle) hold(c int, held bool) {
	b.held[c] = held
	sign := 1.0
	if held {
		sign = -1
	}
	b.along = b.along[:0]
	for _, slope := range b.slopes[:len(b.values)] {
		b.along = append(b.along, slope[c])
	}
	for i, v := range b.along {
		f := float64(sign * v)
		if f == 0 {
			continue
		}
		row := b.gram[i][:len(b.along)]
		for j, v := range b.along {
			row[j] += float64(f * v)
		}
	}
}

// products returns the inner products of all slopes with v, until the next call. Four sums are made at a time, since each addition
// waits for the one before it. Each product is rounded by itself, here and elsewhere in this package, or a machine that fuses it
// with the sum would find other prices.
func (b *bundle) products(v []float64) []float64 {
	slopes := b.slopes[:len(b.values)]
	b.along = b.along[:0]
	for ; len(slopes) >= 4; slopes = slopes[4:] {
		s0, s1, s2, s3 := slopes[0][:len(v)], slopes[1][:len(v)], slopes[2][:len(v)], slopes[3][:len(v)]
		var sum0, sum1, sum2, sum3 float64
		for c, x := range v {
			sum0 += float64(s0[c] * x)
			sum1 += float64(s1[c] * x)
			sum2 += float64(s2[c] * x)
			sum3 += float64(s3[c] * x)
		}
		b.along = append(b.along, sum0, sum1, sum2, sum3)
	}
	for _, slope := range slopes {
		b.along = append(b.along, dot(slope, v))
	}
	return b.along
}

// dot returns the inner product of two vectors.
func dot(a, b []float64) float64 {
	var sum float64
	b = b[:len(a)]
	for c, v := range a {
		sum += float64(v * b[c])
	}
	return sum
}
