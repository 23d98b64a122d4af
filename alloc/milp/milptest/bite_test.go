// This file tests that every check of the suite bites: the right answer passes, wrong ones do not.

package milptest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/internal/oracle/milporacle"
)

// rightAnswer is what a back-end should say about a case.
func rightAnswer(t *testing.T, c oneCase) milp.Solution {
	t.Helper()
	model, err := build(c.name, c.build)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := bb.Solver{}.Solve(context.Background(), model, filled(c.opts))
	if err != nil || answer.Status != c.want {
		t.Fatalf("%s: %v, %v", c.name, answer.Status, err)
	}
	return answer
}

// filled returns options with the defaults of a search, as milp.Solve hands them out.
func filled(opts *milp.Options) *milp.Options {
	full := milp.Options{}
	if opts != nil {
		full = *opts
	}
	full.RelativeGap, full.AbsoluteGap = milp.DefaultRelativeGap, milp.DefaultAbsoluteGap
	full.FeasibilityTolerance, full.IntegralityTolerance = milp.DefaultFeasibilityTolerance, milp.DefaultIntegralityTolerance
	return &full
}

// TestEveryCaseBites: the right answer passes; each wrong one is refused by the case or by the referee before it.
func TestEveryCaseBites(t *testing.T) {
	for _, c := range cases() {
		right := rightAnswer(t, c)
		run := func(answer milp.Solution) error { return c.check().run(context.Background(), says{answer: answer}) }
		if err := run(right); err != nil {
			t.Errorf("%s: the right answer: %v", c.name, err)
		}
		wrong := map[string]milp.Solution{
			"no outcome": {}, "a limit": {Status: milp.LimitReached, Bound: right.Bound}, "cancelled": {Status: milp.Cancelled},
		}
		if c.want != milp.Infeasible {
			wrong["infeasible"] = milp.Solution{Status: milp.Infeasible}
		}
		if c.want != milp.Unbounded {
			wrong["unbounded"] = milp.Solution{Status: milp.Unbounded}
		}
		if c.want == milp.Optimal {
			wrong["no proof"] = milp.Solution{Status: milp.Feasible, Values: right.Values, Bound: right.Bound}
			wrong["a loose bound"] = milp.Solution{Status: milp.Optimal, Values: right.Values, Bound: right.Bound + 1}
			wrong["a bound that is too good"] = milp.Solution{Status: milp.Optimal, Values: right.Values, Bound: right.Bound - 1}
		}
		for j := range right.Values {
			for _, by := range []float64{-1, 1} {
				values := slices.Clone(right.Values)
				values[j] += by
				wrong["another value"] = milp.Solution{Status: milp.Optimal, Values: values, Bound: right.Bound}
				// Where the point is the only one of its worth, another of the same worth does not exist.
				if run(wrong["another value"]) == nil && c.values != nil {
					t.Errorf("%s: %v passes for %v", c.name, values, c.values)
				}
			}
		}
		delete(wrong, "another value")
		for name, answer := range wrong {
			if run(answer) == nil {
				t.Errorf("%s: %s passes", c.name, name)
			}
		}
	}
}

// TestKnownBite: each of these programs is asked for its very optimum.
func TestKnownBite(t *testing.T) {
	for _, i := range Known() {
		if slices.ContainsFunc(Known(), func(o Instance) bool { return o.Name != i.Name && near(o.Optimum, i.Optimum) }) {
			t.Errorf("%s shares its optimum with another", i.Name)
		}
		zero := make([]float64, i.Model.Variables())
		answer := milp.Solution{Status: milp.Optimal, Values: zero, Bound: i.Model.Objective(zero)}
		for _, c := range knownChecks() {
			if c.name == "known/"+i.Name && c.run(context.Background(), says{answer: answer}) == nil {
				t.Errorf("%s: nothing at all passes for %v", i.Name, i.Optimum)
			}
		}
	}
}

