package bb

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
)

// A hint that leaves integer variables out is completed by a dive.
func TestHintIsCompleted(t *testing.T) {
	b := milp.NewBuilder("hint")
	var row, objective []milp.Term
	for j := range 6 {
		x := b.Integer(0, 3, fmt.Sprint("x", j))
		row = append(row, milp.Term{Var: x, Coef: float64(2 + j)})
		objective = append(objective, milp.Term{Var: x, Coef: float64(3 + j%3)})
	}
	b.AtMost("room", row, 19)
	b.Maximize(objective, 0)
	model := must.Have(b.Build())(t)
	s := newSearch(model, &milp.Options{FeasibilityTolerance: 1e-6}, &budget{ctx: context.Background(), bytes: defaultMemoryBytes})
	hint := []float64{2, math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if s.tryHint(hint); s.incumbent == nil || s.incumbent[0] != 2 {
		t.Errorf("the hint led to %v", s.incumbent)
	}
}

// A matrix times its inverse is the identity, and a singular one has none.
func TestInvert(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for k := range 12 {
		a, copied := make([][]float64, k), make([][]float64, k)
		for i := range a {
			a[i] = make([]float64, k)
			for j := range a[i] {
				a[i][j] = float64(r.IntN(7) - 3)
			}
			a[i][(i+1)%k] += 20 // no two rows are alike, and the diagonal is no pivot
			copied[i] = append([]float64(nil), a[i]...)
		}
		inverse, ok := invert(copied)
		if !ok {
			t.Fatalf("%d rows: singular", k)
		}
		for i := range k {
			for j := range k {
				sum := 0.0
				for l := range k {
					sum += a[i][l] * inverse[l][j]
				}
				if want := map[bool]float64{true: 1}[i == j]; math.Abs(sum-want) > 1e-9 {
					t.Errorf("%d rows: entry %d, %d of the product is %g", k, i, j, sum)
				}
			}
		}
	}
	if _, ok := invert([][]float64{{1, 2}, {2, 4}}); ok {
		t.Error("a singular matrix has an inverse")
	}
}
