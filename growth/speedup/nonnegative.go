// This file implements the fit of a sum of terms: least squares of relative errors with weights at least 0, and large
// residuals counted by their size, [Huber64].

package speedup

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// rounds is how often residuals are weighed anew: where several times are wrong by a factor of ten, weights settle
	// after some twenty.
	rounds = 30
	// usual is how many times the median error is still an ordinary one: 2.5 / 0.6745 of a standard deviation, and never
	// below leastUsual, since times that fit exactly have no errors.
	usual, leastUsual = 3.7, 1e-3
	// least is the least part of a measured time that a prediction counts as.
	least = 1e-6
	// better is the share of all that is to be explained by which one more term must lessen the error: below it is rounding.
	better = 1e-13
	// alike is the condition of a system from which on two terms cannot be told apart.
	alike = 1e11
)

// fitSum returns the weights of the first size terms, all at least 0. There is at least one observation. Errors are relative to the
// measured times at first, and to the fitted ones from then on: a time that is much too short would outweigh all others.
func fitSum(size int, observations []Observation) []float64 {
	// All weigh alike at first, and errors are relative to what was measured.
	rows := make([]row, len(observations))
	for i := range rows {
		o := &observations[i]
		rows[i] = row{o.configuration(), o.Seconds, o.Seconds, 1}
	}
	var params []float64
	// Each round solves the weighted problem exactly, and weighs anew by what that leaves: iteratively reweighted
	// least squares.
	for range rounds {
		params = leastSquares(size, rows)
		reweigh(params, rows)
	}
	return params
}

// row is an observation in a fit: the time, what its error is relative to, and what it weighs.
type row struct {
	configuration
	seconds, scale, weight float64
}

// reweigh gives errors beyond the usual a weight by which they count by their size.
func reweigh(params []float64, rows []row) {
	errors := make([]float64, len(rows))
	for i := range rows {
		r := &rows[i]
		// A job without any time does not exist: the samples of a container always cost something.
		r.scale = max(sum(params, r.configuration), least*r.seconds)
		errors[i] = math.Abs(math.Log(r.scale / r.seconds))
	}
	// A residual e beyond the limit weighs limit/e, so that its square counts as its size, [Huber64].
	limit := bound(errors)
	for i, e := range errors {
		rows[i].weight = min(1, limit/max(e, leastUsual))
	}
}

// bound returns the largest error that is usual.
func bound(errors []float64) float64 {
	sorted := slices.Clone(errors)
	slices.Sort(sorted)
	// The lower median of an even number: with two observations the better one sets the limit.
	return max(usual*sorted[(len(sorted)-1)/2], leastUsual)
}

// normal holds the normal equations of all terms, scaled so that every diagonal element is 1.
type normal struct {
	size  int
	left  [mostTerms][mostTerms]float64
	right [mostTerms]float64
	scale [mostTerms]float64
	// whole is the error without any term.
	whole float64
}

// newNormal adds the equations up. O(rows x terms^2).
func newNormal(size int, rows []row) *normal {
	e := &normal{size: size}
	for i := range rows {
		r := &rows[i]
		terms := r.terms()
		// The error of a row is (time - sum)/scale, squared and weighted.
		weight, time := r.weight/(r.scale*r.scale), r.seconds
		e.whole += float64(weight * time * time)
		for k := range size {
			e.right[k] += float64(weight * time * terms[k])
			for l := range size {
				e.left[k][l] += float64(weight * terms[k] * terms[l])
			}
		}
	}
	// Scaled to a unit diagonal the condition of the matrix says how well terms can be told apart, whatever their
	// units.
	for k := range size {
		e.scale[k] = 1 / math.Sqrt(e.left[k][k])
	}
	for k := range size {
		e.right[k] *= e.scale[k]
		for l := range size {
			e.left[k][l] *= e.scale[k] * e.scale[l]
		}
	}
	return e
}

// leastSquares tries every set of terms, of which there are 31 at most, the smaller ones first: among the sets whose best weights
// are all positive the one with the least error is the optimum over all weights that are not negative.
func leastSquares(size int, rows []row) []float64 {
	e := newNormal(size, rows)
	best, lowest := make([]float64, size), math.Inf(1)
	for _, set := range sets {
		// More terms than rows explain anything: such sets have many best weights.
		if set >= 1<<size || bits.OnesCount(set) > len(rows) {
			continue
		}
		// By more than rounding: of equal errors the set that came first, with the fewest terms, stands.
		if params, rest, ok := e.solve(set); ok && rest < lowest-float64(better*e.whole) {
			best, lowest = params, rest
		}
	}
	return best
}

// sets are all sets of terms but the empty one, the smaller ones first.
var sets = func() (all []uint) {
	for set := uint(1); set < 1<<mostTerms; set++ {
		all = append(all, set)
	}
	slices.SortStableFunc(all, func(a, b uint) int { return bits.OnesCount(a) - bits.OnesCount(b) })
	return all
}()

// solve fits the terms of a set, and reports whether all weights are positive and can be told apart.
func (e *normal) solve(set uint) (params []float64, rest float64, ok bool) {
	// at has the terms of the set, so that the system is as large as the set and no larger.
	var at []int
	for k := range e.size {
		if set>>k&1 == 1 {
			at = append(at, k)
		}
	}
	left, right := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for i, k := range at {
		right.SetVec(i, e.right[k])
		for j, l := range at[:i+1] {
			left.SetSym(j, i, e.left[k][l])
		}
	}
	var factor mat.Cholesky
	// A matrix that is no longer positive definite, or nearly so, has terms that say the same of these
	// observations.
	if !factor.Factorize(left) || factor.Cond() > alike {
		return nil, 0, false
	}
	var found mat.VecDense
	if err := factor.SolveVecTo(&found, right); err != nil {
		return nil, 0, false
	}
	params = make([]float64, e.size)
	for i, k := range at {
		params[k] = found.AtVec(i) * e.scale[k]
		// A set with a weight of 0 or less is no optimum of its own: the set without that term is tried as well.
		if !(params[k] > 0) {
			return nil, 0, false
		}
	}
	// By Pythagoras the error is what is left of the whole; rounding may carry it below 0.
	return params, max(0, e.whole-mat.Dot(&found, right)), true
}