// TestSum: terms stand for the variables in their order, fewer than there are or as many.
func TestSum(t *testing.T) {
	model, err := build("", func(b *milp.Builder) {
		x := append(integers(b, [2]float64{0, 1}, [2]float64{-2, 3}), continuous(b, [2]float64{0.5, 1.5})...)
		b.AtMost("", sum(x, 4, 0, 5), 9)
		b.AtLeast("", sum(x, 0, 7), 1)
		b.AtLeast("", sum(x), 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []milp.Variable{{Upper: 1, Integer: true}, {Lower: -2, Upper: 3, Integer: true}, {Lower: 0.5, Upper: 1.5}} {
		if got := model.Variable(j); got != want {
			t.Errorf("variable %d: %+v, want %+v", j, got, want)
		}
	}
	for i, want := range []milp.Row{{Columns: []int32{0, 2}, Coefs: []float64{4, 5}}, {Columns: []int32{1}, Coefs: []float64{7}}, {}} {
		if got := model.Row(i); !slices.Equal(got.Columns, want.Columns) || !slices.Equal(got.Coefs, want.Coefs) {
			t.Errorf("row %d: %+v, want %+v", i, got, want)
		}
	}
}

// TestAtMost: from 1 on, each number is drawn; of nothing there is none.
func TestAtMost(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	seen := map[int]bool{}
	for range 100 {
		seen[atMost(random, 3)] = true
		if n := atMost(random, 0); n != 0 {
			t.Fatalf("%d of none", n)
		}
	}
	if len(seen) != 3 || seen[0] || !seen[1] || !seen[3] {
		t.Errorf("drawn %v, want 1, 2 and 3", seen)
	}
}

// TestKnapsack: its optimum is the one that the checks of options want, no other point is worth as much, and its
// relaxation is not whole.
func TestKnapsack(t *testing.T) {
	model, best := knapsack(), 0
	for code := range 16 {
		x := []float64{float64(code & 1), float64(code >> 1 & 1), float64(code >> 2 & 1), float64(code >> 3 & 1)}
		if model.Verify(x, 0, 0) == nil && model.Objective(x) >= 21 {
			best++
			if !slices.Equal(x, []float64{0, 1, 1, 1}) || model.Objective(x) != 21 {
				t.Errorf("%v is worth %v", x, model.Objective(x))
			}
		}
	}
	if best != 1 {
		t.Errorf("%d points are worth 21", best)
	}
	if relaxed := model.Objective([]float64{1, 1, 0.5, 0}); relaxed != 22 || model.Activity(0, []float64{1, 1, 0.5, 0}) != 14 {
		t.Errorf("the relaxation is worth %v", relaxed)
	}
}

// TestLogged and the check of bad options tell a back-end that does not do its part.
func TestLogged(t *testing.T) {
	answer := milp.Solution{Status: milp.Optimal, Values: []float64{0, 1, 1, 1}, Bound: 21}
	if err := logged(context.Background(), says{answer: answer}); err == nil || !strings.Contains(err.Error(), "never called") {
		t.Errorf("a silent one: %v", err)
	}
	if err := logged(context.Background(), bb.Solver{}); err != nil {
		t.Errorf("the reference: %v", err)
	}
	if err := invalid(context.Background(), says{answer: answer}); err != nil {
		t.Errorf("bad options reach nobody: %v", err)
	}
}

// TestRandomBitesEverywhere: a back-end that is wrong about one model alone is found out by the family of that
// model, which says which one it was.
func TestRandomBitesEverywhere(t *testing.T) {
	f := family{name: "binary", integers: 8, width: 1}
	const at = 4
	count := 0
	once := mutant{after: func(s *milp.Solution) error {
		if count++; count == at+1 {
			if s.Status == milp.Infeasible {
				s.Status = milp.LimitReached
			} else {
				*s = milp.Solution{Status: milp.LimitReached, Bound: math.Inf(-1)}
			}
		}
		return nil
	}}
	if err := f.compare(context.Background(), once, at); err != nil {
		t.Errorf("%d models: %v", at, err)
	}
	count = 0
	if err := f.compare(context.Background(), once, at+3); err == nil || !strings.HasPrefix(err.Error(), "model 4: ") {
		t.Errorf("%d models: %v", at+3, err)
	}
	if want := milporacle.Solve(f.model(rand.New(rand.NewPCG(at, 8)))); !want.Feasible && want.Objective != 0 {
		t.Errorf("%+v", want)
	}
}
