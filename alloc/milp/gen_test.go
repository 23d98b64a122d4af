package milp

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// genModel draws a model with every sort of variable, bound, row and name.
func genModel(t *rapid.T) *Model {
	b := NewBuilder(rapid.SampledFrom([]string{"", "m", "two words"}).Draw(t, "name"))
	var vars []Var
	for j := range rapid.IntRange(0, 6).Draw(t, "variables") {
		lower, upper := genInterval(t)
		name := genName(t, j)
		if rapid.Bool().Draw(t, "integer") {
			vars = append(vars, b.Integer(lower, upper, name))
		} else {
			vars = append(vars, b.Continuous(lower, upper, name))
		}
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "rows") {
		lower, upper := genInterval(t)
		b.Row(genName(t, i), lower, genTerms(t, vars), upper)
	}
	constant := genNumber(t)
	if rapid.Bool().Draw(t, "maximise") {
		b.Maximize(genTerms(t, vars), constant)
	} else {
		b.Minimize(genTerms(t, vars), constant)
	}
	model := must.Have(b.Build())(t)
	return model
}

// genName returns no name, or one with characters that formats find hard.
func genName(t *rapid.T, k int) string {
	return rapid.SampledFrom([]string{
		"", fmt.Sprintf("n%d", k), fmt.Sprintf("(6)[s%d,cpu]", k), fmt.Sprintf("%d", k), fmt.Sprintf("*%d", k),
		fmt.Sprintf("RHS%d", k), fmt.Sprintf("OBJ%.*s", k, "______"), fmt.Sprintf("größe%d", k), fmt.Sprintf("-%d.5", k),
	}).Draw(t, "name")
}

// genInterval returns bounds of every sort whose width a float64 holds exactly.
func genInterval(t *rapid.T) (lower, upper float64) {
	x := float64(rapid.IntRange(-1000, 1000).Draw(t, "bound")) / 8
	switch rapid.IntRange(0, 5).Draw(t, "sort") {
	case 0:
		return math.Inf(-1), math.Inf(1)
	case 1:
		return math.Inf(-1), x
	case 2:
		return x, math.Inf(1)
	case 3:
		return x, x
	case 4:
		return 0, math.Inf(1)
	}
	return x, x + float64(rapid.IntRange(0, 1000).Draw(t, "width"))/8
}

func genTerms(t *rapid.T, vars []Var) []Term {
	var terms []Term
	for range vars {
		terms = append(terms, Term{rapid.SampledFrom(vars).Draw(t, "variable"), genNumber(t)})
	}
	return terms
}

// genNumber returns any number that a model may hold.
func genNumber(t *rapid.T) float64 {
	if rapid.Bool().Draw(t, "small") {
		return float64(rapid.IntRange(-3, 3).Draw(t, "number"))
	}
	return rapid.Float64Range(-1e19, 1e19).Draw(t, "number")
}
