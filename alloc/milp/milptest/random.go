// This file holds the random models, compared with exhaustive enumeration.

package milptest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/oracle/milporacle"
)

// family is a distribution of random models.
// Small whole coefficients are the point of it: ties and degenerate vertices are where solvers go
// wrong.
type family struct {
	name string
	// The sizes are what exhaustive enumeration can do: at most 2^8 or 10^3 integer points, each
	// with a small linear program.
	integers, continuous int // at most
	width                int // of the integer variables' bounds, at most
	equations            bool
}

// randomChecks returns one check a family, of so many models each.
func randomChecks(models int) []check {
	var all []check
	for _, f := range []family{
		{name: "binary", integers: 8, width: 1},
		{name: "binary with equations", integers: 8, width: 1, equations: true},
		{name: "integer", integers: 3, width: 9},
		{name: "continuous", continuous: 3},
		{name: "mixed", integers: 3, continuous: 2, width: 4},
		{name: "mixed with equations", integers: 3, continuous: 2, width: 4, equations: true},
	} {
		// A family asks for what its models may contain; some draws have less.
		var needs milp.Capability
		if f.integers > 0 {
			needs |= milp.CanInteger
		}
		if f.continuous > 0 {
			needs |= milp.CanContinuous
		}
		all = append(all, check{"random/" + f.name, needs, func(ctx context.Context, solver milp.Solver) error {
			return f.compare(ctx, solver, models)
		}})
	}
	return all
}

// compare solves so many models of the family both ways.
// The first model that differs ends the check and is named by its seed, from which it can be drawn again.
func (f family) compare(ctx context.Context, solver milp.Solver, models int) error {
	for seed := range uint64(models) {
		// The stream depends on the sizes of the family, too, so that a seed gives families of
		// other sizes other numbers.
		model := f.model(rand.New(rand.NewPCG(seed, uint64(f.integers+16*f.continuous))))
		want := milporacle.Solve(model)
		got, err := milp.Solve(ctx, solver, model, nil)
		if err != nil {
			return fmt.Errorf("model %d: %w", seed, err)
		}
		// Every variable has finite bounds, so no model is unbounded.
		expected := oneCase{want: milp.Infeasible}
		if want.Feasible {
			expected = oneCase{want: milp.Optimal, objective: want.Objective}
		}
		if err := expected.compare(got); err != nil {
			return fmt.Errorf("model %d: %w", seed, err)
		}
	}
	return nil
}

// model draws one model: small whole coefficients, so that ties and degenerate vertices are common,
// bounds of either sign, every sort of row.
func (f family) model(random *rand.Rand) *milp.Model {
	b := milp.NewBuilder(f.name)
	var vars []milp.Var
	for range atMost(random, f.integers) {
		// At least two values each, on both sides of 0.
		low := random.IntN(5) - 2
		vars = append(vars, b.Integer(float64(low), float64(low+1+random.IntN(max(1, f.width))), ""))
	}
	for range atMost(random, f.continuous) {
		// Halves are exact in binary, and a width of 0 fixes the variable.
		low := float64(random.IntN(9)-4) / 2
		vars = append(vars, b.Continuous(low, low+float64(random.IntN(12))/2, ""))
	}
	// No rows at all is one of the draws.
	for range random.IntN(5) {
		// The bounds are drawn so that feasible and infeasible models are both common.
		low := float64(random.IntN(21) - 14)
		terms := randomTerms(random, vars)
		switch kind := random.IntN(4); {
		// Equations make most models infeasible, so only some families have them.
		case kind == 0 && f.equations:
			b.Equal("", terms, low+8)
		case kind == 1:
			b.AtLeast("", terms, low)
		case kind == 2:
			b.Row("", low, terms, low+float64(random.IntN(6)))
		default:
			b.AtMost("", terms, low+10)
		}
	}
	if cost := randomTerms(random, vars); random.IntN(2) == 0 {
		b.Minimize(cost, float64(random.IntN(5)))
	} else {
		b.Maximize(cost, float64(random.IntN(5)))
	}
	model, err := b.Build()
	if err != nil {
		panic("milptest: " + err.Error())
	}
	return model
}

// atMost draws a number from 1 to most, 0 where most is 0.
// At least one variable of each sort that the family has.
func atMost(random *rand.Rand, most int) int {
	if most == 0 {
		return 0
	}
	return 1 + random.IntN(most)
}

// randomTerms draws a small whole coefficient for most of the variables; some of them are 0.
// Each variable is there once at most, in the order of the model.
func randomTerms(random *rand.Rand, vars []milp.Var) []milp.Term {
	var terms []milp.Term
	for _, x := range vars {
		if coef := random.IntN(13) - 6; random.IntN(4) > 0 {
			terms = append(terms, milp.Term{Var: x, Coef: float64(coef)})
		}
	}
	return terms
}
