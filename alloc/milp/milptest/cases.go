// This file holds the tiny models with known answers.

package milptest

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
)

// inf is the bound of what has none.
var inf = math.Inf(1)

// sum returns coefs[k] times vars[k], added up.
// A coefficient of 0 is passed on: builders must drop it. vars may be longer than coefs; the rest
// has no term.
func sum(vars []milp.Var, coefs ...float64) []milp.Term {
	terms := make([]milp.Term, len(coefs))
	for k, coef := range coefs {
		terms[k] = milp.Term{Var: vars[k], Coef: coef}
	}
	return terms
}

// continuous and integers return one variable for each pair of bounds.
func continuous(b *milp.Builder, bounds ...[2]float64) []milp.Var {
	vars := make([]milp.Var, len(bounds))
	for k, bound := range bounds {
		vars[k] = b.Continuous(bound[0], bound[1], "")
	}
	return vars
}

// Names are left out on purpose: no back-end may rely on them.
func integers(b *milp.Builder, bounds ...[2]float64) []milp.Var {
	vars := make([]milp.Var, len(bounds))
	for k, bound := range bounds {
		vars[k] = b.Integer(bound[0], bound[1], "")
	}
	return vars
}

func cases() []oneCase {
	// The order is from what the narrowest engine can state to what few can, so that the first
	// failure is the simplest.
	// Each group is a function of its own, because nearly all of its cases need the same
	// capabilities.
	all := integerCases()
	all = append(all, branchCases()...)
	all = append(all, boundCases()...)
	all = append(all, rowCases()...)
	all = append(all, vertexCases()...)
	all = append(all, infeasibleCases()...)
	return append(all, unboundedCases()...)
}

// integerCases need integer variables with finite bounds alone, and no search.
func integerCases() []oneCase {
	bounds := [2]float64{0, 10}
	return []oneCase{
		// Engines often refuse an empty program; its optimum is the constant.
		{name: "no variables", build: func(b *milp.Builder) { b.Minimize(nil, 7) },
			want: milp.Optimal, objective: 7, values: []float64{}},
		// Without rows each variable stands at the bound that its cost asks for: a sign that is
		// lost shows at once.
		{name: "no rows, minimise", build: func(b *milp.Builder) {
			b.Minimize(sum(integers(b, [2]float64{-2, 3}, [2]float64{-2, 3}), 1, -1), 0)
		}, want: milp.Optimal, objective: -5, values: []float64{-2, 3}},
		// The same costs the other way round show a sense that is lost.
		{name: "no rows, maximise", build: func(b *milp.Builder) {
			b.Maximize(sum(integers(b, [2]float64{-2, 3}, [2]float64{-2, 3}), 1, -1), 0)
		}, want: milp.Optimal, objective: 5, values: []float64{3, -2}},
		// 3x + 5y = 19 has one solution in whole numbers within the bounds, so the point is known
		// although every point is optimal.
		{name: "no objective", build: func(b *milp.Builder) {
			b.Equal("", sum(integers(b, bounds, bounds), 3, 5), 19)
		}, want: milp.Optimal, objective: 0, values: []float64{3, 2}},
		// The constant counts in Objective and in Bound alike, and is larger than the rest.
		{name: "objective constant", build: func(b *milp.Builder) {
			b.Maximize(sum(integers(b, bounds), 2), -100.5)
		}, want: milp.Optimal, objective: -80.5, values: []float64{10}},
	}
}

