// This file holds the end of the simplex method to the conditions of optimality, without another solver.

package bb

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/rapidtest"
)

// TestOptimalityConditions: at an optimum the rows hold, every variable is within its bounds, reduced costs have the
// sign of the bound that the variable stands at, and the Lagrangian bound is the objective.
func TestOptimalityConditions(t *testing.T) {
	const tol = 1e-6
	ended := map[outcome]int{}
	rapidtest.Until(t, "fewer than five optima, or than five proofs of infeasibility", func() bool { return ended[optimal] >= 5 && ended[infeasible] >= 5 }, func(t *rapid.T) {
		s := newSimplex(newRelaxation(genLP(t)), func() bool { return false })
		result := s.solve(math.Inf(1))
		ended[result]++
		if result != optimal {
			return
		}
		rows := make([]float64, s.m)
		for i := range rows {
			for k := s.rowStart[i]; k < s.rowStart[i+1]; k++ {
				rows[i] += s.rowCoefs[k] * s.x[s.rowCols[k]]
			}
			if math.Abs(rows[i]+s.x[s.n+i]) > tol*(1+math.Abs(rows[i])) {
				t.Fatalf("row %d is %g, its slack %g", i, rows[i], s.x[s.n+i])
			}
		}
		objective := 0.0
		for j, x := range s.x {
			lower, upper := s.lower[j], s.upper[j]
			if x < lower-tol*(1+math.Abs(lower)) || x > upper+tol*(1+math.Abs(upper)) {
				t.Fatalf("variable %d is %g in [%g, %g]", j, x, lower, upper)
			}
			objective += s.cost[j] * x
			basic := s.place[j] >= 0
			switch d := s.d[j]; {
			case basic && math.Abs(d) > tol:
				t.Fatalf("basic variable %d has the reduced cost %g", j, d)
			case !basic && x != lower && x != upper:
				t.Fatalf("variable %d is not basic and stands at %g in [%g, %g]", j, x, lower, upper)
			case !basic && lower < upper && (x == lower && d < -tol || x == upper && d > tol):
				t.Fatalf("variable %d stands at %g in [%g, %g] with the reduced cost %g", j, x, lower, upper, d)
			}
		}
		if bound := s.bound(); math.Abs(bound-objective) > tol*(1+math.Abs(objective)) {
			t.Fatalf("bound %g, objective %g", bound, objective)
		}
	})
}

// TestCutoffIsRight: a run that is given up at a limit would not have come below it, and one that is not has.
func TestCutoffIsRight(t *testing.T) {
	cut := 0
	rapidtest.Until(t, "fewer than two runs were given up", func() bool { return cut >= 2 }, func(t *rapid.T) {
		model := genLP(t)
		full := newSimplex(newRelaxation(model), func() bool { return false })
		if full.solve(math.Inf(1)) != optimal {
			return
		}
		best := full.bound()
		for _, off := range []float64{-1, -0.1, -1e-3, 1e-3, 0.1, 1} {
			limit := best + off*(1+math.Abs(best))
			s := newSimplex(newRelaxation(model), func() bool { return false })
			switch result := s.solve(limit); {
			case result == cutoff && off > 0:
				t.Fatalf("given up at %g, the optimum is %g", limit, best)
			case result == cutoff:
				cut++
			case result != optimal || math.Abs(s.bound()-best) > 1e-6*(1+math.Abs(best)):
				t.Fatalf("limit %g: outcome %d with bound %g, the optimum is %g", limit, result, s.bound(), best)
			}
		}
	})
}

// TestRays: where a variable has no bound, the outcome is what wide boxes say: an optimum that stays where it is,
// or an objective that goes on growing with the box.
func TestRays(t *testing.T) {
	seen := map[milp.Status]int{}
	rapidtest.Until(t, "one of the outcomes is rare", func() bool { return seen[milp.Optimal] >= 5 && seen[milp.Unbounded] >= 2 && seen[milp.Infeasible] >= 2 }, func(t *rapid.T) {
		draw := func(name string, from, to int) float64 { return float64(rapid.IntRange(from, to).Draw(t, name)) }
		costs := []float64{draw("cost", -3, 3), draw("cost", -3, 3)}
		var rows [][4]float64 // two coefficients and two bounds
		for range rapid.IntRange(1, 3).Draw(t, "rows") {
			low := draw("low", -9, 9)
			row := [4]float64{draw("coef", -3, 3), draw("coef", -3, 3), low, low + draw("width", 0, 9)}
			if rapid.Bool().Draw(t, "open") {
				row[2] = math.Inf(-1)
			}
			rows = append(rows, row)
		}
		integer := rapid.Bool().Draw(t, "integer")
		solve := func(most float64) milp.Solution {
			b := milp.NewBuilder("")
			add := b.Continuous
			if integer {
				add = b.Integer
			}
			x, y := add(0, most, ""), add(0, most, "")
			for _, row := range rows {
				b.Row("", row[2], []milp.Term{{Var: x, Coef: row[0]}, {Var: y, Coef: row[1]}}, row[3])
			}
			b.Minimize([]milp.Term{{Var: x, Coef: costs[0]}, {Var: y, Coef: costs[1]}}, 0)
			model := must.Have(b.Build())(t)
			// Some integer programs without bounds have no proof in any number of nodes.
			got := must.Have(milp.Solve(context.Background(), Solver{}, model, &milp.Options{NodeLimit: 2000}))(t)
			return got
		}
		open, small, large := solve(math.Inf(1)), solve(300), solve(600)
		seen[open.Status]++
		switch {
		case open.Status == milp.LimitReached || small.Status == milp.LimitReached || large.Status == milp.LimitReached:
		case large.Status == milp.Infeasible:
			if open.Status != milp.Infeasible {
				t.Fatalf("%v, though no point is within 600", open.Status)
			}
		case large.Objective < small.Objective-50:
			if open.Status != milp.Unbounded {
				t.Fatalf("%v, though %v within 300 becomes %v within 600", open.Status, small.Objective, large.Objective)
			}
		case open.Status != milp.Optimal || math.Abs(open.Objective-large.Objective) > 1e-6*(1+math.Abs(large.Objective)):
			t.Fatalf("%v with %v, within 600 it is %v", open.Status, open.Objective, large.Objective)
		}
	})
}

// TestBytesGrow: a larger model needs more memory, and the square of the rows outweighs the rest.
func TestBytesGrow(t *testing.T) {
	base := bytesFor(100, 100, 500)
	for name, larger := range map[string]float64{
		"rows": bytesFor(101, 100, 500), "variables": bytesFor(100, 101, 500), "coefficients": bytesFor(100, 100, 501),
	} {
		if larger <= base {
			t.Errorf("more %s need %g bytes, fewer %g", name, larger, base)
		}
	}
	if inverse := 8.0 * 10_000 * 10_000; bytesFor(10_000, 10, 10) < inverse || bytesFor(10_000, 10, 10) > 1.1*inverse {
		t.Errorf("%g bytes for an inverse of %g", bytesFor(10_000, 10, 10), inverse)
	}
}
