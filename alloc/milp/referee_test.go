package milp

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"pgregory.net/rapid"
)

// built returns what add makes of an empty builder.
func built(t testing.TB, add func(b *Builder)) *Model {
	t.Helper()
	b := NewBuilder("")
	add(b)
	m := must.Have(b.Build())(t)
	return m
}

// TestMayBeUnbounded: a variable with a cost and without a bound on its better side, for both senses.
func TestMayBeUnbounded(t *testing.T) {
	for _, c := range []struct {
		lower, upper, cost float64
		minimise, maximise bool
	}{
		{0, inf, 1, false, true}, {0, inf, -1, true, false}, {-inf, 0, 1, true, false}, {-inf, 0, -1, false, true},
		{-inf, inf, 1, true, true}, {-inf, inf, 0, false, false}, {0, 1, 1, false, false},
	} {
		for _, maximise := range []bool{true, false} {
			want := c.minimise
			m := built(t, func(b *Builder) {
				terms := []Term{{b.Continuous(c.lower, c.upper, ""), c.cost}}
				if b.Minimize(terms, 0); maximise {
					b.Maximize(terms, 0)
					want = c.maximise
				}
			})
			if got := m.mayBeUnbounded(); got != want {
				t.Errorf("[%v %v] cost %v, maximise %v: %v", c.lower, c.upper, c.cost, maximise, got)
			}
		}
	}
}

// TestLossAndWorst: loss is positive for what is worse than the bound, and everything is better than the worst.
func TestLossAndWorst(t *testing.T) {
	if Minimize.loss(5, 3) != 2 || Maximize.loss(3, 5) != 2 || Minimize.loss(3, 5) != -2 || Maximize.loss(5, 3) != -2 {
		t.Error("loss")
	}
	for _, s := range []Sense{Minimize, Maximize} {
		if !(s.loss(s.worst(), 0) > 0) || !math.IsInf(s.worst(), 0) {
			t.Errorf("%v: the worst objective is %v", s, s.worst())
		}
	}
}

// TestObjectiveScale: the sizes of the terms count, not their sum.
func TestObjectiveScale(t *testing.T) {
	m := built(t, func(b *Builder) {
		b.Minimize([]Term{{b.Continuous(-9, 9, ""), 3}, {b.Continuous(-9, 9, ""), -2}}, -10)
	})
	if got := m.objectiveScale([]float64{2, 3}); got != 22 {
		t.Errorf("scale %v, want 10 + 6 + 6", got)
	}
	if got := built(t, func(b *Builder) { b.Binary("") }).objectiveScale([]float64{1}); got != 1 {
		t.Errorf("without an objective: %v", got)
	}
}

// TestCorner: each variable at the bound asked for, whole inwards, next to 0 where there is none.
func TestCorner(t *testing.T) {
	m := built(t, func(b *Builder) {
		b.Continuous(-2.5, 3.5, "")
		b.Integer(-2.5, 3.5, "")
		b.Continuous(-inf, -4, "")
		b.Continuous(4, inf, "")
		b.Continuous(-inf, inf, "")
	})
	for _, c := range []struct {
		x    float64
		want []float64
	}{
		{-inf, []float64{-2.5, -2, -4, 4, 0}}, {inf, []float64{3.5, 3, -4, 4, 0}}, {0, []float64{0, 0, -4, 4, 0}}, {100, []float64{3.5, 3, -4, 100, 100}},
	} {
		if got := m.corner(c.x); !slices.Equal(got, c.want) {
			t.Errorf("corner %v: %v, want %v", c.x, got, c.want)
		}
	}
}

