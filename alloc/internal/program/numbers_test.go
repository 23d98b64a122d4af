package program

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// Costs in the rows allow every set of adjustments that the budget pays for; where they are not rounded, and
// no others. Rounded they are only where they leave the whole numbers of float64.
func TestAdjustCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cost := rapid.OneOf(rapid.Int64Range(0, 5), rapid.Int64Range(0, math.MaxInt64), rapid.SampledFrom([]int64{math.MaxInt64, 1 << 60, 3 << 55}))
		inst := &solver.Instance{AdjustBudget: rapid.OneOf(rapid.Int64Range(-1, 9), cost).Draw(t, "budget")}
		for range rapid.IntRange(1, 4).Draw(t, "apps") {
			inst.Apps = append(inst.Apps, solver.App{Running: true, Cost: cost.Draw(t, "cost")})
		}
		b := &builder{inst: inst}
		costs, budget := b.adjustCosts()
		for set := range 1 << len(costs) {
			sum, exact := 0.0, new(big.Int)
			for a, c := range costs {
				if set>>a&1 == 1 {
					sum += c
					exact.Add(exact, big.NewInt(inst.Apps[a].Cost))
				}
			}
			// The referee adds up to the largest number, and no further.
			pays := exact.Cmp(big.NewInt(inst.AdjustBudget)) <= 0 || inst.AdjustBudget == math.MaxInt64
			if admits := sum <= budget; admits != pays && (pays || !b.rounded) {
				t.Errorf("set %b of %+v: %g of %g, admitted %v, paid for %v, rounded %v", set, inst.Apps, sum, budget, admits, pays, b.rounded)
			}
		}
	})
}

// A budget without end pays for everything, as it does in the referee, whose sums stop at the largest number; and
// one application alone is never paid for by less than it costs, however large the numbers are.
func TestAdjustCostsOfAnySize(t *testing.T) {
	dear := solver.App{Running: true, Cost: math.MaxInt64}
	b := &builder{inst: &solver.Instance{AdjustBudget: math.MaxInt64, Apps: []solver.App{dear, dear}}}
	if costs, have := b.adjustCosts(); costs[0]+costs[1] > have || b.rounded {
		t.Errorf("%v of %v", costs, have)
	}
	b.inst.AdjustBudget = 1 << 60
	if costs, have := b.adjustCosts(); costs[0] <= have || b.rounded {
		t.Errorf("%v of %v", costs, have)
	}
}

// What an application costs that is not adjusted or cannot be is no reason to round.
func TestAdjustCostsExact(t *testing.T) {
	for name, apps := range map[string][]solver.App{
		"above the budget": {{Running: true, Cost: math.MaxInt64}, {Running: true, Cost: 1}},
		"not running":      {{Cost: math.MaxInt64}, {Running: true, Cost: 1}},
		"a common divisor": {{Running: true, Cost: 3 << 60}, {Running: true, Cost: 1 << 60}},
		"no divisor":       {{Running: true, Cost: 3 << 60}, {Running: true, Cost: 1<<60 + 1}},
	} {
		budget := int64(10)
		if name == "a common divisor" || name == "no divisor" {
			budget = 7 << 59
		}
		b := &builder{inst: &solver.Instance{AdjustBudget: budget, Apps: apps}}
		if costs, have := b.adjustCosts(); b.rounded != (name == "no divisor") || costs[0] <= have && name == "above the budget" {
			t.Errorf("%s: %v of %v, rounded %v", name, costs, have, b.rounded)
		}
	}
}

// allowed returns which numbers of containers the rows of one application on one server admit, with its z at
// the given value where it has one.
func allowed(t *testing.T, app solver.App, stays *float64) map[int64]bool {
	t.Helper()
	admitted := map[int64]bool{}
	for n := range int64(12) {
		b := &builder{Builder: milp.NewBuilder(""), inst: &solver.Instance{Apps: []solver.App{app}}}
		x := b.Integer(float64(n), float64(n), "x")
		if stays != nil {
			z := b.Integer(*stays, *stays, "z")
			b.numbers(&cells{vars: [][]milp.Var{{x}}}, 0, &z)
		} else {
			b.numbers(&cells{vars: [][]milp.Var{{x}}}, 0, nil)
		}
		model, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if feasible(model, make([]float64, 0, model.Variables())) {
			admitted[n] = true
		}
	}
	return admitted
}

// feasible tries every value of the variables that have none yet.
func feasible(m *milp.Model, values []float64) bool {
	j := len(values)
	if j == m.Variables() {
		for i := range m.Rows() {
			if sum := m.Activity(i, values); sum < m.Row(i).Lower || sum > m.Row(i).Upper {
				return false
			}
		}
		return true
	}
	v := m.Variable(j)
	for value := v.Lower; value <= v.Upper; value++ {
		if feasible(m, append(values, value)) {
			return true
		}
	}
	return false
}