// branchCases need a search: their relaxation is not whole, or a bound is not.
func branchCases() []oneCase {
	bounds := [2]float64{0, 10}
	bit := [2]float64{0, 1}
	return []oneCase{
		{name: "knapsack", build: func(b *milp.Builder) { // its relaxation is worth 22
			x := integers(b, bit, bit, bit, bit)
			b.AtMost("", sum(x, 5, 7, 4, 3), 14)
			b.Maximize(sum(x, 8, 11, 6, 4), 0)
		}, want: milp.Optimal, objective: 21, values: []float64{0, 1, 1, 1}},
		// Rounding the relaxation (3.67, 2.67) gives (4, 3), which breaks the first row, and
		// rounding it down gives (3, 2), which is worth 1 less.
		{name: "rounding is wrong", build: func(b *milp.Builder) {
			// (3, 3) breaks the third row as (4, 3) breaks the first, so a search has to branch.
			x := integers(b, bounds, bounds)
			b.AtMost("", sum(x, 2, 1), 10)
			b.AtMost("", sum(x, 1, 2), 10)
			b.AtLeast("", sum(x, 1, -1), 1)
			b.Maximize(sum(x, 1, 1.01), 0)
		}, want: milp.Optimal, objective: 6.02, values: []float64{4, 2}},
		// Presolvers take fixed variables out and must put them back into the values and the
		// objective.
		{name: "fixed variables", build: func(b *milp.Builder) {
			x := integers(b, [2]float64{3, 3}, [2]float64{-4, -4}, bounds)
			b.AtMost("", sum(x, 1, 1, 1), 5)
			b.Maximize(sum(x, 1, 1, 1), 0)
		}, want: milp.Optimal, objective: 5, values: []float64{3, -4, 6}},
		// Bounds of integers round inwards. Rounding to the nearest would allow 3 and -3.
		{name: "fractional bounds of integers", build: func(b *milp.Builder) {
			b.Maximize(sum(integers(b, [2]float64{-2.5, 2.5}, [2]float64{-2.5, 2.5}), 1, -1), 0)
		}, want: milp.Optimal, objective: 4, values: []float64{2, -2}},
		// A matrix with an empty column: y is free to go to its bound.
		{name: "variable in no row", build: func(b *milp.Builder) {
			x := integers(b, bounds, bounds)
			b.AtMost("", sum(x, 1), 4)
			b.Maximize(sum(x, 1, 1), 0)
		}, want: milp.Optimal, objective: 14, values: []float64{4, 10}},
	}
}

// boundCases use continuous variables and every sort of bound.
// An engine that can state no infinite bound is not asked these.
func boundCases() []oneCase {
	return []oneCase{
		// Engines with x >= 0 built in split such a variable in two, or forget to.
		{name: "free variable", build: func(b *milp.Builder) {
			x := continuous(b, [2]float64{-inf, inf})
			b.AtLeast("", sum(x, 2), -7)
			b.Minimize(sum(x, 1), 0)
		}, want: milp.Optimal, objective: -3.5, values: []float64{-3.5}},
		// No value of x is positive, so a default lower bound of 0 would make the model
		// infeasible.
		{name: "negative bounds", build: func(b *milp.Builder) {
			x := continuous(b, [2]float64{-5, -1}, [2]float64{-inf, -2})
			b.AtLeast("", sum(x, 1, 1), -6)
			// y is dearer, so x goes to its upper bound -1 and y takes the rest of -6.
			b.Minimize(sum(x, 1, 2), 0)
		}, want: milp.Optimal, objective: -11, values: []float64{-1, -5}},
		// Branching on x has no bound to stop at; a row ends it. The odd coefficients make the
		// relaxation fractional.
		{name: "infinite bounds of integers", build: func(b *milp.Builder) {
			x := integers(b, [2]float64{-inf, inf}, [2]float64{0, inf})
			b.AtLeast("", sum(x, 2, 3), -7.5)
			b.AtMost("", sum(x, 0, 1), 2.5)
			b.Minimize(sum(x, 2, 3.1), 0)
		}, want: milp.Optimal, objective: -6.9, values: []float64{-5, 1}},
		// Two equations fix two free variables: the basis must hold both.
		{name: "free variables by equations", build: func(b *milp.Builder) {
			x := continuous(b, [2]float64{-inf, inf}, [2]float64{-inf, inf})
			b.Equal("", sum(x, 1, 1), 3)
			b.Equal("", sum(x, 1, -1), 8)
			b.Maximize(sum(x, 1), 1)
		}, want: milp.Optimal, objective: 6.5, values: []float64{5.5, -2.5}},
		// x = 3 leaves 1 to y: 4*3 + 3*0.5. A whole y would be worth 12, a continuous x 13.8.
		{name: "mixed", build: func(b *milp.Builder) {
			x := append(integers(b, [2]float64{0, 9}), continuous(b, [2]float64{0, 1.5})...)
			b.AtMost("", sum(x, 3, 2), 10)
			b.Maximize(sum(x, 4, 3), 0)
		}, want: milp.Optimal, objective: 13.5, values: []float64{3, 0.5}},
	}
}

