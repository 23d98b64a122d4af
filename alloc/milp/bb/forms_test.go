// This file states programs in other forms, which must not change what the search finds: another order, sense, sign,
// origin or size of the same program.

package bb

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
)

// statement is a program in plain lists, which can be changed before it is built.
type statement struct {
	variables []milp.Variable
	rows      []statedRow
	maximise  bool
	constant  float64
}

// statedRow is a row with one coefficient for every variable.
type statedRow struct {
	lower, upper float64
	coefs        []float64
}

// stated returns a model as a statement.
func stated(m *milp.Model) *statement {
	s := &statement{maximise: m.Sense() == milp.Maximize, constant: m.Constant()}
	for j := range m.Variables() {
		s.variables = append(s.variables, m.Variable(j))
	}
	for i := range m.Rows() {
		row := m.Row(i)
		stated := statedRow{row.Lower, row.Upper, make([]float64, m.Variables())}
		for k, j := range row.Columns {
			stated.coefs[j] = row.Coefs[k]
		}
		s.rows = append(s.rows, stated)
	}
	return s
}

// model builds the program.
func (s *statement) model(t *rapid.T) *milp.Model {
	b := milp.NewBuilder("")
	vars := make([]milp.Var, len(s.variables))
	terms := func(coefs []float64) (list []milp.Term) {
		for j, coef := range coefs {
			list = append(list, milp.Term{Var: vars[j], Coef: coef})
		}
		return list
	}
	cost := make([]float64, len(vars))
	for j, v := range s.variables {
		cost[j] = v.Cost
		if v.Integer {
			vars[j] = b.Integer(v.Lower, v.Upper, "")
		} else {
			vars[j] = b.Continuous(v.Lower, v.Upper, "")
		}
	}
	for _, row := range s.rows {
		b.Row("", row.lower, terms(row.coefs), row.upper)
	}
	if s.maximise {
		b.Maximize(terms(cost), s.constant)
	} else {
		b.Minimize(terms(cost), s.constant)
	}
	m := must.Have(b.Build())(t)
	return m
}

// forms are changes of a statement that leave its optimum where it was, but for a factor of the objective.
var forms = map[string]func(t *rapid.T, s *statement) (factor float64){
	"variables in another order": func(_ *rapid.T, s *statement) float64 {
		slices.Reverse(s.variables)
		for i := range s.rows {
			slices.Reverse(s.rows[i].coefs)
		}
		return 1
	},
	"rows in another order": func(_ *rapid.T, s *statement) float64 {
		slices.Reverse(s.rows)
		return 1
	},
	"the other sense": func(_ *rapid.T, s *statement) float64 {
		s.maximise, s.constant = !s.maximise, -s.constant
		for j := range s.variables {
			s.variables[j].Cost *= -1
		}
		return -1
	},
	"a multiple of the objective": func(_ *rapid.T, s *statement) float64 {
		s.constant *= 8
		for j := range s.variables {
			s.variables[j].Cost *= 8
		}
		return 8
	},
	"a negated variable": func(_ *rapid.T, s *statement) float64 {
		if len(s.variables) > 0 {
			v := &s.variables[0]
			v.Lower, v.Upper, v.Cost = -v.Upper, -v.Lower, -v.Cost
			for i := range s.rows {
				s.rows[i].coefs[0] *= -1
			}
		}
		return 1
	},
	"another origin": func(t *rapid.T, s *statement) float64 {
		by := float64(rapid.IntRange(-5, 5).Draw(t, "by"))
		for j := range s.variables {
			v := &s.variables[j]
			v.Lower, v.Upper = v.Lower+by, v.Upper+by
			s.constant -= v.Cost * by
			for i := range s.rows {
				moved := s.rows[i].coefs[j] * by
				s.rows[i].lower, s.rows[i].upper = s.rows[i].lower+moved, s.rows[i].upper+moved
			}
		}
		return 1
	},
	"rows in other units": func(_ *rapid.T, s *statement) float64 {
		for i := range s.rows {
			unit := math.Ldexp(1, 3*(i%5)-6)
			s.rows[i].lower, s.rows[i].upper = s.rows[i].lower*unit, s.rows[i].upper*unit
			for j := range s.rows[i].coefs {
				s.rows[i].coefs[j] *= unit
			}
		}
		return 1
	},
	"every row twice": func(_ *rapid.T, s *statement) float64 {
		s.rows = append(s.rows, slices.Clone(s.rows)...)
		return 1
	},
	"two rows for a range": func(_ *rapid.T, s *statement) float64 {
		var rows []statedRow
		for _, row := range s.rows {
			rows = append(rows, statedRow{row.lower, math.Inf(1), row.coefs}, statedRow{math.Inf(-1), row.upper, row.coefs})
		}
		s.rows = rows
		return 1
	},
	"bounds as rows": func(_ *rapid.T, s *statement) float64 {
		for j := range s.variables {
			v := &s.variables[j]
			coefs := make([]float64, len(s.variables))
			coefs[j] = 1
			s.rows = append(s.rows, statedRow{v.Lower, v.Upper, coefs})
			v.Lower, v.Upper = v.Lower-7, v.Upper+7
		}
		return 1
	},
	"a variable that is nowhere": func(_ *rapid.T, s *statement) float64 {
		s.variables = append(s.variables, milp.Variable{Lower: -1, Upper: 4, Integer: true})
		for i := range s.rows {
			s.rows[i].coefs = append(s.rows[i].coefs, 0)
		}
		return 1
	},
}

