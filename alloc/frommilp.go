// This file lets any milp.Solver answer P2, and climb down the lexicographic preference by solving
// again with the better levels fixed.

package alloc

import (
	"context"
	"fmt"
	"math"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// MILPOptions adjusts FromMILP. nil and the zero value mean the defaults.
type MILPOptions struct {
	// Search is handed to every solve.
	Search milp.Options
	// Preference is how far down the lexicographic preference to go after the utilization: ByLoss
	// solves a second model, ByAdjusted and below a third. 0 and ByUtilization: utilization only.
	Preference solver.Rank
}

// FromMILP returns a solver of P2 that writes it in the given form and hands it to solver. With
// ByClass an allocation comes out only where the packing step succeeds; the bound holds anyway.
func FromMILP(backend milp.Solver, form Form, opts *MILPOptions) solver.Solver {
	s := &milpSolver{backend: backend, form: form}
	if opts != nil {
		s.opts = *opts
	}
	return s
}

type milpSolver struct {
	backend milp.Solver
	form    Form
	opts    MILPOptions
}

// Solve implements solver.Solver.
func (s *milpSolver) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	model, err := ModelFor(s.backend, inst, s.form)
	if err != nil {
		return nil, err
	}
	answer, err := milp.Solve(ctx, s.backend, model.MILP, &s.opts.Search)
	if err != nil {
		return nil, fmt.Errorf("alloc: P2 in the %s form: %w", s.form, err)
	}
	solution := &solver.Solution{
		Bound:       answer.Bound,
		Effort:      answer.Nodes,
		Interrupted: answer.Status == milp.Cancelled,
		Certificate: solver.Certificate{Searched: true, By: s.settings()},
	}
	if answer.Status == milp.Infeasible {
		return s.infeasible(ctx, inst)
	}
	if !answer.HasSolution() {
		return solution, nil
	}
	return solution, s.descend(ctx, &descent{inst, model, answer, solution})
}

func (s *milpSolver) settings() solver.Settings {
	return solver.Settings{Solver: fmt.Sprintf("%T", s.backend), Form: string(s.form), Preference: s.opts.Preference}
}

// infeasible says why, as far as the embedded solver finds out.
func (s *milpSolver) infeasible(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	why, err := embedded.New(&embedded.Options{Effort: embedded.Quick}).Solve(ctx, inst)
	if err != nil {
		return nil, err
	}
	return &solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1), Conflict: why.Conflict, Certificate: solver.Certificate{By: s.settings()}}, nil
}

// descent is the way from the best utilization down the preference.
type descent struct {
	inst     *solver.Instance
	model    *Model
	answer   milp.Solution
	solution *solver.Solution
}

func (s *milpSolver) descend(ctx context.Context, d *descent) error {
	d.adopt(d.answer.Values)
	if d.solution.Status != solver.Optimal {
		return nil
	}
	for level, next := range []struct {
		rank solver.Rank
		by   expression
	}{{solver.ByLoss, d.model.levels.loss}, {solver.ByAdjusted, d.model.levels.adjusted}} {
		if s.opts.Preference < next.rank {
			return nil
		}
		program, err := d.fixed(level)
		if err != nil {
			return err
		}
		answer, err := milp.Solve(ctx, s.backend, program, s.below(d.answer.Values))
		if err != nil {
			return fmt.Errorf("alloc: preference by %s: %w", next.rank, err)
		}
		d.solution.Effort += answer.Nodes
		if !answer.HasSolution() {
			return nil
		}
		d.answer = answer
		d.adopt(answer.Values)
		if answer.Status != milp.Optimal {
			return nil
		}
		d.solution.Proven = next.rank
	}
	return nil
}

// below returns the options for a lower level, which starts at the answer of the level above.
func (s *milpSolver) below(start []float64) *milp.Options {
	opts := s.opts.Search
	can := milp.Capabilities(s.backend)
	if can&milp.CanHint != 0 {
		opts.Hint = start
	}
	if can&milp.CanGaps != 0 {
		opts.AbsoluteGap = max(opts.AbsoluteGap, levelTolerance)
	}
	return &opts
}

// adopt takes the counts of values if they are a solution of P2.
func (d *descent) adopt(values []float64) {
	counts := d.model.Counts(values)
	if d.inst.Check(counts) != nil {
		return // only a relaxed model comes here
	}
	s := d.solution
	s.Status, s.Counts, s.Objective = solver.Feasible, counts, d.inst.Objective(counts)
	s.Bound = math.Max(s.Bound, s.Objective) // a bound proven to a tolerance may lie below by as much
	if s.Bound-s.Objective <= provenTolerance {
		s.Status = solver.Optimal
		s.Proven = max(s.Proven, solver.ByUtilization)
	}
}

// provenTolerance is how far a general solver's bound may stay above the utilization of a proven
// optimum: such solvers stop at an absolute gap of this size.
const provenTolerance = 1e-7

// levelTolerance is how close to the best a lower level is proven, in shares of loss. The slack of
// ObjectiveTolerance in the level above lets a relaxation undercut the best point by the slack over
// the difference of two utilizations per share, which no tighter proof survives.
const levelTolerance = 1e-5

// fixed returns the model again with the utilization, and the loss from level 1 on, held at what
// was reached, and the next level as its objective.
func (d *descent) fixed(level int) (*milp.Model, error) {
	m := d.model.MILP
	b := milp.NewBuilder(m.Name())
	vars := make([]milp.Var, m.Variables())
	utilization := make([]milp.Term, len(vars))
	for j := range vars {
		v := m.Variable(j)
		if v.Integer {
			vars[j] = b.Integer(v.Lower, v.Upper, m.VariableName(j))
		} else {
			vars[j] = b.Continuous(v.Lower, v.Upper, m.VariableName(j))
		}
		utilization[j] = milp.Term{Var: vars[j], Coef: v.Cost}
	}
	for i := range m.Rows() {
		row := m.Row(i)
		terms := make([]milp.Term, len(row.Columns))
		for t, column := range row.Columns {
			terms[t] = milp.Term{Var: vars[column], Coef: row.Coefs[t]}
		}
		b.Row(m.RowName(i), row.Lower, terms, row.Upper)
	}
	reached := func(terms []milp.Term) float64 {
		sum := 0.0
		for _, term := range terms {
			sum += float64(term.Coef * d.answer.Values[term.Var.Index()])
		}
		return sum
	}
	b.AtLeast("c10", utilization, reached(utilization)-solver.ObjectiveTolerance)
	losses := d.model.levels.loss.terms(vars)
	if level == 0 {
		b.Minimize(losses, 0)
		return b.Build()
	}
	b.AtMost("c2", losses, reached(losses)+solver.LossTolerance)
	b.Minimize(d.model.levels.adjusted.terms(vars), 0)
	return b.Build()
}

// terms states the expression over vars.
func (e expression) terms(vars []milp.Var) []milp.Term {
	terms := make([]milp.Term, len(e.columns))
	for t, column := range e.columns {
		terms[t] = milp.Term{Var: vars[column], Coef: e.coefs[t]}
	}
	return terms
}
