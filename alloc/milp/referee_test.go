package milp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
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

// TestMisses: a bound may be missed by the tolerance times the larger of 1 and its size, and no more; what is
// infinite cannot be missed, and a value that is no number always misses.
func TestMisses(t *testing.T) {
	const tolerance = 0x1p-10
	for _, c := range []struct {
		x, lower, upper float64
		want            error
	}{
		{0, 0, 1, nil}, {-tolerance, 0, 1, nil}, {-2 * tolerance, 0, 1, apportion.ErrRange},
		{1 + tolerance, 0, 1, nil}, {1 + 2*tolerance, 0, 1, apportion.ErrRange},
		{1024 + 1, 0, 1024, nil}, {1024 + 1.5, 0, 1024, apportion.ErrRange},
		{-1024 - 1, -1024, 0, nil}, {-1024 - 1.5, -1024, 0, apportion.ErrRange},
		{1e300, -inf, inf, nil}, {-1e300, -inf, 0, nil}, {1e300, -inf, 0, apportion.ErrRange},
		{nan, -inf, inf, apportion.ErrNotFinite}, {inf, -inf, inf, apportion.ErrNotFinite}, {-inf, -inf, 0, apportion.ErrNotFinite},
	} {
		if detail, got := misses(c.x, c.lower, c.upper, tolerance); !errors.Is(got, c.want) || (got == nil) != (detail == "") {
			t.Errorf("%v in [%v %v]: %v (%s), want %v", c.x, c.lower, c.upper, got, detail, c.want)
		}
	}
}

// TestVerifyListsEveryFault: all faults at once, in the order of the model, each with its kind and index.
func TestVerifyListsEveryFault(t *testing.T) {
	m := built(t, func(b *Builder) {
		x, y, z := b.Integer(0, 9, "x"), b.Continuous(0, 1, "y"), b.Integer(0, 9, "z")
		b.AtMost("r", []Term{{x, 1}, {y, 1}}, 5)
		b.AtLeast("s", []Term{{z, 1}}, 0)
		b.Equal("", []Term{{z, 2}}, 5)
	})
	var faults apportion.Faults
	if err := m.Verify([]float64{4.5, 2, 3}, 0, 0.25); !errors.As(err, &faults) {
		t.Fatal(err)
	}
	want := []apportion.Item{
		{Kind: "variable", ID: "x", Index: 0}, {Kind: "variable", ID: "y", Index: 1}, {Kind: "row", ID: "r", Index: 0}, {Kind: "row", ID: "c2", Index: 2},
	}
	var got []apportion.Item
	for _, f := range faults {
		got = append(got, f.Item)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := m.Verify([]float64{4.25, 0.75, 2.5}, 0, 0.5); err != nil {
		t.Errorf("within the tolerances: %v", err)
	}
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

// TestActivityAndObjective hold both against sums made from what the model gives out.
func TestActivityAndObjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genModel(t)
		x := make([]float64, m.Variables())
		objective := m.Constant()
		for j := range x {
			x[j] = float64(rapid.IntRange(-4, 4).Draw(t, "x"))
			objective += float64(m.Variable(j).Cost * x[j])
		}
		if got := m.Objective(x); got != objective {
			t.Fatalf("objective %v, want %v", got, objective)
		}
		for i := range m.Rows() {
			sum := 0.0
			for k, j := range m.Row(i).Columns {
				sum += float64(m.Row(i).Coefs[k] * x[j])
			}
			if got := m.Activity(i, x); got != sum {
				t.Fatalf("row %d: %v, want %v", i, got, sum)
			}
		}
	})
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

// TestLPLines: lines are broken before they are too long, between terms, and nothing is lost.
func TestLPLines(t *testing.T) {
	const n = 200
	m := built(t, func(b *Builder) {
		var terms []Term
		for range n {
			terms = append(terms, Term{b.Integer(0, 1, ""), 1.5})
		}
		b.AtMost("r", terms, 7)
		b.Maximize(terms, 1)
	})
	var text strings.Builder
	must.Do(t, m.WriteLP(&text))
	for _, line := range strings.Split(text.String(), "\n") {
		if len(line) > lpLine || strings.HasSuffix(line, "1.5") || strings.HasSuffix(line, "+") {
			t.Errorf("%d characters: %q", len(line), line)
		}
	}
	if got := strings.Count(text.String(), "1.5 x"); got != 2*n {
		t.Errorf("%d terms, want %d", got, 2*n)
	}
}
