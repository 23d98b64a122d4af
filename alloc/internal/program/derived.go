// This file derives further programs from one: those of the lower levels of the preference, [Dorm P1 (5)], and the relaxation.

package program

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Next returns the program again with the objective held at what it is at values, the levels so far at what was reached, and the
// next level as its objective.
func (p *Program) Next(values, reached []float64) (*milp.Model, error) {
	b := milp.NewBuilder(p.MILP.Name())
	vars := copyModel(b, p.MILP, false)
	// Costs include the price of the fairness loss, where there is one: that is the objective to hold.
	utilization := make([]milp.Term, len(vars))
	sum := 0.0
	for j := range vars {
		utilization[j] = milp.Term{Var: vars[j], Coef: p.MILP.Variable(j).Cost}
		sum += float64(utilization[j].Coef * values[j])
	}
	// The slack keeps the last answer feasible although floats are summed in another order.
	b.AtLeast("c10", utilization, sum-solver.ObjectiveTolerance)
	l := &p.levels
	if len(reached) == 0 {
		b.Minimize(l.loss.terms(vars), l.loss.constant)
		return b.Build()
	}
	b.AtMost("c2", l.loss.terms(vars), reached[0]-l.loss.constant+solver.LossTolerance)
	if len(reached) == 1 {
		b.Minimize(l.adjusted.terms(vars), l.adjusted.constant)
		return b.Build()
	}
	// Adjusted applications are whole; what a search returns for their number may be off by its tolerance.
	b.AtMost("c4", l.adjusted.terms(vars), math.Round(reached[1])-l.adjusted.constant)
	l.moved().minimize(b, vars)
	return b.Build()
}

// Relaxation returns the program without integrality.
func (p *Program) Relaxation() (*milp.Model, error) {
	b := milp.NewBuilder(p.MILP.Name())
	vars := copyModel(b, p.MILP, true)
	objective := make([]milp.Term, len(vars))
	for j := range vars {
		objective[j] = milp.Term{Var: vars[j], Coef: p.MILP.Variable(j).Cost}
	}
	b.Maximize(objective, p.MILP.Constant())
	return b.Build()
}

// copyModel adds the variables and rows of m to b, all of them continuous if relaxed, and returns the variables.
func copyModel(b *milp.Builder, m *milp.Model, relaxed bool) []milp.Var {
	// Variables are added in their order, so that an index means the same in both models.
	vars := make([]milp.Var, m.Variables())
	for j := range vars {
		v := m.Variable(j)
		if v.Integer && !relaxed {
			vars[j] = b.Integer(v.Lower, v.Upper, m.VariableName(j))
		} else {
			vars[j] = b.Continuous(v.Lower, v.Upper, m.VariableName(j))
		}
	}
	for i := range m.Rows() {
		row := m.Row(i)
		terms := make([]milp.Term, len(row.Columns))
		for t, column := range row.Columns {
			terms[t] = milp.Term{Var: vars[column], Coef: row.Coefs[t]}
		}
		b.Row(m.RowName(i), row.Lower, terms, row.Upper)
	}
	return vars
}
