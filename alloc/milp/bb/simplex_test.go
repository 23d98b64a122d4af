package bb

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// inverseError returns the largest entry of B^-1 B - I and of norms against their definition.
func inverseError(s *simplex) float64 {
	b := mat.NewDense(s.m, s.m, nil)
	for r, j := range s.basis {
		if i := int(j) - s.n; i >= 0 {
			b.Set(i, r, 1)
			continue
		}
		for at := s.columns.Start[j]; at < s.columns.Start[j+1]; at++ {
			b.Set(int(s.columns.Rows[at]), r, s.columns.Coefs[at])
		}
	}
	var product mat.Dense
	product.Mul(mat.NewDense(s.m, s.m, s.inverse), b)
	worst := 0.0
	for r := range s.m {
		norm := 0.0
		for i := range s.m {
			want := 0.0
			if i == r {
				want = 1
			}
			worst = math.Max(worst, math.Abs(product.At(r, i)-want))
			norm += s.inverse[r*s.m+i] * s.inverse[r*s.m+i]
		}
		worst = math.Max(worst, math.Abs(norm-s.norms[r])/(1+norm))
	}
	return worst
}

// TestInverse checks the inverse after updates and after a fresh factorisation, and that the
// latter leaves values and reduced costs where they were.
func TestInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSimplex(newRelaxation(genLP(t)), func() bool { return false })
		s.solve(math.Inf(1))
		if e := inverseError(s); e > 1e-8 {
			t.Fatalf("error %g after %d updates", e, s.pivots)
		}
		x, d := append([]float64(nil), s.x...), append([]float64(nil), s.d...)
		if !s.refactor() {
			t.Fatal("singular")
		}
		if e := inverseError(s); e > 1e-9 {
			t.Fatalf("error %g in a fresh inverse", e)
		}
		for j := range x {
			if math.Abs(x[j]-s.x[j]) > 1e-7*(1+math.Abs(x[j])) || math.Abs(d[j]-s.d[j]) > 1e-7 {
				t.Fatalf("variable %d: x %g, then %g; d %g, then %g", j, x[j], s.x[j], d[j], s.d[j])
			}
		}
	})
}

// TestSingularBasis: a basis that is singular gives way to the slacks.
func TestSingularBasis(t *testing.T) {
	b := milp.NewBuilder("")
	x, y := b.Continuous(0, 1, ""), b.Continuous(0, 1, "")
	for range 2 {
		b.AtMost("", []milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: 1}}, 1)
	}
	model := must.Have(b.Build())(t)
	s := newSimplex(newRelaxation(model), func() bool { return false })
	s.basis, s.place = []int32{0, 1}, []int32{0, 1, -1, -1}
	if s.refactor() {
		t.Error("two equal columns were inverted")
	}
	if e := inverseError(s); e != 0 || s.place[2] != 0 || s.place[0] != -1 {
		t.Errorf("error %g, places %v", e, s.place)
	}
}

// TestWarmStart changes bounds at random and solves on from the last basis, as the search does:
// outcome and objective are those of a fresh start.
func TestWarmStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := genLP(t)
		r := newRelaxation(model)
		warm := newSimplex(r, func() bool { return false })
		for range 6 {
			j := rapid.IntRange(0, r.n-1).Draw(t, "variable")
			low := rapid.IntRange(-4, 8).Draw(t, "low")
			r.lower[j], r.upper[j] = float64(low), float64(low+rapid.IntRange(0, 4).Draw(t, "width"))
			cold := newSimplex(r, func() bool { return false })
			got, want := warm.solve(math.Inf(1)), cold.solve(math.Inf(1))
			if got != want {
				t.Fatalf("outcome %v, fresh %v", got, want)
			}
			if a, b := model.Objective(warm.x[:r.n]), model.Objective(cold.x[:r.n]); got == optimal && math.Abs(a-b) > 1e-6*(1+math.Abs(b)) {
				t.Fatalf("objective %g, fresh %g", a, b)
			}
		}
	})
}

