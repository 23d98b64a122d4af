package milporacle

import (
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
)

// build returns max 3x + 2y + z over x integer in [0, 3], y and z continuous in [0, 4], with
// x + y <= 4.5, y + 2z <= 5 and, where it is asked for, x + y + z >= 9.
func build(t *testing.T, infeasible bool) *milp.Model {
	t.Helper()
	b := milp.NewBuilder("tiny")
	x, y, z := b.Integer(0, 3, "x"), b.Continuous(0, 4, "y"), b.Continuous(0, 4, "z")
	b.AtMost("", []milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: 1}}, 4.5)
	b.AtMost("", []milp.Term{{Var: y, Coef: 1}, {Var: z, Coef: 2}}, 5)
	if infeasible {
		b.AtLeast("", []milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: 1}, {Var: z, Coef: 1}}, 9)
	}
	b.Maximize([]milp.Term{{Var: x, Coef: 3}, {Var: y, Coef: 2}, {Var: z, Coef: 1}}, 0)
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSolve(t *testing.T) {
	// By hand: x = 3 leaves y <= 1.5, then z = 1.75: 9 + 3 + 1.75.
	got := Solve(build(t, false))
	if !got.Feasible || math.Abs(got.Objective-13.75) > 1e-12 {
		t.Errorf("got %+v, want 13.75", got)
	}
	if got := Solve(build(t, true)); got.Feasible {
		t.Errorf("got %+v, want infeasible", got)
	}
}

func TestSolveRefusesInfiniteBounds(t *testing.T) {
	b := milp.NewBuilder("")
	b.Continuous(0, math.Inf(1), "")
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Solve(m)
}