// rowCases use every sort of row.
func rowCases() []oneCase {
	bounds := [2]float64{-10, 10}
	return []oneCase{
		// Both sides of both rows matter: the lower side of the first binds, and so does the lower
		// side of the second.
		{name: "range row", build: func(b *milp.Builder) {
			x := integers(b, bounds, bounds)
			b.Row("", -3.5, sum(x, 1, 1), 4.5)
			// In whole numbers the first row is -3 <= x + y <= 4, so (-1, -2) is the cheapest
			// point with x - y >= 1.
			b.Row("", 1, sum(x, 1, -1), 2)
			b.Minimize(sum(x, 3, 2), 0)
		}, want: milp.Optimal, objective: -7, values: []float64{-1, -2}},
		// Rows that say nothing, of three sorts. None may change the answer or shift the index of
		// another row.
		{name: "empty and free rows", build: func(b *milp.Builder) {
			x := integers(b, bounds)
			b.Row("", -1, nil, 1)
			b.Row("", -inf, sum(x, 1), inf)
			b.Row("", -inf, nil, inf)
			b.Maximize(sum(x, 1), 0)
		}, want: milp.Optimal, objective: 10, values: []float64{10}},
		// The second equation is twice the first: the matrix has no full row rank.
		{name: "redundant and parallel equations", build: func(b *milp.Builder) {
			x := continuous(b, bounds, bounds)
			b.Equal("", sum(x, 1, 2), 3)
			b.Equal("", sum(x, 2, 4), 6)
			b.Equal("", sum(x, 3, 1), 4)
			b.Maximize(sum(x, 1, 1), 0)
		}, want: milp.Optimal, objective: 2, values: []float64{1, 1}},
	}
}

// vertexCases are hard on a simplex method: ties, cycles, rows of every size.
// All of them have been the undoing of some textbook implementation.
func vertexCases() []oneCase {
	unit := [2]float64{0, 1}
	return []oneCase{
		// Ties in the ratio test give steps of length 0.
		{name: "degenerate vertex", build: func(b *milp.Builder) { // five rows meet in the optimum
			x := continuous(b, [2]float64{0, inf}, [2]float64{0, inf})
			// Each row holds with equality at (1, 1).
			for _, c := range [][2]float64{{1, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 2}} {
				b.AtMost("", sum(x, c[0], c[1]), c[0]+c[1])
			}
			b.Maximize(sum(x, 1, 1), 0)
		}, want: milp.Optimal, objective: 2, values: []float64{1, 1}},
		// The textbook rule (largest reduced cost, first row) returns to its first basis after six
		// pivots here.
		{name: "cycling example of Beale", build: func(b *milp.Builder) {
			x := continuous(b, [2]float64{0, inf}, [2]float64{0, inf}, [2]float64{0, inf}, [2]float64{0, inf})
			// The first two rows make the origin degenerate; the third one bounds the optimum.
			b.AtMost("", sum(x, 0.25, -60, -0.04, 9), 0)
			b.AtMost("", sum(x, 0.5, -90, -0.02, 3), 0)
			b.AtMost("", sum(x, 0, 0, 1), 1)
			b.Minimize(sum(x, -0.75, 150, -0.02, 6), 0)
		}, want: milp.Optimal, objective: -0.05, values: []float64{0.04, 0, 1, 0}},
		// Bytes and pieces in one model: a tolerance relative to the largest row would swallow the
		// smallest one.
		{name: "rows of very different size", build: func(b *milp.Builder) {
			x := integers(b, [2]float64{0, 100}, [2]float64{0, 100})
			// Row 1 binds in units of 1e9, row 3 in units of 1e-3: (8, 7) leaves 2e9 in the first
			// and 2e-4 in the third.
			b.AtMost("", sum(x, 4e9, 8e9), 9e10) // bytes
			b.AtMost("", sum(x, 2, 1), 30)
			b.AtMost("", sum(x, 1e-3, 1e-3), 0.0152)
			b.Maximize(sum(x, 1, 1.5), 0)
		}, want: milp.Optimal, objective: 18.5, values: []float64{8, 7}},
		// The matrix is totally unimodular: the relaxation is whole, but its equations are redundant.
		{name: "assignment", build: func(b *milp.Builder) {
			x := integers(b, unit, unit, unit, unit)
			b.Equal("", sum(x, 1, 1), 1)
			b.Equal("", sum(x, 0, 0, 1, 1), 1)
			b.Equal("", sum(x, 1, 0, 1), 1)
			b.Equal("", sum(x, 0, 1, 0, 1), 1)
			b.Minimize(sum(x, 5, 4, 3, 3), 0)
		}, want: milp.Optimal, objective: 7, values: []float64{0, 1, 1, 0}},
	}
}

