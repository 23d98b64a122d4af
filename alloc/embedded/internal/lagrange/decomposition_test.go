package lagrange

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/cellstest"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// drawPoint draws multipliers for s, but none on limits.
func drawPoint(t *rapid.T, s *pattern.Cells) []float64 {
	x := make([]float64, Dim(s))
	for c := range x[:LimitsAt(s)] {
		least := 0.0
		if c < len(s.Problem.Types) {
			least = -1
		}
		x[c] = rapid.Float64Range(least, 2).Draw(t, "multiplier")
	}
	return x
}

// At any multipliers the evaluation is a bound, solver.CopyBound recomputes it, and the slope is a
// subgradient: the bound at any other point lies above the tangent.
func TestSplitBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst, s := cellstest.Draw(t, draws(t))
		ev := NewDecomposition(s)
		ev.Decide(make([]problem.Choice, len(s.Problem.Apps)))
		x := drawPoint(t, s)
		bound := ev.Evaluate(x)
		if want, _ := p2oracle.Best(inst); want != nil && bound < inst.Objective(want)-solver.ObjectiveTolerance {
			t.Fatalf("bound %.12g below %.12g, which is attained", bound, inst.Objective(want))
		}
		recomputed, err := solver.CopyBound(inst, CopyPrices(s, x))
		if err != nil || recomputed != bound && math.Abs(recomputed-bound) > 1e-9 {
			t.Fatalf("bound %.12g, recomputed %.12g, %v", bound, recomputed, err)
		}
		if math.IsInf(bound, -1) {
			return
		}
		slope := slices.Clone(ev.gradient())
		y := drawPoint(t, s)
		tangent := bound
		for c := range x {
			tangent += slope[c] * (y[c] - x[c])
		}
		if at := ev.Evaluate(y); at < tangent-1e-9 {
			t.Fatalf("bound %.12g at another point, the tangent says %.12g", at, tangent)
		}
	})
}

// With choices made, the evaluation bounds every solution that agrees with them.
func TestSplitBoundOfNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst, s := cellstest.Draw(t, draws(t))
		best, _ := p2oracle.Best(inst)
		if best == nil {
			t.Skip("no solution")
		}
		choices := make([]problem.Choice, len(s.Problem.Apps))
		for i := range choices {
			if s.Problem.Apps[i].Pinnable && rapid.Bool().Draw(t, "decided") {
				choices[i] = problem.Kept
				if inst.Apps[i].Adjusted(best[i]) {
					choices[i] = problem.Freed
				}
			}
		}
		ev := NewDecomposition(s)
		ev.Decide(choices)
		if bound := ev.Evaluate(drawPoint(t, s)); bound < inst.Objective(best)-solver.ObjectiveTolerance {
			t.Fatalf("choices %v: bound %.12g below %.12g", choices, bound, inst.Objective(best))
		}
	})
}