// TestFreeAndUnbounded: costs on free variables go through the shifted costs and the primal method.
func TestFreeAndUnbounded(t *testing.T) {
	for _, c := range []struct {
		name string
		low  float64
		want outcome
	}{
		{"bounded by a row", -3, optimal},
		{"no row", math.Inf(-1), unbounded},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := milp.NewBuilder("")
			x, y := b.Continuous(math.Inf(-1), math.Inf(1), ""), b.Continuous(0, math.Inf(1), "")
			b.Row("", c.low, []milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: -1}}, math.Inf(1))
			b.Minimize([]milp.Term{{Var: x, Coef: 1}}, 0)
			model := must.Have(b.Build())(t)
			s := newSimplex(newRelaxation(model), func() bool { return false })
			got := s.solve(math.Inf(1))
			if got != c.want || got == optimal && (s.x[0] != -3 || math.Abs(s.bound()/s.costScale+3) > 1e-12) {
				t.Errorf("outcome %v at %v", got, s.x)
			}
		})
	}
}

// TestScale: rows and costs are scaled by powers of two, so the relaxation is exact.
func TestScale(t *testing.T) {
	for _, c := range []struct {
		numbers []float64
		want    float64
	}{{nil, 1}, {[]float64{0}, 1}, {[]float64{3, -7}, 1.0 / 8}, {[]float64{1}, 0.5}, {[]float64{0.3e-3}, 2048}} {
		if got := scaleOf(c.numbers); got != c.want {
			t.Errorf("scale of %v: %v, want %v", c.numbers, got, c.want)
		}
	}
}

// TestPermutation shuffles variables and rows and multiplies rows by powers of ten: the optimum of
// a model too large to enumerate does not move.
func TestPermutation(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	for seed := range uint64(20) {
		first := 0.0
		for variant := range uint64(4) {
			got, err := milp.Solve(context.Background(), Solver{}, shuffled(t, seed, variant), nil)
			if err != nil || got.Status != milp.Optimal {
				t.Fatalf("seed %d, variant %d: %v, %v", seed, variant, got.Status, err)
			}
			if variant == 0 {
				first = got.Objective
			} else if math.Abs(got.Objective-first) > 1e-6*math.Abs(first) {
				t.Errorf("seed %d, variant %d: %v, before %v", seed, variant, got.Objective, first)
			}
		}
	}
}

// shuffled returns a model of 15 integers, 5 continuous variables and 12 rows that the seed draws,
// in an order and with row factors that the variant draws.
func shuffled(t *testing.T, seed, variant uint64) *milp.Model {
	random, order := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2+variant))
	const n, m = 20, 12
	var a [m][n]float64
	var cost, rhs [n]float64
	for j := range n {
		cost[j] = float64(1 + random.IntN(30))
		for i := range m {
			a[i][j] = float64(random.IntN(20))
			rhs[i] += a[i][j] * 1.3
		}
	}
	columns, rows := order.Perm(n), order.Perm(m)
	b := milp.NewBuilder("")
	var vars [n]milp.Var
	for _, j := range columns {
		if j < 15 {
			vars[j] = b.Integer(0, 3, "")
		} else {
			vars[j] = b.Continuous(0, 3, "")
		}
	}
	for _, i := range rows {
		factor := math.Pow(10, float64(order.IntN(7)-2))
		var terms []milp.Term
		for _, j := range columns {
			terms = append(terms, milp.Term{Var: vars[j], Coef: a[i][j] * factor})
		}
		b.AtMost("", terms, rhs[i]*factor)
	}
	var terms []milp.Term
	for _, j := range columns {
		terms = append(terms, milp.Term{Var: vars[j], Coef: cost[j]})
	}
	b.Maximize(terms, 0)
	model := must.Have(b.Build())(t)
	return model
}

// TestPrimalFlips: variables that reach their other bound before any row stops them need no pivot.
func TestPrimalFlips(t *testing.T) {
	b := milp.NewBuilder("")
	x, y := b.Continuous(0, 1, ""), b.Continuous(0, 5, "")
	b.AtMost("", []milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: 1}}, 10)
	b.Maximize([]milp.Term{{Var: x, Coef: 1}, {Var: y, Coef: 1}}, 0)
	model := must.Have(b.Build())(t)
	s := newSimplex(newRelaxation(model), func() bool { return false })
	s.recompute()
	if got := s.primal(); got != optimal || s.x[0] != 1 || s.x[1] != 5 || s.total != 0 {
		t.Errorf("outcome %v at %v after %d pivots", got, s.x, s.total)
	}
}

