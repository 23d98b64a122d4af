// This file climbs down the lexicographic preference among the optima of P2: the program is solved
// again with the better levels held, [Dorm P1 (5)].

package mip

import (
	"context"
	"fmt"
	"math"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// How much of a proof is enough: general solvers work with tolerances of their own.
const (
	// provenTolerance is how far a general solver's bound may stay above the utilization of a proven
	// optimum: such solvers stop at an absolute gap of this size.
	provenTolerance = 1e-7
	// levelTolerance is how close to the best a lower level is proven, in shares of loss. The slack of
	// ObjectiveTolerance in the level above lets a relaxation undercut the best point by the slack over
	// the difference of two utilizations per share, which no tighter proof survives.
	levelTolerance = 1e-5
)

// preference is the way from the best utilization down the levels.
type preference struct {
	backend  milp.Solver
	opts     Options
	inst     *solver.Instance
	model    *Model
	answer   milp.Solution
	solution *solver.Solution
}

// climb takes over the answer and goes down as far as the options ask and proofs are found.
func (p *preference) climb(ctx context.Context) error {
	p.adopt(p.answer.Values)
	// Below an utilization that is not proven no level means anything: a better one might lie
	// elsewhere.
	if p.solution.Status != solver.Optimal {
		return nil
	}
	for level, rank := range []solver.Rank{solver.ByLoss, solver.ByAdjusted} {
		if p.opts.Preference < rank {
			return nil
		}
		program, err := p.fixed(level)
		if err != nil {
			return err
		}
		answer, err := milp.Solve(ctx, p.backend, program, p.options())
		if err != nil {
			return fmt.Errorf("mip: preference by %s: %w", rank, err)
		}
		p.solution.Effort += answer.Nodes
		// The answer of the level above stays: it is as good as before, only not proven further.
		if !answer.HasSolution() {
			return nil
		}
		p.answer = answer
		p.adopt(answer.Values)
		if answer.Status != milp.Optimal {
			return nil
		}
		// A level is proven only after all above it, which the loop's order guarantees.
		p.solution.Proven = rank
	}
	return nil
}

// options returns the options for a lower level, which starts at the answer of the level above.
// The hint saves the search for a first point, which the level above has found already.
func (p *preference) options() *milp.Options {
	opts := p.opts.Search
	can := milp.Capabilities(p.backend)
	if can&milp.CanHint != 0 {
		opts.Hint = p.answer.Values
	}
	if can&milp.CanGaps != 0 {
		opts.AbsoluteGap = max(opts.AbsoluteGap, levelTolerance)
	}
	return &opts
}

// adopt takes the counts of values if they are a solution of P2; those of a relaxed model may be none.
func (p *preference) adopt(values []float64) {
	counts := p.model.Counts(values)
	if p.inst.Check(counts) != nil {
		return
	}
	s := p.solution
	s.Status, s.Counts, s.Objective = solver.Feasible, counts, p.inst.Objective(counts)
	// The objective is recomputed from whole counts and exact values, and so more accurate than the
	// solver's.
	s.Bound = math.Max(s.Bound, s.Objective) // a bound proven to a tolerance may lie below by as much
	if s.Bound-s.Objective <= provenTolerance {
		s.Status = solver.Optimal
		s.Proven = max(s.Proven, solver.ByUtilization)
	}
}

// fixed returns the model again with the utilization, and the loss from level 1 on, held at what
// was reached, and the next level as its objective.
func (p *preference) fixed(level int) (*milp.Model, error) {
	b := milp.NewBuilder(p.model.MILP.Name())
	vars := copyModel(b, p.model.MILP)
	utilization := make([]milp.Term, len(vars))
	for j := range vars {
		utilization[j] = milp.Term{Var: vars[j], Coef: p.model.MILP.Variable(j).Cost}
	}
	// The slack keeps the last answer feasible although floats are summed in another order.
	b.AtLeast("c10", utilization, p.reached(utilization)-solver.ObjectiveTolerance)
	losses := p.model.levels.loss.terms(vars)
	if level == 0 {
		b.Minimize(losses, 0)
		return b.Build()
	}
	b.AtMost("c2", losses, p.reached(losses)+solver.LossTolerance)
	b.Minimize(p.model.levels.adjusted.terms(vars), 0)
	return b.Build()
}

// reached returns the value of terms at the last answer.
func (p *preference) reached(terms []milp.Term) float64 {
	sum := 0.0
	for _, term := range terms {
		sum += float64(term.Coef * p.answer.Values[term.Var.Index()])
	}
	return sum
}

// copyModel adds the variables and rows of m to b and returns the variables.
func copyModel(b *milp.Builder, m *milp.Model) []milp.Var {
	// Variables are added in their order, so that an index means the same in both models.
	vars := make([]milp.Var, m.Variables())
	for j := range vars {
		v := m.Variable(j)
		if v.Integer {
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