// The rows admit just the numbers that an application may have; while it stays, none. Reference: [Dorm (7), (8)].
func TestNumbers(t *testing.T) {
	zero, one := 0.0, 1.0
	rapid.Check(t, func(t0 *rapid.T) {
		app := solver.App{Min: rapid.Int64Range(0, 6).Draw(t0, "min"), Step: rapid.Int64Range(0, 4).Draw(t0, "step"), Elective: rapid.Bool().Draw(t0, "elective")}
		app.Max = max(1, app.Min) + rapid.Int64Range(0, 4).Draw(t0, "more")
		for n := int64(1); n < 9 && rapid.Bool().Draw(t0, "another"); n += rapid.Int64Range(1, 3).Draw(t0, "apart") {
			app.Counts = append(app.Counts, n)
		}
		free, placed, stays := allowed(t, app, nil), allowed(t, app, &zero), allowed(t, app, &one)
		for n := range int64(12) {
			if free[n] != app.Allows(n) || placed[n] != app.Allows(n) || stays[n] != (n == 0) {
				t0.Fatalf("%+v: %d is admitted %v, with z = 0 %v, with z = 1 %v", app, n, free[n], placed[n], stays[n])
			}
		}
	})
}

// Whether an application has containers is a variable only where one step does not lead from none to the least.
func TestNumbersWithoutNeed(t *testing.T) {
	for _, c := range []struct {
		app  solver.App
		want int // variables
	}{
		{solver.App{Min: 1, Max: 4, Elective: true}, 0},
		{solver.App{Min: 2, Max: 4, Elective: true}, 1},
		{solver.App{Min: 2, Max: 4}, 0},
		{solver.App{Min: 2, Max: 4, Elective: true, Step: 2}, 1},
		{solver.App{Min: 3, Max: 8, Elective: true, Step: 2}, 2},
		{solver.App{Max: 8, Counts: []int64{3, 9}}, 1},
	} {
		b := &builder{Builder: milp.NewBuilder(""), inst: &solver.Instance{Apps: []solver.App{c.app}}}
		b.numbers(&cells{vars: make([][]milp.Var, 1)}, 0, nil)
		model, err := b.Build()
		if err != nil || model.Variables() != c.want {
			t.Errorf("%+v: %d variables, %v; want %d", c.app, model.Variables(), err, c.want)
		}
	}
}

// crowded looks at each server and at how many there are.
func TestCrowded(t *testing.T) {
	app := solver.App{Previous: []apportion.Placement{{Server: 1, Count: 2}, {Server: 4, Count: 3}}}
	for _, c := range []struct {
		perServer, servers int64
		want               bool
	}{{0, 0, false}, {3, 2, false}, {2, 0, true}, {3, 1, true}, {0, 1, true}} {
		app.PerServer, app.MaxServers = c.perServer, c.servers
		if got := crowded(&app); got != c.want {
			t.Errorf("%d on a server, %d servers: %v", c.perServer, c.servers, got)
		}
	}
}

// Losses by points take a variable for each number between them: more than a million of these are refused by name, before
// any is made, and as many are not. What steps rule out, or Counts list, does not count.
func TestLossesOfManyNumbers(t *testing.T) {
	losses := []solver.LossPoint{{}, {N: 2, Loss: 1}}
	for name, c := range map[string]struct {
		app     solver.App
		refused bool
	}{
		"few":                    {solver.App{Max: 9, Losses: losses}, false},
		"with the other as many": {solver.App{Max: mostListed - 5, Losses: losses}, false},
		"one more":               {solver.App{Max: mostListed - 4, Losses: losses}, true},
		"between its bounds":     {solver.App{Min: 1 << 40, Max: 1<<40 + mostListed - 6, Losses: losses}, false},
		"one more between them":  {solver.App{Min: 1 << 40, Max: 1<<40 + mostListed - 5, Losses: losses}, true},
		"any":                    {solver.App{Max: math.MaxInt64, Losses: losses}, true},
		"in large steps":         {solver.App{Max: (mostListed - 5) << 10, Step: 1 << 10, Losses: losses}, false},
		"no multiple of a step":  {solver.App{Min: 1, Max: 9, Step: 10, Losses: losses}, false},
		"of a list":              {solver.App{Max: math.MaxInt64, Counts: []int64{5}, Losses: losses}, false},
		"by shares":              {solver.App{Max: math.MaxInt64}, false},
	} {
		inst := &solver.Instance{Capacity: []apportion.Resources{{4}}, Total: apportion.Resources{4}, LossBudget: 9}
		c.app.Demand = apportion.Resources{1}
		inst.Apps = []solver.App{{Demand: apportion.Resources{1}, Max: 5, Losses: losses}, c.app}
		err := listable(inst)
		var field *apportion.FieldError
		if errors.As(err, &field) != c.refused || c.refused && (field.Item.Index != 1 || field.Field != "Max" || !errors.Is(err, apportion.ErrRange)) {
			t.Errorf("%s: %v, refused: %v", name, err, c.refused)
		}
		if !c.refused {
			continue
		}
		for _, form := range Forms() {
			if _, err := Build(inst, form, false); !errors.Is(err, apportion.ErrRange) {
				t.Errorf("%s, %s: %v, want an error about the numbers", name, form, err)
			}
		}
	}
}
