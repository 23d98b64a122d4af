// This file implements an exhaustive solver of tiny mixed-integer programs.

// Package milporacle solves tiny mixed-integer programs by trying everything, for tests.
//
// # What it computes
//
// The optimum of a [milp.Model] whose variables all have finite bounds. Every combination of
// integer values is tried. For each, the continuous rest is a linear program in a bounded polytope:
// its optimum is at a vertex, and a vertex is where as many bounds (of rows or variables) meet as
// there are continuous variables; every choice of bounds is tried.
//
// # Contract
//
// At most [MaxPoints] combinations of integers, four continuous variables and a handful of rows.
// A model beyond that, or with an infinite bound, panics: a test that asks for it is wrong.
// The minimum of a linear function over a polytope is attained at a vertex, [Schrijver86 §8.5].
package milporacle

import (
	"fmt"
	"math"

	"github.com/apportion/apportion/alloc/milp"
)

const (
	// MaxPoints is the number of combinations of integer values that Solve is willing to try.
	MaxPoints = 1 << 20
	// tolerance is what a vertex may miss a bound by: rounding in a system of at most four
	// equations.
	tolerance = 1e-9
)

// Answer is the optimum of a model.
type Answer struct {
	// Feasible says whether there is a feasible point. Objective and Values mean something only then.
	Feasible bool
	// Objective includes the model's constant, and Values has one value a variable.
	Objective float64
	Values    []float64
}

// Solve returns the optimum: the first best point in the order in which points are tried.
func Solve(m *milp.Model) Answer {
	// The first loop refuses what the search below could not finish, before anything is tried.
	s := &search{model: m, values: make([]float64, m.Variables())}
	points := 1.0
	for j := range m.Variables() {
		v := m.Variable(j)
		if math.IsInf(v.Lower, 0) || math.IsInf(v.Upper, 0) {
			panic("milporacle: infinite bound of " + m.VariableName(j))
		}
		if v.Integer {
			// An interval between two integers has none, and the model is infeasible.
			points *= math.Max(0, math.Floor(v.Upper)-math.Ceil(v.Lower)+1)
		} else {
			s.continuous = append(s.continuous, j)
		}
	}
	if points > MaxPoints || len(s.continuous) > 4 {
		panic(fmt.Sprintf("milporacle: %g points, %d continuous variables", points, len(s.continuous)))
	}
	s.assign(0)
	return s.answer
}

// search walks through all points: values is the point under way, with zeros for what is not decided yet.
// continuous are the indices of the continuous variables, answer the best so far.
type search struct {
	model      *milp.Model
	continuous []int
	values     []float64
	answer     Answer
}

// assign tries every value of the integer variables from j on.
func (s *search) assign(j int) {
	if j == len(s.values) {
		s.fillContinuous()
		return
	}
	v := s.model.Variable(j)
	// A continuous variable is left at 0 here, and gets its value at a vertex.
	if !v.Integer {
		s.assign(j + 1)
		return
	}
	// Ascending, so that of equal points the smallest in this order is found first.
	for x := math.Ceil(v.Lower); x <= v.Upper; x++ {
		s.values[j] = x
		s.assign(j + 1)
	}
}

// fillContinuous tries every vertex in the continuous variables.
func (s *search) fillContinuous() {
	for _, j := range s.continuous {
		s.values[j] = 0
	}
	// planes are all places where a bound is met with equality; a vertex is on as many of them as there are dimensions.
	var planes [][]float64
	for _, j := range s.continuous {
		v := s.model.Variable(j)
		planes = append(planes, s.plane([]int32{int32(j)}, []float64{1}, v.Lower))
		planes = append(planes, s.plane([]int32{int32(j)}, []float64{1}, v.Upper))
	}
	for i := range s.model.Rows() {
		row := s.model.Row(i)
		for _, side := range []float64{row.Lower, row.Upper} {
			// An infinite side is met nowhere. The part of the integer variables moves to the right.
			if !math.IsInf(side, 0) && len(s.continuous) > 0 {
				planes = append(planes, s.plane(row.Columns, row.Coefs, side-s.model.Activity(i, s.values)))
			}
		}
	}
	// A polytope has all its vertices at such choices, and an empty one has none that is feasible.
	s.choose(planes, nil)
}

// plane returns the equation coefficients . continuous variables = right-hand side.
func (s *search) plane(columns []int32, coefs []float64, rhs float64) []float64 {
	// The last entry is the right-hand side, as in a tableau.
	equation := make([]float64, len(s.continuous)+1)
	for k, column := range columns {
		for c, j := range s.continuous {
			if int(column) == j {
				equation[c] = coefs[k]
			}
		}
	}
	equation[len(s.continuous)] = rhs
	return equation
}

// choose tries every choice of as many planes as there are continuous variables.
// With r rows of two sides and d continuous variables there are 2(r + d) planes, and as many choices as
// they have subsets of d. All are tried for every combination of integers.
func (s *search) choose(planes, chosen [][]float64) {
	// Without continuous variables nothing is to be chosen, and the one point is considered at once.
	if len(chosen) == len(s.continuous) {
		if x, ok := meet(chosen); ok {
			s.consider(x)
		}
		return
	}
	// Each plane is taken or left for good, so that every choice is met once.
	for k := range planes {
		// The slice is cut to its length, so that append copies it: branches must not share their choices.
		s.choose(planes[k+1:], append(chosen[:len(chosen):len(chosen)], planes[k]))
	}
}

// meet solves a square system by Gauss-Jordan elimination; false where it is singular.
// O(n³) for at most four equations.
func meet(equations [][]float64) (x []float64, ok bool) {
	n := len(equations)
	a := make([][]float64, n)
	for i := range a {
		a[i] = append([]float64(nil), equations[i]...)
	}
	for c := range n {
		// The largest coefficient becomes the pivot, which keeps rounding below the tolerance.
		pivot := c
		for i := c; i < n; i++ {
			if math.Abs(a[i][c]) > math.Abs(a[pivot][c]) {
				pivot = i
			}
		}
		a[c], a[pivot] = a[pivot], a[c]
		// Two planes are parallel, or a third goes through the line of two others: other choices have that vertex.
		if math.Abs(a[c][c]) < tolerance {
			return nil, false
		}
		for i := range n {
			if factor := a[i][c] / a[c][c]; i != c {
				for k := range a[i] {
					a[i][k] -= float64(factor * a[c][k])
				}
			}
		}
	}
	x = make([]float64, n)
	for i := range x {
		// All else in the row has been eliminated, above the diagonal as well.
		x[i] = a[i][n] / a[i][i]
	}
	return x, true
}

// consider keeps the point if it is feasible and better than the best.
func (s *search) consider(x []float64) {
	for c, j := range s.continuous {
		s.values[j] = x[c]
	}
	// The referee of package milp decides on feasibility, so that the twin and the solvers mean the same by it.
	if s.model.Verify(s.values, tolerance, 0) == nil {
		objective := s.model.Objective(s.values)
		// A tie keeps the first point, for the sake of tests that name one.
		better := objective < s.answer.Objective
		if s.model.Sense() == milp.Maximize {
			better = objective > s.answer.Objective
		}
		if !s.answer.Feasible || better {
			s.answer = Answer{true, objective, append([]float64(nil), s.values...)}
		}
	}
	for _, j := range s.continuous {
		s.values[j] = 0
	}
}
