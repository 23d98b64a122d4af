// This file weighs cuts: a concave quadratic over the simplex, maximized by an active-set method, [Kiwiel86].

package lagrange

import (
	"math"
	"slices"
)

// ridge is added to the diagonal of a system in parts of the longest slope, so that cuts that nearly repeat
// others do not make it singular.
const ridge = 1e-10

// weights maximizes, over weights w >= 0 that sum to 1,
//
//	sum_i linear_i w_i - t/2 sum_ij gram_ij w_i w_j
//
// from the weights that are there. O(cuts^3) for each change of the set of positive weights, of which
// there are hardly more than a few from one call to the next.
type weights struct {
	w, linear []float64
	gram      [][]float64 // symmetric; there may be more rows than cuts
	t         float64     // above 0
	// size is the square of the longest slope, which ridge is a part of.
	size float64
	// in lists the cuts that may have weight, and gains is what each cut would add to the maximum at the margin.
	in    []int
	gains []float64
	// factor is the lower triangle of the system for the cuts in, less the first, and step its solution.
	factor, step []float64
}

// solve changes w until no cut without weight gains more than tolerance over those with weight, or until it
// has tried three times as many sets as there are cuts: any weights of sum 1 make a valid cut.
func (q *weights) solve(tolerance float64) {
	q.in = q.in[:0]
	for i, w := range q.w {
		if w > 0 {
			q.in = append(q.in, i)
		}
	}
	q.differentiate()
	for range 3*len(q.w) + 3 {
		q.factorize()
		q.newton()
		left := q.advance()
		q.differentiate()
		if left {
			continue
		}
		enters := q.entering(tolerance)
		if enters < 0 {
			return
		}
		q.in = append(q.in, enters)
	}
}

// differentiate computes gains: linear - t gram w.
func (q *weights) differentiate() {
	q.gains = append(q.gains[:0], q.linear...)
	for i := range q.gains {
		for _, j := range q.in {
			q.gains[i] -= float64(float64(q.t*q.gram[i][j]) * q.w[j])
		}
	}
}

// difference returns the inner product of the slopes of two cuts in, each less that of the first one.
func (q *weights) difference(r, c int) float64 {
	i, j, first := q.in[r], q.in[c], q.in[0]
	return q.gram[i][j] - q.gram[i][first] - q.gram[j][first] + q.gram[first][first]
}

// factorize computes the Cholesky factor of t times the differences of the cuts in. Weights sum to 1, so that all
// but the first may be chosen.
func (q *weights) factorize() {
	n := len(q.in) - 1
	q.factor = slices.Grow(q.factor[:0], n*n)[:n*n]
	for r := range n {
		row := q.factor[r*n : r*n+r+1]
		for c := range row {
			v := float64(q.t * q.difference(r+1, c+1))
			for k, f := range q.factor[c*n : c*n+c] {
				v -= float64(row[k] * f)
			}
			if c < r {
				row[c] = v / q.factor[c*n+c]
			} else {
				row[r] = math.Sqrt(math.Max(v, 0) + float64(float64(ridge*q.t)*q.size) + math.SmallestNonzeroFloat32)
			}
		}
	}
}

// newton sets step to the way to the best weights of the cuts in, of any sign.
func (q *weights) newton() {
	n := len(q.in) - 1
	q.step = q.step[:0]
	for _, i := range q.in[1:] {
		q.step = append(q.step, q.gains[i]-q.gains[q.in[0]])
	}
	for r := range q.step {
		for k := range r {
			q.step[r] -= float64(q.factor[r*n+k] * q.step[k])
		}
		q.step[r] /= q.factor[r*n+r]
	}
	var sum float64
	for r := n - 1; r >= 0; r-- {
		for k := r + 1; k < n; k++ {
			q.step[r] -= float64(q.factor[k*n+r] * q.step[k])
		}
		q.step[r] /= q.factor[r*n+r]
		sum += q.step[r]
	}
	q.step = slices.Insert(q.step, 0, -sum)
}

// advance goes by step as far as no weight becomes negative. Where one would, that cut leaves, and advance reports
// true.
func (q *weights) advance() bool {
	part, leaves := 1.0, -1
	for r, i := range q.in {
		if to := q.w[i] + q.step[r]; to < 0 {
			if s := -q.w[i] / q.step[r]; s < part {
				part, leaves = s, r
			}
		}
	}
	for r, i := range q.in {
		q.w[i] = math.Max(0, q.w[i]+float64(part*q.step[r]))
	}
	if leaves < 0 {
		return false
	}
	q.w[q.in[leaves]] = 0
	q.in = slices.Delete(q.in, leaves, leaves+1)
	return true
}

// entering returns the cut outside in that gains most, if that is by more than tolerance more than those in; -1 for
// none.
func (q *weights) entering(tolerance float64) int {
	var level float64
	for _, i := range q.in {
		level += float64(q.w[i] * q.gains[i])
	}
	enters := -1
	for i, gain := range q.gains {
		if gain > level+tolerance && !slices.Contains(q.in, i) && (enters < 0 || gain > q.gains[enters]) {
			enters = i
		}
	}
	return enters
}
