package milptest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/oracle/milporacle"
)

// says answers every call alike, after a delay.
type says struct {
	answer milp.Solution
	err    error
	after  time.Duration
}

func (s says) Solve(context.Context, *milp.Model, *milp.Options) (milp.Solution, error) {
	time.Sleep(s.after)
	s.answer.Values = slices.Clone(s.answer.Values)
	return s.answer, s.err
}

// TestCasesAgainstEnumeration: what the suite takes for known is what enumeration finds, wherever every
// variable is bounded; the listed values are feasible and worth the listed objective in every case.
func TestCasesAgainstEnumeration(t *testing.T) {
	enumerated := 0
	for _, c := range cases() {
		model, err := build(c.name, c.build)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.values != nil {
			if err := model.Verify(c.values, 1e-9, 0); err != nil || !near(model.Objective(c.values), c.objective) {
				t.Errorf("%s: %v is worth %v, %v", c.name, c.values, model.Objective(c.values), err)
			}
		}
		if model.Needs()&milp.CanInfiniteBounds != 0 {
			continue
		}
		enumerated++
		want := milporacle.Solve(model)
		if want.Feasible != (c.want == milp.Optimal) || want.Feasible && !near(want.Objective, c.objective) {
			t.Errorf("%s: %v with %v, enumeration: %+v", c.name, c.want, c.objective, want)
		}
	}
	if enumerated < 15 {
		t.Errorf("only %d cases were enumerated", enumerated)
	}
}

// TestCasesCover: there is a case for every outcome that a small model can have, for each sense and for each
// sort of variable, bound and row.
func TestCasesCover(t *testing.T) {
	found := map[string]bool{}
	for _, c := range cases() {
		model, err := build(c.name, c.build)
		if err != nil {
			t.Fatal(err)
		}
		found[c.want.String()], found[model.Sense().String()] = true, true
		for j := range model.Variables() {
			v := model.Variable(j)
			kind := "continuous"
			if v.Integer {
				kind = "integer"
			}
			found[kind+" "+sides(v.Lower, v.Upper)] = true
		}
		for i := range model.Rows() {
			found["row "+sides(model.Row(i).Lower, model.Row(i).Upper)] = true
		}
	}
	for _, want := range []string{
		"optimal", "infeasible", "unbounded", "minimize", "maximize",
		"continuous free", "continuous below", "continuous above", "continuous within",
		"integer free", "integer above", "integer within", "integer fixed",
		"row free", "row below", "row above", "row within", "row fixed",
	} {
		if !found[want] {
			t.Errorf("no case has %q", want)
		}
	}
}

// sides names an interval by its finite ends.
func sides(lower, upper float64) string {
	switch {
	case math.IsInf(lower, -1) && math.IsInf(upper, 1):
		return "free"
	case math.IsInf(lower, -1):
		return "below"
	case math.IsInf(upper, 1):
		return "above"
	case lower == upper:
		return "fixed"
	}
	return "within"
}

// TestNamesOfChecks: every check has a name of its own, and the list is the same each time.
func TestNamesOfChecks(t *testing.T) {
	var first []string
	for range 5 {
		var names []string
		for _, c := range checks(Options{Models: 1}) {
			names = append(names, c.name)
		}
		if first == nil {
			first = names
		}
		if !slices.Equal(names, first) {
			t.Fatalf("%q, before %q", names, first)
		}
	}
	seen := map[string]bool{}
	for _, name := range first {
		if seen[name] || !strings.Contains(name, "/") {
			t.Errorf("%q is there twice, or has no group", name)
		}
		seen[name] = true
	}
	if len(first) < 60 {
		t.Errorf("%d checks", len(first))
	}
}

