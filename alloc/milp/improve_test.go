package milp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// claimed answers with whatever it holds.
type claimed struct{ answer Solution }

func (c claimed) Solve(context.Context, *Model, *Options) (Solution, error) {
	c.answer.Values = slices.Clone(c.answer.Values)
	return c.answer, nil
}

// twoOfThree is max 3x + 2y - z with x + y <= 4, x - z <= 1, all whole in [0, 3].
func twoOfThree(t testing.TB, maximize bool) *Model {
	t.Helper()
	b := NewBuilder("")
	x, y, z := b.Integer(0, 3, "x"), b.Integer(0, 3, "y"), b.Integer(0, 3, "z")
	b.AtMost("sum", []Term{{x, 1}, {y, 1}}, 4)
	b.AtMost("difference", []Term{{x, 1}, {z, -1}}, 1)
	if maximize {
		b.Maximize([]Term{{x, 3}, {y, 2}, {z, -1}}, 0)
	} else {
		b.Minimize([]Term{{x, -3}, {y, -2}, {z, 1}}, 0)
	}
	m := must.Have(b.Build())(t)
	return m
}

// A bound that one step from a known point refutes is a wrong answer, and so is an infeasible model with
// a feasible corner.
func TestBoundsAreHeldAgainstPoints(t *testing.T) {
	for _, maximize := range []bool{true, false} {
		sign := -1.0
		if maximize {
			sign = 1
		}
		m := twoOfThree(t, maximize)
		for _, c := range []struct {
			name   string
			answer Solution
			opts   *Options
			want   string
		}{
			{"nothing for what is worth 9", Solution{Status: Optimal, Values: []float64{0, 0, 0}}, nil, "a point with objective"},
			{"a bound that one variable passes", Solution{Status: Feasible, Values: []float64{1, 2, 0}, Bound: sign * 8}, nil, "a point with objective"},
			{"a bound that the hint refutes", Solution{Status: Optimal, Values: []float64{1, 3, 0}, Bound: sign * 9}, &Options{Hint: []float64{3, 1, 2}}, ""},
			{"a limit with a bound that the hint refutes", Solution{Status: LimitReached, Bound: sign * 3}, &Options{Hint: []float64{1, 1, 0}}, "a point with objective"},
			{"a limit without a bound", Solution{Status: LimitReached, Bound: sign * math.Inf(1)}, &Options{Hint: []float64{1, 1, 0}}, ""},
			{"infeasible where zero is feasible", Solution{Status: Infeasible}, nil, "corner"},
			{"right", Solution{Status: Optimal, Values: []float64{2, 2, 1}, Bound: sign * 9}, nil, ""},
		} {
			_, err := Solve(context.Background(), claimed{c.answer}, m, c.opts)
			var wrong *WrongAnswerError
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: %v", c.name, err)
			case c.want != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
	}
}

// largestTerm returns the largest size of a product that is summed up in a row or in the objective at x.
func largestTerm(m *Model, x []float64) float64 {
	largest := 0.0
	for i := range m.Rows() {
		row := m.Row(i)
		for at, j := range row.Columns {
			largest = max(largest, math.Abs(row.Coefs[at]*x[j]))
		}
	}
	for j, cost := range m.cost {
		largest = max(largest, math.Abs(cost*x[j]))
	}
	return largest
}

// What improve makes of a feasible point is feasible and no worse.
func TestImprove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genModel(t)
		x := m.corner(rapid.SampledFrom([]float64{0, math.Inf(-1), math.Inf(1)}).Draw(t, "corner"))
		if m.Verify(x, 0, 0) != nil {
			return
		}
		y := m.improve(x)
		// Large numbers that cancel out leave the rounding of the large ones.
		rounding := 1e-9
		for _, at := range [...][]float64{x, y} {
			rounding = max(rounding, 1e-15*largestTerm(m, at))
		}
		if err := m.Verify(y, rounding, 0); err != nil {
			t.Fatalf("%v becomes %v: %v", x, y, err)
		}
		if m.sense.loss(m.Objective(y), m.Objective(x)) > rounding {
			t.Fatalf("%v with %g becomes %v with %g", x, m.Objective(x), y, m.Objective(y))
		}
	})
}

// A solution survives JSON, with what JSON has no numbers for.
func TestSolutionJSON(t *testing.T) {
	for _, s := range []Solution{
		{},
		{Status: Optimal, Objective: 1.5, Bound: 1.5, Values: []float64{0, 1}, Nodes: 3},
		{Status: Infeasible, Objective: math.NaN(), Bound: math.Inf(-1)},
		{Status: LimitReached, Objective: math.NaN(), Bound: math.Inf(1), Reason: "node limit"},
		{Status: Cancelled, Values: []float64{}, Bound: -2},
	} {
		text := must.Have(json.Marshal(s))(t)
		var again Solution
		must.Do(t, json.Unmarshal(text, &again))
		if again.Status != s.Status || again.Bound != s.Bound || again.Nodes != s.Nodes || again.Reason != s.Reason ||
			math.Float64bits(again.Objective) != math.Float64bits(s.Objective) || !slices.Equal(again.Values, s.Values) || again.HasSolution() != s.HasSolution() {
			t.Errorf("%+v is read back from %s as %+v", s, text, again)
		}
	}
	for _, text := range []string{`{"status":"great"}`, `{"status":1}`, `{"bound":"big"}`} {
		if err := json.Unmarshal([]byte(text), new(Solution)); err == nil {
			t.Errorf("%s is read as a solution", text)
		}
	}
	var sense Sense
	if err := sense.UnmarshalText([]byte("maximize")); err != nil || sense != Maximize || sense.UnmarshalText([]byte("up")) == nil {
		t.Errorf("%v, %v", sense, err)
	}
}
