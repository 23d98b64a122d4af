// This file implements the state that the dual and the primal simplex method share: a basis with
// its explicit inverse, values and reduced costs.

package bb

import (
	"math"
	"slices"
)

const (
	// primalTol is what a basic variable may miss its bound by, relative to 1 + the bound's size.
	primalTol = 1e-9
	// dualTol is the wrong sign that a reduced cost may have; costs are scaled to below 1.
	dualTol = 1e-9
	// pivotTol is the least size of a pivot; smaller ones would spoil the inverse.
	pivotTol = 1e-7
	// dropTol is the size below which an entry of a computed row is taken for rounding.
	dropTol = 1e-13
	// driftTol is the relative difference of a pivot's two computations, by row and by column, from
	// which the inverse is made afresh.
	driftTol = 1e-7
	// roundTol is how far beyond a whole number a bound of an integer variable may lie and still
	// include it.
	roundTol = 1e-9
	// refactorEvery is the number of pivots after which the inverse is made afresh.
	refactorEvery = 100
	// stallLimit is the number of pivots without progress after which costs are perturbed, or the
	// smallest index decides.
	stallLimit = 60
	// perturbation is the size of the change of a cost that ends a stall.
	perturbation = 1e-6
	// boundEvery is the number of pivots between two looks at the Lagrangian bound.
	boundEvery = 4
	// stopEvery is the number of pivots between two questions whether to stop.
	stopEvery = 16
)

// outcome is how a simplex run ended.
type outcome int8

const (
	optimal    outcome = iota
	infeasible         // proven by a row of the inverse
	unbounded          // proven by a ray
	cutoff             // the Lagrangian bound passed the limit
	stopped            // the caller asked to
	trouble            // numerical: no claim
)

// simplex is a relaxation with a basis. The zero values of its slices are an identity basis of the
// slacks; see newSimplex.
type simplex struct {
	*relaxation
	work    []float64 // the costs in use: cost, shifted or perturbed for a while
	shifted bool      // work differs from cost
	x, d    []float64 // n+m: values; reduced costs of work
	basis   []int32   // row -> the variable basic there
	place   []int32   // variable -> its row, or -1
	inverse []float64 // m*m by rows: row r of the basis inverse
	norms   []float64 // squared length of each of its rows: exact dual steepest edge weights
	pivots  int       // since the inverse was made
	total   int       // pivots of all time
	stop    func() bool

	// tight lists the rows whose slack is not basic, ascending: the columns of the others in the inverse are unit vectors.
	tight []int32

	row    []float64 // n+m: scratch, a row of B^-1 [A I]
	column []float64 // m: scratch, a column of it
	y      []float64 // m: scratch, multipliers
}

func newSimplex(r *relaxation, stop func() bool) *simplex {
	m, all := r.m, r.n+r.m
	s := &simplex{
		relaxation: r, stop: stop,
		work: append([]float64(nil), r.cost...),
		x:    make([]float64, all), d: append([]float64(nil), r.cost...),
		basis: make([]int32, m), place: make([]int32, all),
		inverse: make([]float64, m*m), norms: make([]float64, m),
		row: make([]float64, all), column: make([]float64, m), y: make([]float64, m),
	}
	// The slacks are the first basis: B = I needs no factorisation and is always there to fall
	// back on.
	for j := range s.place {
		s.place[j] = -1
	}
	for i := range m {
		s.basis[i], s.place[r.n+i] = int32(r.n+i), int32(i)
		s.inverse[i*m+i], s.norms[i] = 1, 1
	}
	return s
}

// bytesFor returns the memory of a simplex of that size: the inverse and the vectors.
func bytesFor(m, n, nonzeros int) float64 {
	// 8 bytes for each entry of the inverse; ten vectors of 8; the matrix by rows and by columns
	// at 12 bytes an entry each.
	return float64(8*float64(m)*float64(m)) + float64(80*float64(m+n)) + float64(24*float64(nonzeros))
}

func (s *simplex) inverseRow(r int) []float64 { return s.inverse[r*s.m : (r+1)*s.m] }

// priceRow sets s.row to row r of B^-1 [A I].
func (s *simplex) priceRow(r int) {
	// The part of the slacks is the row of the inverse itself and is overwritten.
	clear(s.row[:s.n])
	for i, factor := range s.inverseRow(r) {
		s.row[s.n+i] = factor
		if math.Abs(factor) > dropTol {
			s.addRow(s.row, i, factor)
		}
	}
}

// computeColumn sets s.column to B^-1 times the column of variable j.
func (s *simplex) computeColumn(j int) {
	// The column of a slack is a unit vector, so the product is a column of the inverse.
	if i := j - s.n; i >= 0 {
		for r := range s.column {
			s.column[r] = s.inverse[r*s.m+i]
		}
		return
	}
	clear(s.column)
	for k := s.columns.Start[j]; k < s.columns.Start[j+1]; k++ {
		i, coef := int(s.columns.Rows[k]), s.columns.Coefs[k]
		if r := s.place[s.n+i]; r >= 0 {
			s.column[r] += coef
			continue
		}
		for r := range s.column {
			s.column[r] += float64(s.inverse[r*s.m+i] * coef)
		}
	}
}