// TestCompare: each part of an answer that differs from the known one is told.
func TestCompare(t *testing.T) {
	c := oneCase{want: milp.Optimal, objective: 1000, values: []float64{3, 4}}
	right := milp.Solution{Status: milp.Optimal, Objective: 1000, Bound: 1000, Values: []float64{3, 4}}
	for _, test := range []struct {
		name  string
		spoil func(s *milp.Solution)
		want  string
	}{
		{"right", func(*milp.Solution) {}, ""},
		{"within the tolerance", func(s *milp.Solution) { s.Objective, s.Bound, s.Values[0] = 1000.009, 999.991, 3.00002 }, ""},
		{"status", func(s *milp.Solution) { s.Status, s.Reason = milp.Feasible, "tired" }, "status feasible (tired), want optimal"},
		{"objective", func(s *milp.Solution) { s.Objective = 1000.02 }, "objective 1000.02"},
		{"bound", func(s *milp.Solution) { s.Bound = 1001 }, "bound 1001"},
		{"no bound", func(s *milp.Solution) { s.Bound = math.Inf(1) }, "bound +Inf"},
		{"NaN", func(s *milp.Solution) { s.Objective = math.NaN() }, "objective NaN"},
		{"values", func(s *milp.Solution) { s.Values[1] = 5 }, "values [3 5], want [3 4]"},
	} {
		got := right
		got.Values = slices.Clone(right.Values)
		test.spoil(&got)
		err := c.compare(got)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if err := (oneCase{want: milp.Infeasible}).compare(milp.Solution{Status: milp.Infeasible, Objective: math.NaN()}); err != nil {
		t.Errorf("an outcome without a point: %v", err)
	}
}

// TestWithin: an answer in time passes through, the check's own error too; without the claim to obey it the
// context cannot end.
func TestWithin(t *testing.T) {
	failure := errors.New("failure")
	for _, obeys := range []bool{true, false} {
		can := milp.CanInteger
		if obeys {
			can |= milp.CanInterrupt
		}
		for _, want := range []error{nil, failure} {
			c := check{"some/check", 0, func(ctx context.Context, _ milp.Solver) error {
				if (ctx.Done() != nil) != obeys {
					t.Errorf("obeys %v: a context that can end: %v", obeys, ctx.Done() != nil)
				}
				return want
			}}
			if got := c.within(time.Minute, mutant{can: can}); !errors.Is(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
}

// TestMarketSplit: demands are shared out in halves, and with slack any split is feasible at the price of what it
// misses the half by.
func TestMarketSplit(t *testing.T) {
	strict, loose := marketSplit(false), marketSplit(true)
	if strict.Variables() != customers || strict.Rows() != products || loose.Variables() != customers+2*products || strict.Integers() != customers {
		t.Fatalf("%d and %d variables, %d rows", strict.Variables(), loose.Variables(), strict.Rows())
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		point := make([]float64, loose.Variables())
		for k := range customers {
			point[k] = float64(random.IntN(2))
		}
		missed := 0.0
		for i := range products {
			d := loose.Row(i).Lower - strict.Activity(i, point[:customers])
			if d > 0 {
				point[customers+2*i] = d
			} else {
				point[customers+2*i+1] = -d
			}
			missed += math.Abs(d)
		}
		if err := loose.Verify(point, 0, 0); err != nil || loose.Objective(point) != missed {
			t.Fatalf("%v: worth %v, want %v", err, loose.Objective(point), missed)
		}
		if missed > 0 && strict.Verify(point[:customers], 0, 0) == nil {
			t.Fatal("a split that misses the half is feasible without slack")
		}
	}
}

// TestLimited: each way to disregard a limit is told, and so is an answer of the wrong sort.
func TestLimited(t *testing.T) {
	point := make([]float64, customers+2*products)
	for i := range products {
		point[customers+2*i] = marketSplit(true).Row(i).Lower
	}
	none := milp.Solution{Status: milp.LimitReached, Bound: math.Inf(-1)}
	some := milp.Solution{Status: milp.Feasible, Values: point}
	for _, test := range []struct {
		name   string
		slack  bool
		opts   milp.Options
		answer says
		want   string
	}{
		{"no point, none wanted", false, milp.Options{NodeLimit: 1}, says{answer: none}, ""},
		{"a point, one wanted", true, milp.Options{NodeLimit: 1}, says{answer: some}, ""},
		{"no point, one wanted", true, milp.Options{NodeLimit: 1}, says{answer: none}, "want feasible"},
		{"infeasible", false, milp.Options{TimeLimit: time.Hour}, says{answer: milp.Solution{Status: milp.Infeasible}}, "want limit reached"},
		{"twice the nodes", false, milp.Options{NodeLimit: 5}, says{answer: milp.Solution{Status: milp.LimitReached, Bound: math.Inf(-1), Nodes: 20}}, ""},
		{"more nodes", false, milp.Options{NodeLimit: 5}, says{answer: milp.Solution{Status: milp.LimitReached, Bound: math.Inf(-1), Nodes: 21}}, "21 nodes with a limit of 5"},
		{"an error", false, milp.Options{NodeLimit: 1}, says{err: errors.New("broken")}, "broken"},
	} {
		err := limited(test.slack, &test.opts)(context.Background(), test.answer)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestCancelled: a back-end that is not asked, since the context has ended, cannot fail; one that goes on to the
// end of its own has not been cancelled.
func TestCancelled(t *testing.T) {
	if err := cancelled(context.Background(), says{err: errors.New("was asked")}, 0); err != nil {
		t.Errorf("before the start: %v", err)
	}
	limit := milp.Solution{Status: milp.LimitReached, Bound: math.Inf(-1)}
	if err := cancelled(context.Background(), says{answer: limit}, time.Hour); err == nil || !strings.Contains(err.Error(), "want cancelled") {
		t.Errorf("a limit instead: %v", err)
	}
	nothing := milp.Solution{Status: milp.Cancelled, Bound: math.Inf(-1)}
	err := cancelled(context.Background(), says{answer: nothing, after: 20 * time.Millisecond}, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "no solution after") {
		t.Errorf("cancelled without a point: %v", err)
	}
}

// TestFamiliesAreMixed: every family draws feasible and infeasible models, the sorts of variables that it is named
// after, and the same models each time.
func TestFamiliesAreMixed(t *testing.T) {
	for _, f := range []family{
		{name: "binary", integers: 8, width: 1}, {name: "equations", integers: 8, width: 1, equations: true},
		{name: "continuous", continuous: 3}, {name: "mixed", integers: 3, continuous: 2, width: 4},
	} {
		feasible, equations := 0, 0
		const models = 40
		for seed := range uint64(models) {
			model := f.model(rand.New(rand.NewPCG(seed, 1)))
			again := f.model(rand.New(rand.NewPCG(seed, 1)))
			if text(t, model) != text(t, again) {
				t.Fatalf("%s: seed %d draws two models", f.name, seed)
			}
			if milporacle.Solve(model).Feasible {
				feasible++
			}
			if n := model.Integers(); n > f.integers || model.Variables()-n > f.continuous || (n > 0) != (f.integers > 0) {
				t.Errorf("%s: %d integers of %d variables", f.name, n, model.Variables())
			}
			for j := range model.Variables() {
				if v := model.Variable(j); v.Integer && (v.Upper-v.Lower < 1 || v.Upper-v.Lower > float64(f.width)) {
					t.Errorf("%s: bounds [%v %v]", f.name, v.Lower, v.Upper)
				}
			}
			for i := range model.Rows() {
				if r := model.Row(i); r.Lower == r.Upper {
					equations++
				}
			}
		}
		if feasible < models/10 || feasible > models*19/20 {
			t.Errorf("%s: %d of %d models are feasible", f.name, feasible, models)
		}
		if f.equations && equations < models/4 {
			t.Errorf("%s: %d equations", f.name, equations)
		}
	}
}

// text writes a model out.
func text(t *testing.T, m *milp.Model) string {
	t.Helper()
	var out strings.Builder
	if err := m.WriteMPS(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestInstances: the built-in programs are there with their optima, in the order that is promised.
func TestInstances(t *testing.T) {
	all := MIPLIB()
	if len(all) != 8 || !slices.IsSortedFunc(all, func(a, b Instance) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d instances", len(all))
	}
	for _, i := range append(all, Known()...) {
		if i.Model.Variables() == 0 || i.Model.Rows() == 0 || i.Model.Integers() == 0 || math.IsNaN(i.Optimum) {
			t.Errorf("%s: %d variables, %d rows, optimum %v", i.Name, i.Model.Variables(), i.Model.Rows(), i.Optimum)
		}
	}
}

// TestInstanceSolve: a wrong optimum, a missing proof and an error are each told.
func TestInstanceSolve(t *testing.T) {
	point := []float64{0, 1, 1, 1} // of the knapsack
	for _, test := range []struct {
		name    string
		optimum float64
		solver  says
		want    string
	}{
		{"right", 21, says{answer: milp.Solution{Status: milp.Optimal, Values: point, Bound: 21}}, ""},
		{"catalogue differs by its fifth decimal", 21.00004, says{answer: milp.Solution{Status: milp.Optimal, Values: point, Bound: 21}}, ""},
		{"another optimum", 21.001, says{answer: milp.Solution{Status: milp.Optimal, Values: point, Bound: 21}}, "want 21.001"},
		{"no proof", 21, says{answer: milp.Solution{Status: milp.Feasible, Values: point, Bound: 22}}, "feasible"},
		{"an error", 21, says{err: errors.New("broken")}, "broken"},
	} {
		i := Instance{"knapsack", test.optimum, knapsack()}
		err := i.solve(t.Logf)(context.Background(), test.solver)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
