// This file inverts the kernel of a basis: Gauss-Jordan elimination with partial pivoting.

package bb

import "math"

// singularTol is the size of a pivot, relative to the largest entry of its column in the matrix, from which on a matrix counts as
// singular.
const singularTol = 1e-12

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