// findTight brings tight up to date.
func (s *simplex) findTight() {
	s.tight = s.tight[:0]
	for i := range s.m {
		if s.place[s.n+i] < 0 {
			s.tight = append(s.tight, int32(i))
		}
	}
}

// own returns the row whose slack is basic in row r of the inverse, -1 where that is a variable of the model: beside the
// tight rows the only column in which row r is not 0, and it is 1 there.
func (s *simplex) own(r int) int { return max(int(s.basis[r])-s.n, -1) }

// exchange makes variable j basic in row r, whose column s.column holds, and the variable there
// nonbasic. It updates the inverse and its norms.
func (s *simplex) exchange(r, j int) {
	// Gauss-Jordan: row r is divided by the pivot, and its multiples make the rest of the column
	// 0. The leaving variable's row, if it is a slack, becomes tight, and nothing else is there in the pivot row.
	s.findTight()
	if own := s.own(r); own >= 0 {
		at, _ := slices.BinarySearch(s.tight, int32(own))
		s.tight = slices.Insert(s.tight, at, int32(own))
	}
	pivotRow := s.inverseRow(r)
	pivot := s.column[r]
	sum := 0.0
	for _, k := range s.tight {
		pivotRow[k] /= pivot
		sum += float64(pivotRow[k] * pivotRow[k])
	}
	s.norms[r] = sum
	for i, factor := range s.column {
		// Rows that the entering column does not touch keep their inverse and norm.
		if i == r || math.Abs(factor) <= dropTol {
			continue
		}
		row, sum := s.inverseRow(i), 0.0
		if s.own(i) >= 0 {
			sum = 1
		}
		// The norm is summed afresh in the same pass: exact steepest edge weights at no extra
		// order of work.
		for _, k := range s.tight {
			x := row[k] - float64(factor*pivotRow[k])
			row[k] = x
			sum += float64(x * x)
		}
		s.norms[i] = sum
	}
	s.place[s.basis[r]] = -1
	s.basis[r], s.place[j] = int32(j), int32(r)
	s.pivots++
	s.total++
}

// recompute sets values of basic variables and reduced costs from the inverse.
func (s *simplex) recompute() {
	s.computeBasics()
	s.multipliers(s.work)
	s.reducedCosts(s.d, s.work, s.y)
	// Reduced costs of basic variables are 0 by definition; what was computed is rounding.
	for _, j := range s.basis {
		s.d[j] = 0
	}
}

// computeBasics sets the basic variables: x_B = -B^-1 N x_N.
func (s *simplex) computeBasics() {
	// A x + s = 0 gives B x_B = -N x_N.
	load := s.column // N x_N, row by row
	for i := range load {
		load[i] = 0
		if s.place[s.n+i] < 0 {
			load[i] = s.x[s.n+i]
		}
		for k := s.rowStart[i]; k < s.rowStart[i+1]; k++ {
			if j := s.rowCols[k]; s.place[j] < 0 {
				load[i] += float64(s.rowCoefs[k] * s.x[j])
			}
		}
	}
	s.findTight()
	for r, j := range s.basis {
		row, sum := s.inverseRow(r), 0.0
		if own := s.own(r); own >= 0 {
			sum = -load[own]
		}
		for _, i := range s.tight {
			sum -= float64(row[i] * load[i])
		}
		s.x[j] = sum
	}
}

// multipliers sets s.y = cost_B B^-1.
func (s *simplex) multipliers(cost []float64) {
	clear(s.y)
	s.findTight()
	for r, j := range s.basis {
		// Slacks cost nothing unless they are perturbed, so most rows are skipped.
		c := cost[j]
		if c == 0 {
			continue
		}
		row := s.inverseRow(r)
		if own := s.own(r); own >= 0 {
			s.y[own] += c
		}
		for _, i := range s.tight {
			s.y[i] += float64(c * row[i])
		}
	}
}

// bound returns the Lagrangian bound of the present basis for the true costs. It holds whatever the
// inverse is worth, because the reduced costs are recomputed from the multipliers.
func (s *simplex) bound() float64 {
	// The true costs, not those in work: a bound for shifted costs would say nothing.
	s.multipliers(s.cost)
	s.reducedCosts(s.row, s.cost, s.y)
	return s.leastValue(s.row, dualTol)
}

// miss returns by how much the variable basic in row r misses a bound (negative: below the lower),
// 0 within the tolerance.
func (s *simplex) miss(r int) float64 {
	j := s.basis[r]
	if below := s.x[j] - s.lower[j]; below < -primalTol*(1+math.Abs(s.lower[j])) {
		return below
	}
	if above := s.x[j] - s.upper[j]; above > primalTol*(1+math.Abs(s.upper[j])) {
		return above
	}
	return 0
}

// nearest returns the finite bound nearest to x, or 0 where there is none.
func nearest(x, lower, upper float64) float64 {
	switch low, high := !math.IsInf(lower, 0), !math.IsInf(upper, 0); {
	case low && (!high || x-lower <= upper-x):
		return lower
	case high:
		return upper
	}
	return 0
}

// move changes nonbasic variable j by step and the basic ones with it; s.column holds its column.
func (s *simplex) move(j int, step float64) {
	// A x + s = 0 stays true: the basic variables move by -B^-1 a_j for each unit.
	s.x[j] += step
	for r, a := range s.column {
		s.x[s.basis[r]] -= float64(step * a)
	}
}
