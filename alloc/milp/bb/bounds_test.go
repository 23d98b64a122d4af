package bb

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
	"pgregory.net/rapid"
)

// model returns what add makes of an empty builder.
func model(t interface {
	Helper()
	Fatal(...any)
}, add func(b *milp.Builder)) *milp.Model {
	t.Helper()
	b := milp.NewBuilder("")
	add(b)
	m := must.Have(b.Build())(t)
	return m
}

// searching returns a search of the model with the default options and no limits.
func searching(m *milp.Model) *search {
	opts := &milp.Options{
		RelativeGap: milp.DefaultRelativeGap, AbsoluteGap: milp.DefaultAbsoluteGap,
		FeasibilityTolerance: milp.DefaultFeasibilityTolerance, IntegralityTolerance: milp.DefaultIntegralityTolerance,
	}
	return newSearch(m, opts, &budget{ctx: context.Background(), bytes: defaultMemoryBytes})
}

// costs returns a model with one variable for each cost, integer where the cost is listed in integers.
func costs(t *testing.T, constant float64, cost ...float64) *milp.Model {
	return model(t, func(b *milp.Builder) {
		var terms []milp.Term
		for _, c := range cost {
			terms = append(terms, milp.Term{Var: b.Integer(0, 100, ""), Coef: c})
		}
		b.Minimize(terms, constant)
	})
}

// TestGrain: the greatest common divisor of whole costs on integer variables; one cost of another sort and
// there is none.
func TestGrain(t *testing.T) {
	for _, c := range []struct {
		cost []float64
		want float64 // in the model's units
	}{
		{[]float64{6, -9, 15}, 3}, {[]float64{0, 4}, 4}, {[]float64{0, 0}, 0}, {nil, 0}, {[]float64{7}, 7}, {[]float64{3, 5}, 1},
		{[]float64{2, 0.5}, 0}, {[]float64{1 << 54, 2}, 0}, {[]float64{1 << 53, 1 << 50}, 1 << 50},
	} {
		m := costs(t, 0, c.cost...)
		r := newRelaxation(m)
		if got := grainOf(m, r) / math.Abs(r.costScale); got != c.want {
			t.Errorf("costs %v: grain %v, want %v", c.cost, got, c.want)
		}
	}
	m := model(t, func(b *milp.Builder) {
		x, y := b.Integer(0, 1, ""), b.Continuous(0, 1, "")
		b.Maximize([]milp.Term{{Var: x, Coef: 2}, {Var: y, Coef: 4}}, 0)
	})
	if got := grainOf(m, newRelaxation(m)); got != 0 {
		t.Errorf("a cost on a continuous variable: grain %v", got)
	}
}

// TestRoundUp: a bound rises to the next multiple of the grain, stays where it is a multiple up to rounding,
// and never falls.
func TestRoundUp(t *testing.T) {
	s := &search{grain: 0.5}
	for _, c := range []struct{ bound, want float64 }{
		{0.2, 0.5}, {0.5, 0.5}, {0.5 + 1e-9, 0.5 + 1e-9}, {0.5 - 1e-9, 0.5}, {-0.2, 0}, {-0.7, -0.5},
		{math.Inf(-1), math.Inf(-1)}, {math.Inf(1), math.Inf(1)},
	} {
		if got := s.roundUp(c.bound); got != c.want {
			t.Errorf("%v: %v, want %v", c.bound, got, c.want)
		}
	}
	s.grain = 0
	if got := s.roundUp(0.2); got != 0.2 {
		t.Errorf("without a grain: %v", got)
	}
}

// TestLimit: a node must beat the best point by a grain, or by the gap where that is more; without a point it
// must only be there.
func TestLimit(t *testing.T) {
	s := searching(costs(t, 0, 4, 8)) // scaled to 1/4 and 1/2 of which the grain is 4/16
	if got := s.limit(); !math.IsInf(got, 1) {
		t.Errorf("without a point: %v", got)
	}
	s.incumbent, s.best = []float64{1, 1}, 12*s.lp.costScale
	if got, want := s.limit()/s.lp.costScale, 8.0; math.Abs(got-want) > 1e-5 || got <= want {
		t.Errorf("limit %v, want a little more than %v", got, want)
	}
	s.opts.AbsoluteGap = 5
	if got := s.limit() / s.lp.costScale; got != 7 {
		t.Errorf("with a gap of 5: %v, want 7", got)
	}
	s.opts.AbsoluteGap, s.opts.RelativeGap = 1e-9, 1
	if got := s.limit() / s.lp.costScale; got != 6 {
		t.Errorf("with half of the objective: %v, want 6", got)
	}
}

