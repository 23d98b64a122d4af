package lagrange

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// With prices on pieces, whatever these are, the evaluation is a bound, no better than solver.DualBound proves, and below every line by its
// slope: it is convex.
func TestPiecesAgree(t *testing.T) {
	proved := 0
	rapidtest.Until(t, "fewer than 200 instances with an optimum", func() bool { return proved > 200 }, func(t *rapid.T) {
		inst := solvertest.Spread(rapid.Uint64Range(0, 20_000).Draw(t, "instance"))
		evenCosts(inst)
		p := problem.New(inst)
		if p.Impossible() {
			return
		}
		d := NewDual(p, rapid.Bool().Draw(t, "coarse"))
		if !d.WithPieces() {
			return
		}
		draw := func() []float64 {
			x := make([]float64, d.Dim())
			for c := range x {
				x[c] = rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1)).Draw(t, "price")
			}
			return x
		}
		x, y := draw(), draw()
		at := d.Evaluate(x)
		slope := slices.Clone(d.gradient())
		want, err := solver.DualBound(inst, d.Multipliers(x))
		if err != nil || at < want-1e-9 {
			t.Fatalf("%.12g, solver.DualBound %.12g, %v", at, want, err)
		}
		line := at
		for c := range y {
			line += slope[c] * (y[c] - x[c])
		}
		if beyond := d.Evaluate(y); beyond < line-1e-9 && !math.IsInf(at, 0) {
			t.Fatalf("%.12g, below the slope at %.12g", beyond, line)
		}
		best, _ := p2oracle.Best(inst)
		if best == nil {
			return
		}
		if optimum := inst.Objective(best); at < optimum-solver.ObjectiveTolerance {
			t.Fatalf("%.12g, the optimum is %.12g", at, optimum)
		}
		proved++
	})
}