// TestProvesInfeasible: a combination of rows proves infeasibility only when its whole range over
// the bounds lies on one side of 0.
func TestProvesInfeasible(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		row, lower, upper []float64
		want              bool
	}{
		{[]float64{1, 1}, []float64{1, 0}, []float64{2, 5}, true},
		{[]float64{1, 1}, []float64{-2, -5}, []float64{-1, 0}, true},
		{[]float64{1, -1}, []float64{1, 0}, []float64{2, 5}, false},
		{[]float64{1, 1}, []float64{0, 0}, []float64{2, 5}, false},                   // 0 is attained
		{[]float64{1, 1}, []float64{1e-12, 0}, []float64{2, 5}, false},               // within rounding
		{[]float64{1, 1}, []float64{1, -inf}, []float64{2, 5}, false},                // no end below
		{[]float64{1, 1e-14}, []float64{1, -inf}, []float64{2, inf}, true},           // noise on a free variable
		{[]float64{1, -1}, []float64{1, -inf}, []float64{2, 0.5}, true},              // 1 - 0.5
		{[]float64{-1, 1}, []float64{-inf, 3}, []float64{2, inf}, true},              // -2 + 3
		{[]float64{1, 1}, []float64{1e6 + 1e-4, -1e6}, []float64{1e6 + 1, 0}, false}, // 1e-4 of 1e6: rounding
	} {
		s := &simplex{relaxation: &relaxation{lower: c.lower, upper: c.upper}, row: c.row}
		if got := s.provesInfeasible(); got != c.want {
			t.Errorf("%v over %v..%v: %v", c.row, c.lower, c.upper, got)
		}
	}
}

// TestPerturb: costs move so that the basis stays dual feasible, and solve still ends at the true
// optimum.
func TestPerturb(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := genLP(t)
		s := newSimplex(newRelaxation(model), func() bool { return false })
		want := s.solve(math.Inf(1))
		objective := model.Objective(s.x[:s.n])
		if want != optimal {
			t.Skip("no optimum")
		}
		s.perturb()
		for j, d := range s.d {
			if s.place[j] < 0 && s.lower[j] < s.upper[j] && (s.x[j] == s.lower[j] && d < -dualTol || s.x[j] == s.upper[j] && d > dualTol) {
				t.Fatalf("variable %d at %g has reduced cost %g", j, s.x[j], d)
			}
		}
		if again := s.solve(math.Inf(1)); again != want || math.Abs(model.Objective(s.x[:s.n])-objective) > 1e-6*(1+math.Abs(objective)) {
			t.Fatalf("outcome %v with %g, before %g", again, model.Objective(s.x[:s.n]), objective)
		}
	})
}

// TestTightenRoot: with room 10 to the best objective, a reduced cost of 3 leaves three steps up
// from the lower bound, one of -4 two steps down from the upper; continuous variables stay.
func TestTightenRoot(t *testing.T) {
	b := milp.NewBuilder("")
	b.Integer(0, 9, "")
	b.Integer(0, 9, "")
	b.Continuous(0, 9, "")
	b.Integer(0, 9, "")
	model := must.Have(b.Build())(t)
	s := newSearch(model, &milp.Options{}, &budget{ctx: context.Background()})
	s.rootCosts = []float64{3, -4, 5, 0}
	s.rootBound, s.best = 90, 100
	s.tightenRoot()
	if s.rootUpper[0] != 9 || s.pruned < math.Inf(1) {
		t.Error("tightened without an incumbent")
	}
	s.incumbent = []float64{0, 0, 0, 0}
	s.tightenRoot()
	if !slices.Equal(s.rootLower, []float64{0, 7, 0, 0}) || !slices.Equal(s.rootUpper, []float64{3, 9, 9, 9}) || s.pruned != 100 {
		t.Errorf("bounds %v..%v, pruned %v", s.rootLower, s.rootUpper, s.pruned)
	}
}

// TestHintTightensRoot: a starting solution fixes variables as soon as the root is solved.
func TestHintTightensRoot(t *testing.T) {
	model := shuffled(t, 1, 0)
	best := must.Have(milp.Solve(context.Background(), Solver{}, model, nil))(t)
	opts := &milp.Options{RelativeGap: 1e-9, AbsoluteGap: 1e-9, FeasibilityTolerance: 1e-6}
	s := newSearch(model, opts, &budget{ctx: context.Background()})
	s.tryHint(best.Values)
	before := append([]float64(nil), s.rootUpper...)
	s.process(s.current)
	if s.incumbent == nil || slices.Equal(before, s.rootUpper) {
		t.Error("no bound moved")
	}
}
