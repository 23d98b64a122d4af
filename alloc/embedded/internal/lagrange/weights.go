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
// from the weights that are there. O(cuts^2) where a cut joins the set of positive weights, O(cuts^3) where one leaves it, of which
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
	// factor is the lower triangle of the system for the cuts in, less the first, row r from r (r+1)/2 on; its first rows are those
	// of the cuts that are in now. step is its solution.
	factor, step []float64
	rows         int
}

// solve changes w until no cut without weight gains more than tolerance over those with weight, or until it
// has tried three times as many sets as there are cuts: any weights of sum 1 make a valid cut.
// in has one cut at least, as weights sum to 1 from the first one on, unless numbers have left the range of float64: then w stays.
func (q *weights) solve(tolerance float64) {
	q.in, q.rows = q.in[:0], 0
	// The cuts with weight are where the last call ended: the model changes by a cut a round, so that most of
	// the set is right at once.
	for i, w := range q.w {
		if w > 0 {
			q.in = append(q.in, i)
		}
	}
	if len(q.in) == 0 {
		return
	}
	q.differentiate()
	// The limit on the number of sets is a safeguard against cycling by rounding, which an active-set method
	// allows.
	for range 3*len(q.w) + 3 {
		q.factorize()
		q.newton()
		// Where a cut has left, the others are not at their best yet: the set is solved again before one may
		// enter.
		left := q.advance()
		q.differentiate()
		if left {
			continue
		}
		// No cut enters: by the optimality conditions, gains_i <= level for all i, these weights are the
		// maximum.
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
	gains, rows := q.gains, q.gram[:len(q.linear)]
	// Cuts outside in have weight 0 and need no term. O(cuts x in).
	// At the maximum all cuts with weight have one gain, the level that the others are held against.
	// Four rows are made at a time, as in products.
	for ; len(gains) >= 4; gains, rows = gains[4:], rows[4:] {
		r0, r1, r2, r3 := rows[0], rows[1], rows[2], rows[3]
		g0, g1, g2, g3 := gains[0], gains[1], gains[2], gains[3]
		for _, j := range q.in {
			w := q.w[j]
			g0 -= float64(float64(q.t*r0[j]) * w)
			g1 -= float64(float64(q.t*r1[j]) * w)
			g2 -= float64(float64(q.t*r2[j]) * w)
			g3 -= float64(float64(q.t*r3[j]) * w)
		}
		gains[0], gains[1], gains[2], gains[3] = g0, g1, g2, g3
	}
	for i, row := range rows {
		for _, j := range q.in {
			gains[i] -= float64(float64(q.t*row[j]) * q.w[j])
		}
	}
}

// factorize computes the Cholesky factor of t times the differences of the cuts in. Weights sum to 1, so that all
// but the first may be chosen.
// Rows from the first cut on that has left are made anew, O(in^3): sets are small, and an update would let rounding grow from one
// to the next.
func (q *weights) factorize() {
	for ; q.rows < len(q.in)-1; q.rows++ {
		r := q.rows
		above := q.factor[:r*(r+1)/2]
		q.factor = slices.Grow(above, r+1)[:len(above)+r+1]
		row := q.factor[len(above):]
		// (g_i - g_1) (g_j - g_1), of the slopes less that of the first one in, from the four inner products that gram holds: no slope
		// is read, whatever its length.
		first, own := q.gram[q.in[0]], q.gram[q.in[r+1]]
		less, plus := own[q.in[0]], first[q.in[0]]
		for c, j := range q.in[1 : r+2] {
			row[c] = float64(q.t * (own[j] - less - first[j] + plus))
		}
		// l_rc = (a_rc - sum_{k<c} l_rk l_ck) / l_cc: four l_rk at a time are taken from all that need them once they are known,
		// so that none waits for the one before.
		last := row[r]
		for first := 0; first < r; first += 4 {
			next := min(first+4, r)
			for k := first; k < next; k++ {
				v := row[k] / q.rowOf(k)[k]
				row[k] = v
				last -= float64(v * v)
				for c := k + 1; c < next; c++ {
					row[c] -= float64(v * q.rowOf(c)[k])
				}
			}
			if next == r {
				break
			}
			v0, v1, v2, v3 := row[first], row[first+1], row[first+2], row[first+3]
			for c, at := next, next*(next+1)/2+first; c < r; c++ {
				other := above[at : at+4 : at+4]
				v := row[c] - float64(v0*other[0])
				v -= float64(v1 * other[1])
				v -= float64(v2 * other[2])
				row[c] = v - float64(v3*other[3])
				at += c + 1
			}
		}
		// max(last, 0) repairs a difference that rounding made negative; the smallest number keeps the
		// root positive where all slopes are 0.
		row[r] = math.Sqrt(max(last, 0) + float64(float64(ridge*q.t)*q.size) + math.SmallestNonzeroFloat32)
	}
}

// rowOf returns row r of factor.
func (q *weights) rowOf(r int) []float64 { return q.factor[r*(r+1)/2 : (r+1)*(r+2)/2] }

// newton sets step to the way to the best weights of the cuts in, of any sign.
// It may lead to negative weights: advance stops before.
func (q *weights) newton() {
	n := len(q.in) - 1
	q.step = q.step[:0]
	// The right side: how much more a cut gains than the first one.
	for _, i := range q.in[1:] {
		q.step = append(q.step, q.gains[i]-q.gains[q.in[0]])
	}
	// Forward: L y = right side.
	for r, v := range q.step {
		row := q.rowOf(r)
		for k, f := range q.step[:r] {
			v -= float64(row[k] * f)
		}
		q.step[r] = v / row[r]
	}
	var sum float64
	// Backward: L^T step = y.
	for r := n - 1; r >= 0; r-- {
		v := q.step[r]
		for k := r + 1; k < n; k++ {
			v -= float64(q.factor[k*(k+1)/2+r] * q.step[k])
		}
		q.step[r] = v / q.rowOf(r)[r]
		sum += q.step[r]
	}
	// The first cut's weight balances the others, so that the sum stays 1.
	q.step = slices.Insert(q.step, 0, -sum)
}

// advance goes by step as far as no weight becomes negative. Where one would, that cut leaves, and advance reports
// true.
func (q *weights) advance() bool {
	// part = 1 is the whole way; the first weight that reaches 0 on it ends it earlier.
	part, leaves := 1.0, -1
	for r, i := range q.in {
		if to := q.w[i] + q.step[r]; to < 0 {
			if s := -q.w[i] / q.step[r]; s < part {
				part, leaves = s, r
			}
		}
	}
	for r, i := range q.in {
		// Rounding may leave a weight a hair below 0, and a negative weight is no valid cut.
		q.w[i] = max(0, q.w[i]+float64(part*q.step[r]))
	}
	if leaves < 0 {
		return false
	}
	// Exactly 0, whatever rounding left: w > 0 is what tells the cuts in.
	q.w[q.in[leaves]] = 0
	q.in = slices.Delete(q.in, leaves, leaves+1)
	// Rows depend on those above them, and all on the first cut.
	q.rows = min(q.rows, max(0, leaves-1))
	return true
}

// entering returns the cut outside in that gains most, if that is by more than tolerance more than those in; -1 for
// none.
// The margin is what keeps the search finite in practice: a gain of rounding size would let cuts in and
// out for ever.
func (q *weights) entering(tolerance float64) int {
	// level = sum_i w_i gains_i, the common gain of the cuts in at their maximum.
	var level float64
	for _, i := range q.in {
		level += float64(q.w[i] * q.gains[i])
	}
	enters := -1
	for i, gain := range q.gains {
		// The largest gain enters; ties go to the lower index, the same in every run.
		if gain > level+tolerance && !slices.Contains(q.in, i) && (enters < 0 || gain > q.gains[enters]) {
			enters = i
		}
	}
	return enters
}
