// This file tests what becomes of proofs that are wrong.

package mip_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// modest is a back-end that takes an answer for the best that is worse by a step.
type modest struct {
	bb.Solver
	step float64
}

// step is what an answer is worse by, at least: more than tolerances, and less than most containers bring.
const step = 1e-3

func (m modest) Solve(ctx context.Context, model *milp.Model, opts *milp.Options) (milp.Solution, error) {
	best, err := milp.Solve(ctx, m.Solver, model, opts)
	if err != nil || !best.HasSolution() {
		return best, err
	}
	worse, err := limited(model, best.Objective-m.step)
	if err != nil {
		return milp.Solution{}, err
	}
	second, err := milp.Solve(ctx, m.Solver, worse, opts)
	if err != nil || !second.HasSolution() {
		return best, err
	}
	return second, nil
}

// limited is the model with the row that its objective, which is maximized, is at most limit.
func limited(model *milp.Model, limit float64) (*milp.Model, error) {
	b := milp.NewBuilder("limited")
	var costs []milp.Term
	vars := make([]milp.Var, model.Variables())
	for j := range vars {
		v := model.Variable(j)
		if v.Integer {
			vars[j] = b.Integer(v.Lower, v.Upper, "")
		} else {
			vars[j] = b.Continuous(v.Lower, v.Upper, "")
		}
		costs = append(costs, milp.Term{Var: vars[j], Coef: v.Cost})
	}
	for i := range model.Rows() {
		row := model.Row(i)
		var terms []milp.Term
		for k, j := range row.Columns {
			terms = append(terms, milp.Term{Var: vars[j], Coef: row.Coefs[k]})
		}
		b.Row("", row.Lower, terms, row.Upper)
	}
	b.AtMost("", costs, limit-model.Constant())
	b.Maximize(costs, model.Constant())
	return b.Build()
}

// A proof is wrong where more is attained, and only there.
func TestWrongProofIsRefuted(t *testing.T) {
	refuted, near := 0, 0
	for seed := range uint64(200) {
		inst := solvertest.General(seed)
		right, err := mip.New(bb.Solver{}, mip.Verbatim, nil).Solve(t.Context(), inst)
		if err != nil {
			t.Fatalf("%d: an honest back-end: %v", seed, err)
		}
		answer, err := mip.New(modest{step: step}, mip.Verbatim, nil).Solve(t.Context(), inst)
		var wrong *milp.WrongAnswerError
		switch {
		case errors.As(err, &wrong):
			// Points next to the answer refute some proofs before anybody is asked.
			if strings.Contains(err.Error(), "is attained") && strings.Contains(err.Error(), "modest") {
				refuted++
			} else {
				near++
			}
		case err != nil:
			t.Errorf("%d: %v", seed, err)
		case answer.Status.HasSolution() && answer.Bound < right.Objective-1e-6:
			t.Errorf("%d: at most %g is believed, and %g can be had", seed, answer.Bound, right.Objective)
		}
	}
	t.Logf("%d refuted by neighbours, %d by what is attained", near, refuted)
	if refuted < 5 {
		t.Errorf("only %d proofs were refuted by what is attained", refuted)
	}
}

// Nobody may say that there is no allocation where there is one.
func TestWrongInfeasibility(t *testing.T) {
	liar := saying{asked: new(int), at: 1, answer: milp.Solution{Status: milp.Infeasible}}
	var wrong *milp.WrongAnswerError
	if s, err := mip.New(liar, mip.Verbatim, nil).Solve(t.Context(), solvertest.Tiny()); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "no allocation") {
		t.Errorf("%+v, %v", s, err)
	}
}

// A back-end whose tolerance hides a better answer does not make its proof a wrong one, but the bound is no less than what
// is attained, and the answer is not called optimal.
func TestBoundIsAttainable(t *testing.T) {
	// Containers of two sizes that differ by less than a part in a million: 500 of the second are the most.
	inst := &solver.Instance{Capacity: []apportion.Resources{{1e15}}, Total: apportion.Resources{1e15}, LossBudget: 2}
	for _, demand := range []int64{1_998_000_000_000, 1_998_000_900_000} {
		value := float64(demand) / 1e15
		inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{demand}, Max: 500, Share: 0.4995, Value: value, Delta: value})
	}
	const most, hidden, tolerance = 0.99900045, 2e-7, 1e-7 // tolerance: of general solvers, as doc.go says
	for by, want := range map[float64]solver.Status{hidden: solver.Feasible, 0: solver.Optimal} {
		s, err := mip.New(modest{step: by}, mip.Disjunctive, nil).Solve(t.Context(), inst)
		if err != nil || s.Status != want || s.Bound < most-solver.ObjectiveTolerance {
			t.Errorf("worse by %g: %+v, %v; want %v and a bound of %.12g", by, s, err, want, most)
		}
		if s.Status == solver.Optimal && s.Objective < most-tolerance {
			t.Errorf("optimal with %.12g, and %.12g is attained", s.Objective, most)
		}
	}
}
