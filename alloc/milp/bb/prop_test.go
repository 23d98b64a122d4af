package bb

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/milporacle"
	"pgregory.net/rapid"
)

// TestSolveAgainstEnumeration holds status, objective and bound against exhaustive enumeration.
func TestSolveAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := genMixed(t)
		want := milporacle.Solve(model)
		got := must.Have(milp.Solve(context.Background(), Solver{}, model, nil))(t)
		if !want.Feasible {
			if got.Status != milp.Infeasible {
				t.Fatalf("%v, want infeasible", got.Status)
			}
			return
		}
		if got.Status != milp.Optimal || math.Abs(got.Objective-want.Objective) > 1e-6*(1+math.Abs(want.Objective)) {
			t.Fatalf("%v with objective %v, want %v", got.Status, got.Objective, want.Objective)
		}
	})
}

// TestBoundsAreValid stops searches after every number of nodes: the bound is never better
// than the optimum allows, nor the objective.
func TestBoundsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := genMixed(t)
		want := milporacle.Solve(model)
		for limit := int64(1); limit < 20; limit++ {
			got := must.Have(milp.Solve(context.Background(), Solver{}, model, &milp.Options{NodeLimit: limit}))(t)
			slack := 1e-6 * (1 + math.Abs(want.Objective))
			worse := minimal(model.Sense(), got.Bound) > minimal(model.Sense(), want.Objective)+slack
			if want.Feasible && worse || !want.Feasible && got.HasSolution() {
				t.Fatalf("after %d nodes: %v, objective %v, bound %v; the optimum is %v",
					limit, got.Status, got.Objective, got.Bound, want.Objective)
			}
		}
	})
}

// TestWeakDuality checks the Lagrangian bound for multipliers of any sort: never above the optimum
// of the relaxation.
func TestWeakDuality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRelaxation(genLP(t))
		s := newSimplex(r, func() bool { return false })
		if s.solve(math.Inf(1)) != optimal {
			t.Skip("no optimum")
		}
		best := 0.0
		for j, x := range s.x {
			best += r.cost[j] * x
		}
		y := rapid.SliceOfN(rapid.Float64Range(-2, 2), r.m, r.m).Draw(t, "multipliers")
		d := make([]float64, r.n+r.m)
		r.reducedCosts(d, r.cost, y)
		if bound := r.leastValue(d, 0); bound > best+1e-7*(1+math.Abs(best)) {
			t.Fatalf("bound %g above the optimum %g", bound, best)
		}
	})
}

// TestDeterministic solves the same models over and over: every field of the answer is the same.
func TestDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := genMixed(t)
		first := must.Have(milp.Solve(context.Background(), Solver{}, model, nil))(t)
		for range 5 {
			again, err := milp.Solve(context.Background(), Solver{}, model, nil)
			if err != nil || again.Nodes != first.Nodes || again.Status != first.Status ||
				!slices.Equal(again.Values, first.Values) {
				t.Fatalf("%+v, then %+v (%v)", first, again, err)
			}
		}
	})
}

// TestReducedCostFixing solves knapsacks from a poor starting solution, so that many variables are
// fixed by the root's reduced costs, and holds the optimum against enumeration.
func TestReducedCostFixing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := milp.NewBuilder("")
		var weight, second, value []milp.Term
		for range 7 {
			x := b.Integer(0, float64(rapid.IntRange(1, 2).Draw(t, "most")), "")
			weight = append(weight, milp.Term{Var: x, Coef: float64(rapid.IntRange(1, 30).Draw(t, "weight"))})
			second = append(second, milp.Term{Var: x, Coef: float64(rapid.IntRange(0, 9).Draw(t, "second"))})
			value = append(value, milp.Term{Var: x, Coef: float64(rapid.IntRange(1, 40).Draw(t, "value")) / 4})
		}
		b.AtMost("", weight, 50)
		b.AtMost("", second, 25)
		b.Maximize(value, 0)
		model := must.Have(b.Build())(t)
		want := milporacle.Solve(model)
		got, err := milp.Solve(context.Background(), Solver{}, model, &milp.Options{Hint: make([]float64, 7)})
		if err != nil || got.Status != milp.Optimal || math.Abs(got.Objective-want.Objective) > 1e-9 {
			t.Fatalf("%+v (%v), want %v", got, err, want.Objective)
		}
	})
}
