// This file tests the exhaustive search on models whose optima can be found by hand.

package milporacle

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
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
	m := must.Have(b.Build())(t)
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

// model builds a model from what a test says; every variable and row of it is used as it is.
func model(t *testing.T, write func(b *milp.Builder)) *milp.Model {
	t.Helper()
	b := milp.NewBuilder("")
	write(b)
	m := must.Have(b.Build())(t)
	return m
}

// sum returns the sum of variables with coefficient 1.
func sum(vars ...milp.Var) (terms []milp.Term) {
	for _, v := range vars {
		terms = append(terms, milp.Term{Var: v, Coef: 1})
	}
	return terms
}

// Optima that lie where the search could miss one: at an integer within fractional bounds, at a vertex of rows
// alone, at a lower side, in an equation, and at no continuous variable at all.
func TestSolveCorners(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func(b *milp.Builder)
		want  Answer
	}{
		{"integers within fractional bounds", func(b *milp.Builder) {
			x := b.Integer(-1.5, 2.5, "x")
			b.Minimize(sum(x), 10)
		}, Answer{true, 9, []float64{-1}}},
		{"no integer between bounds", func(b *milp.Builder) { b.Integer(0.25, 0.75, "x") }, Answer{}},
		{"where two rows meet", func(b *milp.Builder) {
			x, y := b.Continuous(0, 9, "x"), b.Continuous(0, 9, "y")
			b.AtMost("", []milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: 2}}, 4)
			b.AtMost("", []milp.Term{{Var: x, Coef: 2}, {Var: y, Coef: 1}}, 5)
			b.Maximize(sum(x, y), 0)
		}, Answer{true, 3, []float64{2, 1}}},
		{"lower side", func(b *milp.Builder) {
			x, y := b.Continuous(0, 9, "x"), b.Continuous(-2, 9, "y")
			b.AtLeast("", sum(x, y), 3)
			b.Minimize([]milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: 3}}, 0)
		}, Answer{true, -1, []float64{5, -2}}},
		{"equation with an integer", func(b *milp.Builder) {
			n, x := b.Integer(0, 3, "n"), b.Continuous(0, 0.5, "x")
			b.Equal("", sum(n, x), 2.25)
			b.Maximize(sum(n), 0)
		}, Answer{true, 2, []float64{2, 0.25}}},
		{"first of equals", func(b *milp.Builder) {
			n, m := b.Integer(0, 2, "n"), b.Integer(0, 2, "m")
			b.AtMost("", sum(n, m), 2)
			b.Maximize(sum(n, m), 0)
		}, Answer{true, 2, []float64{0, 2}}},
		{"parallel rows", func(b *milp.Builder) {
			x, y := b.Continuous(0, 9, "x"), b.Continuous(0, 9, "y")
			b.AtMost("", sum(x, y), 4)
			b.AtMost("", sum(x, y), 3)
			b.Maximize([]milp.Term{{Var: x, Coef: 2}, {Var: y, Coef: 1}}, 0)
		}, Answer{true, 6, []float64{3, 0}}},
	} {
		got := Solve(model(t, test.write))
		near := slices.EqualFunc(got.Values, test.want.Values, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
		if got.Feasible != test.want.Feasible || math.Abs(got.Objective-test.want.Objective) > 1e-9 || !near {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// On a box with one row the greedy order by value for weight is optimal: the continuous knapsack.
func TestSolveKnapsack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 50 {
		values, weights := make([]float64, 3), make([]float64, 3)
		for i := range values {
			values[i], weights[i] = 1+float64(rng.IntN(9)), 1+float64(rng.IntN(5))
		}
		room := float64(rng.IntN(20))
		got := Solve(model(t, func(b *milp.Builder) {
			var load, value []milp.Term
			for i := range values {
				v := b.Continuous(0, 2, fmt.Sprint("x", i))
				load, value = append(load, milp.Term{Var: v, Coef: weights[i]}), append(value, milp.Term{Var: v, Coef: values[i]})
			}
			b.AtMost("", load, room)
			b.Maximize(value, 0)
		}))
		if want := knapsack(values, weights, room); math.Abs(got.Objective-want) > 1e-9 {
			t.Errorf("%d: values %v, weights %v, room %g: %g, want %g", n, values, weights, room, got.Objective, want)
		}
	}
}

// knapsack takes at most 2 of each item, the best value for weight first.
func knapsack(values, weights []float64, room float64) (total float64) {
	order := []int{0, 1, 2}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[b]*weights[a], values[a]*weights[b]) })
	for _, i := range order {
		taken := min(2, room/weights[i])
		total += values[i] * taken
		room -= taken * weights[i]
	}
	return total
}

// What would take for ever is refused before it begins.
func TestSolveRefuses(t *testing.T) {
	for name, write := range map[string]func(b *milp.Builder){
		"infinite bound": func(b *milp.Builder) { b.Continuous(0, math.Inf(1), "") },
		"infinite lower": func(b *milp.Builder) { b.Integer(math.Inf(-1), 0, "") },
		"many integers": func(b *milp.Builder) {
			for range 21 {
				b.Integer(0, 1, "")
			}
		},
		"five continuous": func(b *milp.Builder) {
			for range 5 {
				b.Continuous(0, 1, "")
			}
		},
	} {
		m := model(t, write)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Solve(m)
		}()
	}
}

// A choice of planes that do not meet in one point is no vertex, whatever their order; others meet where they should.
func TestMeet(t *testing.T) {
	for _, test := range []struct {
		planes [][]float64
		want   []float64 // nil: they do not meet
	}{
		{nil, []float64{}},
		{[][]float64{{2, 6}}, []float64{3}},
		{[][]float64{{0, 6}}, nil},
		{[][]float64{{1, 1, 3}, {1, -1, 1}}, []float64{2, 1}},
		{[][]float64{{0, 1, 1}, {1, 0, 2}}, []float64{2, 1}}, // needs another pivot
		{[][]float64{{1, 2, 3}, {2, 4, 6}}, nil},
		{[][]float64{{1, 2, 3}, {2, 4, 7}}, nil},
		{[][]float64{{1, 0, 0, 1}, {0, 1, 0, 2}, {1, 1, 0, 3}}, nil},
		{[][]float64{{1e-3, 1, 0, 1}, {1, 1, 0, 2}, {0, 0, 4, 8}}, []float64{1000. / 999, 998. / 999, 2}},
	} {
		given := fmt.Sprint(test.planes)
		got, ok := meet(test.planes)
		near := slices.EqualFunc(got, test.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
		if ok != (test.want != nil) || ok && !near {
			t.Errorf("%s: %v, %t; want %v", given, got, ok, test.want)
		}
		if after := fmt.Sprint(test.planes); after != given {
			t.Errorf("the planes became %s, were %s", after, given)
		}
	}
}
