// This file makes the inverse of a basis from its kernel: Gauss-Jordan elimination with partial pivoting.

package bb

import "math"

// singularTol is the size of a pivot, relative to the largest entry of its column in the matrix, from which on a matrix counts as
// singular.
const singularTol = 1e-12

// refactor makes the inverse afresh and recomputes what depends on it. It reports false if the
// basis is singular; the slacks are the basis then.
//
// Rows whose own slack is basic need no inversion: with R the rows without and J the basic model
// variables, only A[R][J] is inverted; the other rows are -A[S][J] times that.
func (s *simplex) refactor() bool {
	// Most rows are slack in a large model, so the kernel is small and the inversion cheap: O(k^3
	// + k m).
	rows, vars := s.kernel()
	inverted, ok := invert(s.kernelMatrix(rows, vars))
	if !ok {
		// The slacks are a basis that is never singular.
		s.slackBasis()
		s.recompute()
		return false
	}
	s.setInverse(inverted, rows, vars)
	s.recompute()
	return true
}

// kernel returns the rows whose slack is not basic and the basic model variables, equally many.
func (s *simplex) kernel() (rows, vars []int32) {
	for i := range s.m {
		if s.place[s.n+i] < 0 {
			rows = append(rows, int32(i))
		}
	}
	for j := range s.n {
		if s.place[j] >= 0 {
			vars = append(vars, int32(j))
		}
	}
	return rows, vars
}

// kernelMatrix returns A[rows][vars].
func (s *simplex) kernelMatrix(rows, vars []int32) [][]float64 {
	// 0 stands for "not in rows", hence plus 1.
	position := make([]int, s.m) // of a row in rows, plus 1
	for k, i := range rows {
		position[i] = k + 1
	}
	kernel := make([][]float64, len(rows))
	for k := range kernel {
		kernel[k] = make([]float64, len(rows))
	}
	for c, j := range vars {
		for at := s.columns.Start[j]; at < s.columns.Start[j+1]; at++ {
			if k := position[s.columns.Rows[at]]; k > 0 {
				kernel[k-1][c] = s.columns.Coefs[at]
			}
		}
	}
	return kernel
}

// setInverse writes the inverse of the whole basis from that of its kernel. A slack that is basic
// moves to its own row.
func (s *simplex) setInverse(inverted [][]float64, rows, vars []int32) {
	clear(s.inverse)
	for i := range s.m {
		if s.place[s.n+i] >= 0 {
			s.basis[i], s.place[s.n+i] = int32(s.n+i), int32(i)
			s.inverse[i*s.m+i] = 1
		}
	}
	// The c-th basic variable sits in the c-th row of the kernel. Any assignment will do, as a
	// basis has no order.
	for c, j := range vars {
		r := rows[c]
		s.basis[r], s.place[j] = j, r
		row := s.inverseRow(int(r))
		for k, i := range rows {
			row[i] = inverted[c][k]
		}
	}
	// Rows with a basic slack: row i of B^-1 is e_i less A[i][J] times the inverse of the kernel.
	for _, j := range vars {
		from := s.inverseRow(int(s.place[j]))
		for at := s.columns.Start[j]; at < s.columns.Start[j+1]; at++ {
			i := int(s.columns.Rows[at])
			if s.place[s.n+i] < 0 {
				continue
			}
			to := s.inverseRow(i)
			for _, k := range rows {
				to[k] -= float64(s.columns.Coefs[at] * from[k])
			}
		}
	}
	// The weights are recomputed with the inverse, so no drift of theirs survives.
	s.findTight()
	for r := range s.norms {
		row, sum := s.inverseRow(r), 0.0
		if s.own(r) >= 0 {
			sum = 1
		}
		for _, k := range s.tight {
			sum += float64(row[k] * row[k])
		}
		s.norms[r] = sum
	}
	s.pivots = 0
}

func (s *simplex) slackBasis() {
	for j := range s.n {
		s.place[j] = -1
	}
	for i := range s.m {
		s.basis[i], s.place[s.n+i] = int32(s.n+i), int32(i)
	}
	// An empty kernel: the inverse is the identity.
	s.setInverse(nil, nil, nil)
}

// invert returns the inverse of a square matrix by rows, which it destroys, and reports whether there is one. O(k^3), less where
// entries are 0.
func invert(a [][]float64) (inverse [][]float64, ok bool) {
	k := len(a)
	inverse = make([][]float64, k)
	largest := make([]float64, k)
	for r := range a {
		inverse[r] = make([]float64, k)
		inverse[r][r] = 1
		for c, v := range a[r] {
			largest[c] = math.Max(largest[c], math.Abs(v))
		}
	}
	for c := range k {
		at := c
		for r := c + 1; r < k; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[at][c]) {
				at = r
			}
		}
		pivot := a[at][c]
		if !(math.Abs(pivot) > singularTol*largest[c]) {
			return nil, false
		}
		a[c], a[at], inverse[c], inverse[at] = a[at], a[c], inverse[at], inverse[c]
		scale(a[c][c:], 1/pivot)
		scale(inverse[c], 1/pivot)
		for r := range k {
			if factor := a[r][c]; r != c && factor != 0 {
				subtract(a[r][c:], factor, a[c][c:])
				subtract(inverse[r], factor, inverse[c])
			}
		}
	}
	return inverse, true
}

func scale(row []float64, factor float64) {
	for c := range row {
		row[c] *= factor
	}
}

func subtract(row []float64, factor float64, other []float64) {
	for c, v := range other {
		if v != 0 {
			row[c] -= float64(factor * v)
		}
	}
}
