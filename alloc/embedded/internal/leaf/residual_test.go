package leaf

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/cellstest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// residualInstance is what is left of inst when exactly the applications of free are: the others hold
// their containers and loss for ever.
func residualInstance(inst *solver.Instance, free []bool) *solver.Instance {
	rest := instancetest.Clone(inst)
	rest.Apps = nil
	for i := range inst.Apps {
		app := inst.Apps[i]
		if free[i] {
			app.Running, app.Previous = false, nil
			rest.Apps = append(rest.Apps, app)
			continue
		}
		rest.LossBudget -= app.Loss(solver.Containers(app.Previous))
		for _, placed := range app.Previous {
			for k, q := range app.Demand {
				rest.Capacity[placed.Server][k] -= placed.Count * q
			}
		}
	}
	return rest
}

// For any set the residual bound is a bound, what is packed is a solution, and the exact answer is the
// exhaustive twin's.
func TestResidualAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst, s := cellstest.Draw(t, draws(t))
		free := make([]bool, len(s.Problem.Apps))
		var fixed float64
		for i := range free {
			a := &s.Problem.Apps[i]
			free[i] = !a.Pinnable || rapid.Bool().Draw(t, "free")
			if !free[i] {
				fixed += s.Problem.Types[a.Type].Value*float64(a.Held) + inst.Apps[i].Stay
			}
		}
		l := NewLeaves(s)
		if !l.R.Fix(func(i int32) bool { return free[i] }) {
			return
		}
		rest := residualInstance(inst, free)
		want, _ := p2oracle.Best(rest)
		l.R.Solve(math.Inf(-1))
		l.K.pack(math.Inf(1))
		packed, value := l.K.Found, l.K.BestValue
		if want == nil {
			if packed {
				t.Fatalf("packed %v where nothing fits", l.K.bestCount)
			}
			return
		}
		optimum := fixed + rest.Objective(want)
		if l.R.Bound < optimum-solver.ObjectiveTolerance || packed && value > optimum+solver.ObjectiveTolerance {
			t.Fatalf("bound %.12g, packed %v worth %.12g, the optimum is %.12g", l.R.Bound, packed, value, optimum)
		}
		l.K.Found = false
		cut := optimum - rapid.SampledFrom([]float64{1e-6, 0.01, 1}).Draw(t, "cut")
		if !l.K.SettleExactly(context.Background(), cut, 1<<20) || !l.K.Found || math.Abs(l.K.BestValue-optimum) > solver.ObjectiveTolerance {
			t.Fatalf("exactly: found %v worth %.12g, the optimum is %.12g", l.K.Found, l.K.BestValue, optimum)
		}
		l.K.Found = false
		if !l.K.SettleExactly(context.Background(), optimum+1e-9, 1<<20) || l.K.Found {
			t.Fatalf("exactly: found %v, more than the optimum %.12g", l.K.BestValue, optimum)
		}
		l.Best.keep(&l.K, 0)
	})
}
