// This file tests branching on how much of a kind is used.

package lagrange

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/cellstest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// use returns how much of kind k the counts use in all.
func use(inst *solver.Instance, counts solver.Counts, k int) int64 {
	var used int64
	for i := range counts {
		used += inst.Apps[i].Demand[k] * solver.Containers(counts[i])
	}
	return used
}

// With limits, at any multipliers, the evaluation bounds every solution within them, and its subgradient
// supports it.
func TestBoundWithinLimits(t *testing.T) {
	limited := 0
	rapidtest.Until(t, "no instance had a solution", func() bool { return limited > 0 }, func(t *rapid.T) {
		inst, s := cellstest.Draw(t, draws(t))
		best, _ := p2oracle.Best(inst)
		if best == nil {
			t.Skip("no solution")
		}
		ev := NewDecomposition(s)
		ev.Limits.Hi = slices.Clone(inst.Total)
		for k, total := range inst.Total {
			used := use(inst, best, k)
			ev.Limits.Lo[k] = rapid.Int64Range(0, used).Draw(t, "lo")
			ev.Limits.Hi[k] = rapid.Int64Range(used, total).Draw(t, "hi")
		}
		ev.Decide(make([]problem.Choice, len(s.Problem.Apps)))
		point := func() []float64 {
			x := drawPoint(t, s)
			for k := range inst.Total {
				x[LimitsAt(s)+k] = rapid.Float64Range(-1, 1).Draw(t, "sigma") / float64(max(1, inst.Total[k]))
			}
			return x
		}
		x := point()
		bound := ev.Evaluate(x)
		if bound < inst.Objective(best)-solver.ObjectiveTolerance {
			t.Fatalf("limits %v: bound %.12g below %.12g", ev.Limits, bound, inst.Objective(best))
		}
		slope := slices.Clone(ev.gradient())
		y := point()
		tangent := bound
		for c := range x {
			tangent += slope[c] * (y[c] - x[c])
		}
		if at := ev.Evaluate(y); at < tangent-1e-9 {
			t.Fatalf("bound %.12g at another point, the tangent says %.12g", at, tangent)
		}
		limited++
	})
}