// TestSlackCountsTheConstant: gaps are parts of the model's objective, not of the relaxation's.
func TestSlackCountsTheConstant(t *testing.T) {
	s := searching(costs(t, 1000, 1))
	s.opts.RelativeGap = 1
	s.incumbent, s.best = []float64{2}, 2*s.lp.costScale
	if got := s.slack() / s.lp.costScale; got != 501 {
		t.Errorf("slack %v, want half of 1002", got)
	}
}

// TestProvenBound: the least of all that may still hold a point.
func TestProvenBound(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name                              string
		best, pruned, unresolved, current float64
		open                              []float64
		want                              float64
	}{
		{"an empty tree", 7, inf, inf, inf, nil, 7},
		{"nothing found, nothing left", inf, inf, inf, inf, nil, inf},
		{"the current node", 7, inf, inf, 3, []float64{4, 5}, 3},
		{"an open node", 7, inf, inf, 6, []float64{5, 4}, 4},
		{"a pruned one", 7, 2, inf, 6, []float64{4}, 2},
		{"one that was not solved", 7, 6, 1, 6, []float64{4}, 1},
	} {
		s := &search{best: c.best, pruned: c.pruned, unresolved: c.unresolved}
		if !math.IsInf(c.current, 1) {
			s.current = &node{bound: c.current}
		}
		for _, bound := range c.open {
			s.open.push(&node{bound: bound})
		}
		if got := s.provenBound(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestGapClosed: a point as good as the bound up to the gap, or any point where any will do.
func TestGapClosed(t *testing.T) {
	s := searching(costs(t, 0, 0.3))
	s.current = &node{bound: 9 * s.lp.costScale}
	if s.gapClosed() {
		t.Error("closed without a point")
	}
	s.incumbent, s.best = []float64{40}, 10*s.lp.costScale
	if s.gapClosed() {
		t.Error("closed at 10 with bound 9")
	}
	s.opts.AbsoluteGap = 1
	if !s.gapClosed() {
		t.Error("open although the gap is what was asked")
	}
	s.opts.AbsoluteGap = 1e-9
	if s.anyPoint = true; !s.gapClosed() {
		t.Error("open although any point will do")
	}
}

// TestOutward: bounds of the relaxation in the model's units, for both senses.
func TestOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genMixed(t)
		s := searching(m)
		point := make([]float64, m.Variables())
		scaled := 0.0
		for j := range point {
			point[j] = float64(rapid.IntRange(-5, 5).Draw(t, "x"))
			scaled += s.lp.cost[j] * point[j]
		}
		if got, want := s.outward(scaled), m.Objective(point); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// TestKeep: only a point that is strictly better replaces the best one, and a point that is not feasible is refused.
func TestKeep(t *testing.T) {
	s := searching(costs(t, 0, 2, 3))
	for _, step := range []struct {
		point []float64
		kept  bool
		best  []float64 // the best point afterwards
	}{
		{[]float64{101, 0}, false, nil},
		{[]float64{3, 2}, true, []float64{3, 2}},
		{[]float64{4, 2}, true, []float64{3, 2}},
		{[]float64{0, 4}, true, []float64{3, 2}}, // a tie
		{[]float64{0.5, 0}, false, []float64{3, 2}},
		{[]float64{1, 3}, true, []float64{1, 3}},
		{[]float64{2, 2}, true, []float64{2, 2}},
	} {
		if kept := s.keep(step.point); kept != step.kept || !slices.Equal(s.incumbent, step.best) {
			t.Errorf("point %v: %v, best %v; want %v, %v", step.point, kept, s.incumbent, step.kept, step.best)
		}
	}
}
