package bb

import (
	"math"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
	"pgregory.net/rapid"
)

// genLP draws a linear program with finite bounds: up to 8 variables and 8 rows of every sort.
func genLP(t *rapid.T) *milp.Model {
	b := milp.NewBuilder("")
	vars := make([]milp.Var, rapid.IntRange(1, 8).Draw(t, "variables"))
	for k := range vars {
		low := rapid.IntRange(-4, 4).Draw(t, "low")
		vars[k] = b.Continuous(float64(low), float64(low+rapid.IntRange(1, 9).Draw(t, "width")), "")
	}
	for range rapid.IntRange(1, 8).Draw(t, "rows") {
		genRow(t, b, vars)
	}
	return finish(t, b, vars)
}

// genMixed draws a program that the exhaustive twin can solve: up to 5 integers, 2 continuous.
func genMixed(t *rapid.T) *milp.Model {
	b := milp.NewBuilder("")
	var vars []milp.Var
	for range rapid.IntRange(0, 5).Draw(t, "integers") {
		low := rapid.IntRange(-3, 3).Draw(t, "low")
		vars = append(vars, b.Integer(float64(low), float64(low+rapid.IntRange(0, 4).Draw(t, "width")), ""))
	}
	for range rapid.IntRange(0, 2).Draw(t, "continuous") {
		low := rapid.IntRange(-3, 3).Draw(t, "low")
		vars = append(vars, b.Continuous(float64(low), float64(low+rapid.IntRange(0, 4).Draw(t, "width")), ""))
	}
	for range rapid.IntRange(0, 5).Draw(t, "rows") {
		genRow(t, b, vars)
	}
	return finish(t, b, vars)
}

func genRow(t *rapid.T, b *milp.Builder, vars []milp.Var) {
	low := float64(rapid.IntRange(-12, 8).Draw(t, "low"))
	terms := genTerms(t, vars)
	switch rapid.IntRange(0, 3).Draw(t, "sort") {
	case 0:
		b.Equal("", terms, low)
	case 1:
		b.AtLeast("", terms, low)
	case 2:
		b.Row("", low, terms, low+float64(rapid.IntRange(0, 6).Draw(t, "range")))
	default:
		b.AtMost("", terms, low+12)
	}
}

// genTerms draws coefficients of three sizes, so that scaling and tolerances matter.
func genTerms(t *rapid.T, vars []milp.Var) []milp.Term {
	size := math.Pow(10, float64(rapid.SampledFrom([]int{0, 0, -2, 3}).Draw(t, "size")))
	var terms []milp.Term
	for _, x := range vars {
		if coef := rapid.IntRange(-6, 6).Draw(t, "coef"); coef != 0 {
			terms = append(terms, milp.Term{Var: x, Coef: float64(coef) * size})
		}
	}
	return terms
}

func finish(t *rapid.T, b *milp.Builder, vars []milp.Var) *milp.Model {
	if cost := genTerms(t, vars); rapid.Bool().Draw(t, "maximise") {
		b.Maximize(cost, 1)
	} else {
		b.Minimize(cost, -1)
	}
	model := must.Have(b.Build())(t)
	return model
}
