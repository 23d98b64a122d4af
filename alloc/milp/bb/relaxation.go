// This file implements the linear relaxation in computational form: rows as equations with slacks.

package bb

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
)

// relaxation is the program without integrality, in the form that the simplex methods work on:
//
//	minimise  sum_j cost[j] x[j]   subject to   A x + s = 0,   lower <= (x, s) <= upper
//
// Variables 0..n-1 are the model's, n..n+m-1 the slacks of its rows: slack i is minus the row's
// activity, so that its bounds are the row's, negated. Rows and the objective are scaled by powers
// of two, which is exact.
type relaxation struct {
	m, n         int
	cost         []float64 // n+m, of minimisation, scaled
	costScale    float64   // cost = costScale * the model's, negated for a maximisation
	lower, upper []float64 // n+m
	// The scaled matrix A by rows and by columns.
	rowStart []int
	rowCols  []int32
	rowCoefs []float64
	columns  milp.Columns
}

func newRelaxation(model *milp.Model) *relaxation {
	m, n := model.Rows(), model.Variables()
	r := &relaxation{
		m: m, n: n,
		cost: make([]float64, n+m), lower: make([]float64, n+m), upper: make([]float64, n+m),
		rowStart: make([]int, 1, m+1),
		rowCols:  make([]int32, 0, model.Nonzeros()), rowCoefs: make([]float64, 0, model.Nonzeros()),
		columns: model.ByColumns(),
	}
	// Scaling rows makes one tolerance fit rows in bytes and rows in pieces. Columns are not
	// scaled: integers stay integers.
	scales := make([]float64, m)
	for i := range m {
		row := model.Row(i)
		scales[i] = scaleOf(row.Coefs)
		for k, j := range row.Columns {
			r.rowCols = append(r.rowCols, j)
			r.rowCoefs = append(r.rowCoefs, row.Coefs[k]*scales[i])
		}
		r.rowStart = append(r.rowStart, len(r.rowCols))
		// s_i = -(A x)_i, so the bounds change sides and signs.
		r.lower[n+i], r.upper[n+i] = -row.Upper*scales[i], -row.Lower*scales[i]
	}
	// Both forms of the matrix hold the same rounded numbers, as powers of two scale without
	// rounding.
	for k, i := range r.columns.Rows {
		r.columns.Coefs[k] *= scales[i]
	}
	r.setCosts(model)
	return r
}

// setCosts copies bounds and costs of the model's variables, integer bounds rounded inwards.
func (r *relaxation) setCosts(model *milp.Model) {
	for j := range r.n {
		v := model.Variable(j)
		r.cost[j], r.lower[j], r.upper[j] = v.Cost, v.Lower, v.Upper
		if v.Integer {
			// A bound of 2.9999999999 means 3. Infinite bounds stay infinite.
			r.lower[j], r.upper[j] = math.Ceil(v.Lower-roundTol), math.Floor(v.Upper+roundTol)
		}
	}
	r.costScale = scaleOf(r.cost[:r.n])
	// The simplex methods minimise. The sign goes into costScale, so that one division turns
	// objectives back.
	if model.Sense() == milp.Maximize {
		r.costScale = -r.costScale
	}
	for j := range r.n {
		r.cost[j] *= r.costScale
	}
}

// scaleOf returns the power of two that brings the largest number to a size in [1/2, 1).
func scaleOf(numbers []float64) float64 {
	largest := 0.0
	for _, x := range numbers {
		largest = max(largest, math.Abs(x))
	}
	// A row without terms has no size; the scale 1 keeps its bounds as they are.
	if largest == 0 {
		return 1
	}
	// largest = fraction * 2^exponent with the fraction in [1/2, 1).
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, -exponent)
}

// addRow adds factor times row i of A to dst, which has n entries.
func (r *relaxation) addRow(dst []float64, i int, factor float64) {
	for k := r.rowStart[i]; k < r.rowStart[i+1]; k++ {
		dst[r.rowCols[k]] += float64(factor * r.rowCoefs[k])
	}
}

// reducedCosts sets d = cost - y [A I].
func (r *relaxation) reducedCosts(d, cost, y []float64) {
	copy(d, cost)
	for i, multiplier := range y {
		if multiplier != 0 {
			r.addRow(d, i, -multiplier)
			// The column of slack i is the i-th unit vector.
			d[r.n+i] -= multiplier
		}
	}
}

// leastValue returns the least of sum_j d[j] x[j] over the box [lower, upper]. Where the relaxation
// has rows A x + s = 0 and d = cost - y [A I], that is a lower bound on its objective for
// every y: the Lagrangian bound. An entry within noise of 0 counts as 0 where its bound is
// infinite.
func (r *relaxation) leastValue(d []float64, noise float64) float64 {
	// Each term takes the bound that makes it least: the lower one for a positive d[j], the upper
	// one for a negative.
	sum := 0.0
	for j, dj := range d {
		switch bound := r.lower[j]; {
		case dj < 0:
			bound = r.upper[j]
			fallthrough
		case dj > 0:
			if !math.IsInf(bound, 0) {
				sum += float64(dj * bound)
			} else if math.Abs(dj) > noise {
				return math.Inf(-1)
			}
		}
	}
	return sum
}