// TestImproveReaches: one pass moves each variable to the first thing that stops it, in their order.
func TestImproveReaches(t *testing.T) {
	for _, c := range []struct {
		name string
		add  func(b *Builder)
		from []float64
		want []float64
	}{
		{"own bound", func(b *Builder) { b.Maximize([]Term{{b.Integer(0, 7, ""), 1}}, 0) }, []float64{2}, []float64{7}},
		{"down", func(b *Builder) { b.Minimize([]Term{{b.Integer(-7, 7, ""), 1}}, 0) }, []float64{2}, []float64{-7}},
		{"no cost", func(b *Builder) { b.Integer(0, 7, "") }, []float64{2}, []float64{2}},
		{"no end", func(b *Builder) { b.Maximize([]Term{{b.Continuous(0, inf, ""), 1}}, 0) }, []float64{2}, []float64{2}},
		{"a row, whole", func(b *Builder) {
			x := b.Integer(0, 9, "")
			b.AtMost("", []Term{{x, 2}}, 7)
			b.Maximize([]Term{{x, 1}}, 0)
		}, []float64{1}, []float64{3}},
		{"a lower row bound", func(b *Builder) {
			x := b.Continuous(0, 9, "")
			b.AtLeast("", []Term{{x, -2}}, -7)
			b.Maximize([]Term{{x, 1}}, 0)
		}, []float64{1}, []float64{3.5}},
		{"the second has what the first left", func(b *Builder) {
			x, y := b.Integer(0, 3, ""), b.Integer(0, 9, "")
			b.AtMost("", []Term{{x, 1}, {y, 1}}, 5)
			b.Maximize([]Term{{x, 1}, {y, 1}}, 0)
		}, []float64{0, 0}, []float64{3, 2}},
	} {
		before := slices.Clone(c.from)
		if got := built(t, c.add).improve(c.from); !slices.Equal(got, c.want) || !slices.Equal(c.from, before) {
			t.Errorf("%s: %v becomes %v, want %v", c.name, before, got, c.want)
		}
	}
}

// TestGapToObjective: within that part of the objective is within the gap of the bound, for a minimisation, the
// harder case, and both signs.
func TestGapToObjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{RelativeGap: rapid.Float64Range(1e-9, 3).Draw(t, "gap")}
		objective := rapid.Float64Range(-1e6, 1e6).Draw(t, "objective")
		part := rapid.Float64Range(-1, 1).Draw(t, "part")
		bound := objective + part*o.GapToObjective()*math.Abs(objective)
		rounding := 1e-15 * math.Abs(objective) // of the bound
		if d := math.Abs(objective - bound); d > o.RelativeGap*math.Abs(bound)*(1+1e-9)+rounding {
			t.Fatalf("objective %v and bound %v are %v apart, asked for %v of the bound", objective, bound, d, o.RelativeGap)
		}
	})
}

// TestModelNeeds: what each sort of variable asks of a back-end.
func TestModelNeeds(t *testing.T) {
	for _, c := range []struct {
		add  func(b *Builder)
		want Capability
	}{
		{func(*Builder) {}, 0},
		{func(b *Builder) { b.Binary("") }, CanInteger},
		{func(b *Builder) { b.Continuous(0, 1, "") }, CanContinuous},
		{func(b *Builder) { b.Integer(-inf, 1, "") }, CanInteger | CanInfiniteBounds},
		{func(b *Builder) { b.Continuous(0, inf, ""); b.Binary("") }, CanContinuous | CanInteger | CanInfiniteBounds},
		{func(b *Builder) { b.AtMost("", []Term{{b.Binary(""), 1}}, 1) }, CanInteger}, // a row's bounds are no variable's
	} {
		if got := built(t, c.add).Needs(); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
	if Capabilities(plainSolver{}) != CanEverything || Capabilities(&fake{can: CanSeed}) != CanSeed {
		t.Error("claims")
	}
	if got := (CanInteger | CanSeed).String(); got != "integer variables, seed" {
		t.Errorf("%q", got)
	}
}

// TestNamesAreSparse: nothing is stored until the first name is given, and names stay with their variables.
func TestNamesAreSparse(t *testing.T) {
	var n names
	for i := range 3 {
		n.add(i, "")
	}
	if n.given != nil || n.of(2, "x") != "x2" {
		t.Errorf("%q stored, %q", n.given, n.of(2, "x"))
	}
	n.add(3, "own")
	n.add(4, "")
	n.lazy = func(i int) string { return strings.Repeat("l", i+1) }
	for i, want := range []string{"l", "ll", "lll", "own", "lllll", "llllll"} {
		if got := n.of(i, "x"); got != want {
			t.Errorf("name %d: %q, want %q", i, got, want)
		}
	}
}

// TestLPName: what the format cannot carry is replaced, and what could be read as something else gets a "_".
func TestLPName(t *testing.T) {
	for name, want := range map[string]string{
		"x": "x", "a b": "a_b", "a[1]": "a_1_", "größe": "gr__e", "": "_", "5x": "_5x", ".5": "_.5", "e5": "_e5", "E": "_E", "ee": "_ee",
		"ex": "ex", "Free": "_Free", "st": "_st", "s.t.": "_s.t.", "freed": "freed", "a/b": "a_b", "x+y": "x_y", "(1,2)": "(1,2)",
	} {
		if got := lpName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
