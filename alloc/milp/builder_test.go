package milp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// TestBuilderFaults: each fault is found, typed, and names its place.
func TestBuilderFaults(t *testing.T) {
	foreign := new(Builder).Continuous(0, 1, "other")
	for _, c := range []struct {
		name  string
		build func(b *Builder, x Var)
		sort  error
		text  string
	}{
		{"NaN lower", func(b *Builder, _ Var) { b.Continuous(nan, 1, "y") }, apportion.ErrNotFinite, `variable "y": lower bound`},
		{"NaN upper", func(b *Builder, _ Var) { b.Integer(0, nan, "") }, apportion.ErrNotFinite, `variable 1: upper bound`},
		{"crossed", func(b *Builder, _ Var) { b.Integer(3, 2, "y") }, apportion.ErrConflict, "3 > upper bound 2"},
		{"lower +Inf", func(b *Builder, _ Var) { b.Integer(inf, inf, "y") }, apportion.ErrRange, "lower bound"},
		{"upper -Inf", func(b *Builder, _ Var) { b.Integer(-inf, -inf, "y") }, apportion.ErrRange, "upper bound"},
		{"huge bound", func(b *Builder, _ Var) { b.Continuous(0, 1e20, "y") }, apportion.ErrRange, "upper bound"},
		{"huge negative bound", func(b *Builder, _ Var) { b.Continuous(-1e20, 0, "y") }, apportion.ErrRange, "lower bound"},
		{"row NaN", func(b *Builder, x Var) { b.Row("r", nan, []Term{{x, 1}}, 1) }, apportion.ErrNotFinite, `row "r": lower bound`},
		{"row crossed", func(b *Builder, x Var) { b.Row("", 2, []Term{{x, 1}}, 1) }, apportion.ErrConflict, "row 0"},
		{"equal to infinity", func(b *Builder, x Var) { b.Equal("r", []Term{{x, 1}}, inf) }, apportion.ErrRange, "lower bound"},
		{"coefficient NaN", func(b *Builder, x Var) { b.AtMost("r", []Term{{x, nan}}, 1) }, apportion.ErrNotFinite, "coefficient of x"},
		{"coefficient Inf", func(b *Builder, x Var) { b.AtMost("r", []Term{{x, -inf}}, 1) }, apportion.ErrNotFinite, "coefficient of x"},
		{"coefficient huge", func(b *Builder, x Var) { b.AtMost("r", []Term{{x, 1e20}}, 1) }, apportion.ErrRange, "coefficient of x"},
		{"sum huge", func(b *Builder, x Var) { b.AtMost("r", []Term{{x, 6e19}, {x, 6e19}}, 1) }, apportion.ErrRange, "coefficient of x"},
		{"foreign variable", func(b *Builder, x Var) { b.AtMost("r", []Term{{foreign, 1}}, 1) }, apportion.ErrUnknown, `row "r"`},
		{"zero Var", func(b *Builder, x Var) { b.Minimize([]Term{{Var{}, 1}}, 0) }, apportion.ErrUnknown, "objective"},
		{"cost NaN", func(b *Builder, x Var) { b.Maximize([]Term{{x, nan}}, 0) }, apportion.ErrNotFinite, "coefficient of x"},
		{"constant Inf", func(b *Builder, x Var) { b.Maximize(nil, inf) }, apportion.ErrNotFinite, "constant"},
		{"white space", func(b *Builder, x Var) { b.Binary("a b") }, apportion.ErrRange, `"a b"`},
		{"control character", func(b *Builder, x Var) { b.AtMost("a\x01", nil, 1) }, apportion.ErrRange, "control"},
		{"not UTF-8", func(b *Builder, x Var) { b.Binary("a\xff") }, apportion.ErrRange, "name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBuilder("faulty")
			x := b.Continuous(0, 1, "x")
			c.build(b, x)
			b.Continuous(5, 4, "later") // never reported: the first fault is kept
			b.AtMost("later", []Term{{foreign, nan}}, nan)
			model, err := b.Build()
			var fault *apportion.FieldError
			if model != nil || !errors.Is(err, c.sort) || !errors.As(err, &fault) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want %v with %q", err, c.sort, c.text)
			}
		})
	}
}

