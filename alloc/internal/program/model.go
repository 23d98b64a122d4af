// This file holds P2 as a mixed-integer linear program, [Dorm §IV-B]: Form, Program, and the lower levels
// of the preference as expressions.

package program

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Form is one of the ways to write P2 as a linear program with integers. In JSON it is its name.
type Form string

// The forms. All of them maximize (10), and bound every solution of P2 from above.
const (
	// Verbatim is (6)-(18) as printed, on x[i][j], with the big number M of (13) and (14) chosen as
	// small as each pair of application and server allows.
	Verbatim Form = "verbatim"
	// Class pools servers of equal capacity, and of one Instance.Class, into classes and decides
	// x[i][class]. It is smaller, and a relaxation: its optimum is an upper bound, which a packing step tries to turn into an
	// allocation on servers. With a previous allocation the bound is up to 10 % too high, because
	// an application that stays is tied to its servers and moves inside a class cost nothing here.
	Class Form = "class"
	// Disjunctive decides for every running application whether it stays exactly as it is (z = 1)
	// or is placed anew (z = 0). It has the solutions of Verbatim without a big M, and a tighter
	// relaxation.
	Disjunctive Form = "disjunctive"
)

// Forms lists the forms.
func Forms() []Form { return []Form{Verbatim, Class, Disjunctive} }

// Program is P2 as a program, and the way back from its solutions.
//
// Rows carry the equation they come from: c6_s3_k0 is (6) on server 3 (class 3 in Class) for kind
// 0, c7_a2 is (7) for application 2, and so on; c9 is the link between z and y that takes the place
// of (13) and (14) in Disjunctive. Variables are x_a2_s3, l_a2, r_a2 as in Dorm's Table I, z_a2 and
// y_a2_s3 for Disjunctive. What the paper's P2 has not has names of its own, see the package's notation.
type Program struct {
	// MILP maximizes the utilization (10), or the worths in its place, less Instance.LossPrice times the fairness loss.
	MILP *milp.Model
	// Relaxed says that a solution of MILP need not be one of P2: in the form Class, and where
	// quantities are so large that the program counts them in larger units, see Build.
	Relaxed bool

	levels levels
	decode func(values []float64) solver.Counts
	// encode and amounts are for the disjunctive form.
	encode  func(counts solver.Counts, values []float64)
	amounts func(values []float64) []Amount
}

// Amount is what an application has at a point of the disjunctive form: the part of it that stays, and the containers placed anew.
type Amount struct{ Stays, Containers float64 }

// Amounts returns what every application has at values, which need not be whole. It is for the form Disjunctive.
func (p *Program) Amounts(values []float64) []Amount { return p.amounts(values) }

// Hint returns a starting point for a search that has these counts, and NaN for what does not follow from them. It is for the form
// Disjunctive.
func (p *Program) Hint(counts solver.Counts) []float64 {
	values := slices.Repeat([]float64{math.NaN()}, p.MILP.Variables())
	p.encode(counts, values)
	return values
}

// Counts reads the counts of containers off a solution of MILP. For a relaxed program they may miss a
// minimum, a budget or a capacity: Instance.Check tells. values must have one entry for each variable.
func (p *Program) Counts(values []float64) solver.Counts { return p.decode(values) }

// expression is a linear expression with its variables by index.
//
// A milp.Var belongs to the builder that made it; its index is the same in every copy of the model.
type expression struct {
	columns  []int
	coefs    []float64
	constant float64
}

// expressionOf turns terms and a constant into an expression that outlives the builder.
func expressionOf(terms []milp.Term, constant float64) expression {
	e := expression{make([]int, len(terms)), make([]float64, len(terms)), constant}
	for t, term := range terms {
		e.columns[t], e.coefs[t] = term.Var.Index(), term.Coef
	}
	return e
}

// terms states the expression without its constant over vars.
func (e expression) terms(vars []milp.Var) []milp.Term {
	terms := make([]milp.Term, len(e.columns))
	for t, column := range e.columns {
		terms[t] = milp.Term{Var: vars[column], Coef: e.coefs[t]}
	}
	return terms
}

func (e expression) at(values []float64) float64 {
	sum := e.constant
	for t, column := range e.columns {
		sum += float64(e.coefs[t] * values[column])
	}
	return sum
}

// levels are the lower levels of the preference over the variables of a model: the fairness loss (2), the
// adjusted applications (4), and the containers moved, which few ask for and which are written only then.
type levels struct {
	loss, adjusted expression
	moved          func() movement
}

// Level returns the value of the k-th level of the preference below the objective at a point: the fairness loss, the adjusted
// applications, the containers moved.
func (p *Program) Level(k int, values []float64) float64 {
	switch k {
	case 0:
		return p.levels.loss.at(values)
	case 1:
		return p.levels.adjusted.at(values)
	}
	return p.levels.moved().at(values)
}