// infeasibleCases have no feasible point, each for a reason of its own.
// An engine must prove that there is nothing, which a search for points never does.
func infeasibleCases() []oneCase {
	bounds := [2]float64{0, 10}
	return []oneCase{
		// The contradiction is between two rows; each of them alone is feasible.
		{name: "infeasible rows", build: func(b *milp.Builder) {
			x := integers(b, bounds, bounds)
			b.AtLeast("", sum(x, 1, 1), 7)
			b.AtMost("", sum(x, 1, 1), 6)
		}, want: milp.Infeasible},
		// 0 >= 1: a row without coefficients may be dropped only where 0 satisfies it.
		{name: "infeasible empty row", build: func(b *milp.Builder) {
			integers(b, bounds)
			b.AtLeast("", nil, 1)
		}, want: milp.Infeasible},
		{name: "infeasible by parity", build: func(b *milp.Builder) { // the relaxation is feasible
			b.Equal("", sum(integers(b, bounds, bounds), 2, 4), 7)
		}, want: milp.Infeasible},
		// Rounded inwards the bounds cross: 1 > 0.
		{name: "no integer between the bounds", build: func(b *milp.Builder) {
			b.Maximize(sum(integers(b, [2]float64{0.2, 0.8}), 1), 0)
		}, want: milp.Infeasible},
		// A free variable leaves the bounds without any say: rows alone prove it.
		{name: "infeasible, continuous", build: func(b *milp.Builder) {
			x := continuous(b, [2]float64{-inf, inf}, [2]float64{0, inf})
			b.Equal("", sum(x, 1, 1), 1)
			b.Equal("", sum(x, 1, 1), 2)
			b.Minimize(sum(x, 1), 0)
		}, want: milp.Infeasible},
	}
}

// unboundedCases have a ray along which the objective improves; not all of them have a point.
// An engine that bounds such a program silently, by a large number of its own, is found out.
func unboundedCases() []oneCase {
	bounds := [2]float64{0, 10}
	return []oneCase{
		// The ray is (1, 1): x can only grow together with y.
		{name: "unbounded above", build: func(b *milp.Builder) {
			x := continuous(b, [2]float64{0, inf}, [2]float64{0, inf})
			b.AtMost("", sum(x, 1, -1), 1)
			b.Maximize(sum(x, 1), 0)
		}, want: milp.Unbounded},
		// No row, and the bound is missing on the side where the objective gets better.
		{name: "unbounded below", build: func(b *milp.Builder) {
			b.Minimize(sum(continuous(b, [2]float64{-inf, 0}), 1), 0)
		}, want: milp.Unbounded},
		// The ray (3, 2) is whole, and so is the point (2, 1).
		{name: "unbounded integers", build: func(b *milp.Builder) {
			x := integers(b, [2]float64{0, inf}, [2]float64{0, inf})
			b.Equal("", sum(x, 2, -3), 1)
			b.Maximize(sum(x, 1), 0)
		}, want: milp.Unbounded},
		// An unbounded relaxation proves nothing while it is open whether an integer point exists.
		{name: "unbounded relaxation, infeasible integers", build: func(b *milp.Builder) {
			// The third variable is the ray; the first two have no point.
			x := append(integers(b, bounds, bounds), continuous(b, [2]float64{0, inf})...)
			b.Equal("", sum(x, 2, 4), 7)
			b.Maximize(sum(x, 0, 0, 1), 0)
		}, want: milp.Infeasible},
		// A ray without a point: the relaxation itself is infeasible.
		{name: "unbounded direction, infeasible rows", build: func(b *milp.Builder) {
			x := continuous(b, [2]float64{0, inf}, [2]float64{0, 1})
			b.AtLeast("", sum(x, 0, 1), 2)
			b.Maximize(sum(x, 1), 0)
		}, want: milp.Infeasible},
	}
}