// TestBuildFaults: faults that only Build can see.
func TestBuildFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *Builder)
		sort  error
		text  string
	}{
		{"duplicate variable", func(b *Builder) { b.Binary(""); b.Binary("x"); b.Binary("x") }, apportion.ErrDuplicate, `variable 2: name is there twice: "x"`},
		{"duplicate row", func(b *Builder) { b.AtMost("r", nil, 1); b.AtMost("r", nil, 2) }, apportion.ErrDuplicate, `row 1: name is there twice: "r"`},
		{"cost", func(b *Builder) { x := b.Binary("x"); b.Maximize([]Term{{x, 6e19}, {x, 6e19}}, 0) }, apportion.ErrRange, "objective: coefficient of x"},
	} {
		b := NewBuilder("")
		c.build(b)
		if b.Err() != nil {
			t.Errorf("%s: %v before Build", c.name, b.Err())
		}
		if _, err := b.Build(); !errors.Is(err, c.sort) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want %v with %q", c.name, err, c.sort, c.text)
		}
	}
	if _, err := NewBuilder("two\nlines").Build(); !errors.Is(err, apportion.ErrRange) {
		t.Errorf("model name: %v", err)
	}
}

// TestSpent: a builder serves one model, which later calls cannot reach.
func TestSpent(t *testing.T) {
	b := NewBuilder("once")
	x := b.Binary("x")
	model := must.Have(b.Build())(t)
	b.Binary("y")
	if row := b.AtMost("", []Term{{x, 1}}, 0); row != -1 {
		t.Errorf("row %d", row)
	}
	b.Maximize(nil, 3)
	if _, err := b.Build(); !errors.Is(err, ErrSpent) {
		t.Errorf("error %v", err)
	}
	if model.Variables() != 1 || model.Rows() != 0 || model.Constant() != 0 {
		t.Error("the model changed")
	}
}

// describe prints all that a model gives access to.
func describe(m *Model) string {
	var text strings.Builder
	fmt.Fprintln(&text, m.Sense(), m.Constant())
	for j := range m.Variables() {
		v := m.Variable(j)
		fmt.Fprintf(&text, "%s [%v %v] cost %v integer %v\n", m.VariableName(j), v.Lower, v.Upper, v.Cost, v.Integer)
	}
	for i := range m.Rows() {
		r := m.Row(i)
		fmt.Fprintf(&text, "%s [%v %v] %v %v\n", m.RowName(i), r.Lower, r.Upper, r.Columns, r.Coefs)
	}
	return text.String()
}

// TestLazyNames: a name given by hand wins over the function, the function over the index.
func TestLazyNames(t *testing.T) {
	b := NewBuilder("")
	b.Binary("")
	b.Binary("own")
	b.Binary("")
	b.AtMost("", nil, 1)
	calls := 0
	b.NameVariables(func(j int) string { calls++; return fmt.Sprintf("v[%d]", j) })
	b.NameRows(func(i int) string { return fmt.Sprintf("(6)@%d", i) })
	m, err := b.Build()
	if err != nil || calls != 0 {
		t.Fatal(err, calls)
	}
	if got := []string{m.VariableName(0), m.VariableName(1), m.VariableName(2), m.RowName(0)}; !slices.Equal(got, []string{"v[0]", "own", "v[2]", "(6)@0"}) {
		t.Errorf("names %v", got)
	}
}

// TestRowIsReadOnly: appending to a row's slices does not reach the next row.
func TestRowIsReadOnly(t *testing.T) {
	b := NewBuilder("")
	x := b.Binary("x")
	b.AtMost("", []Term{{x, 1}}, 1)
	b.AtMost("", []Term{{x, 2}}, 1)
	m := must.Have(b.Build())(t)
	_ = append(m.Row(0).Coefs, 99)
	if got := m.Row(1).Coefs[0]; got != 2 {
		t.Errorf("coefficient %v", got)
	}
}