// In every form a program has the same outcome and the same optimum.
func TestOtherForms(t *testing.T) {
	for name, change := range forms {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				model := genMixed(t)
				want := must.Have(milp.Solve(context.Background(), Solver{}, model, nil))(t)
				s := stated(model)
				factor := change(t, s)
				got, err := milp.Solve(context.Background(), Solver{}, s.model(t), nil)
				if err != nil || got.Status != want.Status {
					t.Fatalf("%v (%v), as it was %v", got.Status, err, want.Status)
				}
				if objective := factor * want.Objective; want.HasSolution() && math.Abs(got.Objective-objective) > 1e-6*(1+math.Abs(objective)) {
					t.Fatalf("objective %v, as it was %v", got.Objective, objective)
				}
			})
		})
	}
}

// More nodes never make an answer worse, and enough of them give the proof; what a limit leaves is between the
// bound and the optimum.
func TestLimitsNest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := genMixed(t)
		proof, err := milp.Solve(context.Background(), Solver{}, model, nil)
		if err != nil || proof.Status != milp.Optimal {
			return
		}
		sense := model.Sense()
		bound, objective, slack := math.Inf(-1), math.Inf(1), 1e-6*(1+math.Abs(proof.Objective))
		for limit := int64(1); limit <= proof.Nodes+1; limit++ {
			got, err := milp.Solve(context.Background(), Solver{}, model, &milp.Options{NodeLimit: limit})
			if err != nil || got.Nodes > limit {
				t.Fatalf("limit %d: %d nodes, %v", limit, got.Nodes, err)
			}
			if b := minimal(sense, got.Bound); b < bound-slack || b > minimal(sense, proof.Objective)+slack {
				t.Fatalf("limit %d: bound %v after %v, the optimum is %v", limit, got.Bound, minimal(sense, bound), proof.Objective)
			} else {
				bound = b
			}
			if got.HasSolution() {
				o := minimal(sense, got.Objective)
				if o > objective+slack || o < minimal(sense, proof.Objective)-slack {
					t.Fatalf("limit %d: objective %v after %v", limit, got.Objective, minimal(sense, objective))
				}
				objective = o
			}
			if limit > proof.Nodes && (got.Status != milp.Optimal || got.Nodes != proof.Nodes) {
				t.Fatalf("%v after %d nodes, the proof took %d", got.Status, got.Nodes, proof.Nodes)
			}
		}
	})
}

// Whatever is hinted at, the optimum is the same; a hint that is the optimum is never thrown away.
func TestHintsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := genMixed(t)
		want := must.Have(milp.Solve(context.Background(), Solver{}, model, nil))(t)
		hint := make([]float64, model.Variables())
		for j := range hint {
			hint[j] = rapid.SampledFrom([]float64{math.NaN(), -1, 0, 0.5, 1, 2, 1e9}).Draw(t, "hint")
		}
		hints := [][]float64{hint}
		if want.HasSolution() {
			hints = append(hints, want.Values)
		}
		for _, hint := range hints {
			got, err := milp.Solve(context.Background(), Solver{}, model, &milp.Options{Hint: hint})
			if err != nil || got.Status != want.Status || want.HasSolution() && math.Abs(got.Objective-want.Objective) > 1e-6*(1+math.Abs(want.Objective)) {
				t.Fatalf("hint %v: %+v, %v; without %+v", hint, got, err, want)
			}
		}
		if !want.HasSolution() {
			return
		}
		got, err := milp.Solve(context.Background(), Solver{}, model, &milp.Options{Hint: want.Values, NodeLimit: 1})
		if err != nil || !got.HasSolution() || minimal(model.Sense(), got.Objective) > minimal(model.Sense(), want.Objective)+1e-9 {
			t.Fatalf("the optimum as a hint, one node: %+v, %v", got, err)
		}
	})
}

// A gap that is asked for is kept, and is no excuse for a bound that is wrong.
func TestGapsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := genMixed(t)
		want, err := milp.Solve(context.Background(), Solver{}, model, nil)
		if err != nil || want.Status != milp.Optimal {
			return
		}
		for _, opts := range []milp.Options{{RelativeGap: 0.5}, {RelativeGap: 0.05}, {AbsoluteGap: 3}} {
			got, err := milp.Solve(context.Background(), Solver{}, model, &opts)
			if err != nil || got.Status != milp.Optimal {
				t.Fatalf("%+v: %v, %v", opts, got.Status, err)
			}
			distance := math.Abs(got.Objective - got.Bound)
			allowed := max(opts.AbsoluteGap, opts.RelativeGap*math.Abs(got.Bound), 1e-6*(1+math.Abs(got.Bound)))
			slack := 1e-6 * (1 + math.Abs(want.Objective))
			if distance > allowed*(1+1e-6) || minimal(model.Sense(), got.Bound) > minimal(model.Sense(), want.Objective)+slack {
				t.Fatalf("%+v: objective %v, bound %v; the optimum is %v", opts, got.Objective, got.Bound, want.Objective)
			}
		}
	})
}
