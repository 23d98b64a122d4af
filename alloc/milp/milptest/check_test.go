package milptest

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/oracle/milporacle"
)

// What the suite takes for known is what enumeration finds, wherever every variable is bounded; the listed values are
// feasible and worth the listed objective in every case.
func TestCasesAgainstEnumeration(t *testing.T) {
	enumerated := 0
	for _, c := range cases() {
		model, err := build(c.name, c.build)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
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

// Each part of an answer that differs from the known one by more than the tolerance is told.
func TestCompare(t *testing.T) {
	c := oneCase{want: milp.Optimal, objective: 1000, values: []float64{3, 4}}
	for _, test := range []struct {
		name  string
		spoil func(s *milp.Solution)
		want  string
	}{
		{"right", func(*milp.Solution) {}, ""},
		{"within the tolerance", func(s *milp.Solution) { s.Objective, s.Bound, s.Values[0] = 1000.009, 999.991, 3.00002 }, ""},
		{"status", func(s *milp.Solution) { s.Status, s.Reason = milp.Feasible, "tired" }, "status feasible (tired), want optimal"},
		{"objective", func(s *milp.Solution) { s.Objective = 1000.02 }, "objective 1000.02"},
		{"bound below", func(s *milp.Solution) { s.Bound = 999 }, "bound 999"},
		{"no bound", func(s *milp.Solution) { s.Bound = math.Inf(1) }, "bound +Inf"},
		{"NaN", func(s *milp.Solution) { s.Objective = math.NaN() }, "objective NaN"},
		{"values", func(s *milp.Solution) { s.Values[1] = 4.0001 }, "want [3 4]"},
	} {
		got := milp.Solution{Status: milp.Optimal, Objective: 1000, Bound: 1000, Values: []float64{3, 4}}
		test.spoil(&got)
		err := c.compare(got)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if near(1, inf) || near(inf, 1) || near(0, math.NaN()) {
		t.Error("a number is near what is none")
	}
}

// The list of checks is the same each time.
func TestNamesOfChecks(t *testing.T) {
	names := func() (all []string) {
		for _, c := range checks(1) {
			all = append(all, c.name)
		}
		return all
	}
	for first := range 5 {
		if one, other := names(), names(); !slices.Equal(one, other) || len(one) < 60 {
			t.Fatalf("%d: %q, before %q", first, other, one)
		}
	}
}

// A wrong optimum and a missing proof are each told.
func TestInstanceSolve(t *testing.T) {
	for _, test := range []struct {
		name    string
		optimum float64
		by      mutant
		want    string
	}{
		{"catalogue differs by its fifth decimal", 21.00004, mutant{}, ""},
		{"another optimum", 21.001, mutant{}, "want 21.001"},
		{"no proof", 21, mutant{after: turning(milp.Optimal, milp.Feasible)}, "feasible"},
	} {
		err := Instance{"knapsack", test.optimum, knapsack()}.solve(t.Logf)(context.Background(), test.by)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
