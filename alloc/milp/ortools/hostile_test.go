package ortools_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/milptest"
	"github.com/apportion/apportion/internal/rapidtest"
)

// extremes are numbers that a model may hold and an engine may stumble over.
var extremes = []float64{
	0, 1, -1, 0.5, 7, -12, 1000, 1e-9, 1e6, 1e12, 1e15, -1e15, 1e-300, -1e-300, 5e-324, 1e-13, 1e-10, 1e9, -1e9, 1 << 31, 1 << 53, -1 << 53, 1<<53 + 2,
	1 << 62, 9.3e18, -9.3e18, 9.9e19, -9.9e19, 1. / 3,
}

// genHostile draws a model with such numbers anywhere.
func genHostile(t *rapid.T) *milp.Model {
	number := rapid.SampledFrom(extremes)
	bound := rapid.SampledFrom(append([]float64{math.Inf(1), math.Inf(-1)}, extremes...))
	pair := func(name string) (float64, float64) {
		a, b := bound.Draw(t, name), bound.Draw(t, name)
		a, b = math.Min(a, b), math.Max(a, b)
		if math.IsInf(a, 1) {
			a = 0
		}
		if math.IsInf(b, -1) {
			b = 0
		}
		return a, b
	}
	b := milp.NewBuilder("")
	vars := make([]milp.Var, rapid.IntRange(0, 4).Draw(t, "variables"))
	terms := func() []milp.Term {
		var all []milp.Term
		for _, x := range vars {
			all = append(all, milp.Term{Var: x, Coef: number.Draw(t, "coef")})
		}
		return all
	}
	for j := range vars {
		lower, upper := pair("variable")
		if rapid.Bool().Draw(t, "integer") {
			vars[j] = b.Integer(lower, upper, "\xff%s\"")
		} else {
			vars[j] = b.Continuous(lower, upper, "")
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "rows") {
		lower, upper := pair("row")
		b.Row("", lower, terms(), upper)
	}
	b.Maximize(terms(), number.Draw(t, "constant"))
	model, err := b.Build()
	if err != nil {
		t.Skip(err.Error())
	}
	return model
}

// TestHostile: whatever a model holds, the process goes on and the call ends, with an answer that
// the referee has passed or with an error.
func TestHostile(t *testing.T) {
	all := engines(t)
	outcomes := map[string]int{}
	rapidtest.Until(t, "no model was solved", func() bool { return outcomes["highs optimal"]+outcomes["highs infeasible"] > 0 }, func(t *rapid.T) {
		model := genHostile(t)
		for _, e := range all {
			got, err := milp.Solve(context.Background(), e.solver, model, &milp.Options{TimeLimit: 100 * time.Millisecond})
			var wrong *milp.WrongAnswerError
			var refused *milp.CapabilityError
			switch {
			case errors.As(err, &wrong):
				outcomes[e.name+" wrong"]++
			case errors.As(err, &refused):
			case err != nil:
				outcomes[e.name+" error"]++
			default:
				outcomes[e.name+" "+got.Status.String()]++
			}
		}
	})
	t.Log(outcomes)
}

// FuzzSolve builds a model out of bytes and hands it to every engine: the process goes on, and the call
// ends, with an answer that the referee has passed or with an error.
func FuzzSolve(f *testing.F) {
	all := engines(f)
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 0))
		var bytes []byte
		for range 500 {
			bytes = binary.LittleEndian.AppendUint64(bytes, random.Uint64()>>random.IntN(64))
		}
		f.Add(bytes)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		model := genHostile(t)
		for _, e := range all {
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			start := time.Now()
			_, err := milp.Solve(ctx, e.solver, model, nil)
			cancel()
			if took := time.Since(start); took > 2*milptest.Patience {
				t.Errorf("%s takes %v, %v", e.name, took, err)
			}
		}
	}))
}
