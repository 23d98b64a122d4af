package solvertest

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// answerToTiny is the proven answer of the default solver to Tiny.
func answerToTiny(t *testing.T) *solver.Solution {
	t.Helper()
	s, err := embedded.New(nil).Solve(context.Background(), Tiny())
	if err != nil || s.Status != solver.Optimal {
		t.Fatalf("%+v, %v", s, err)
	}
	return s
}

// says reports whether err is what is wanted: nothing where text is empty.
func says(err error, text string) bool {
	if text == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), text)
}

// Each thing that is wrong with a solution by itself is told in its own words.
func TestJudge(t *testing.T) {
	theCap := solver.Certificate{Multipliers: &solver.Multipliers{Server: [][]float64{{0, 0, 0}, {0, 0, 0}}}} // proves 3
	for _, c := range []struct {
		name   string
		change func(s *solver.Solution)
		want   string
	}{
		{"right", func(*solver.Solution) {}, ""},
		{"rounded", func(s *solver.Solution) { s.Objective += solver.ObjectiveTolerance / 2 }, ""},
		{"a bound above the cap", func(s *solver.Solution) { s.Bound = 3.1 }, "above the cap"},
		{"a bound that is no number", func(s *solver.Solution) { s.Bound = math.NaN() }, "above the cap"},
		{"a server overfilled", func(s *solver.Solution) { s.Counts[0][0].Count = 9 }, "constraint violated"},
		{"an objective of its own", func(s *solver.Solution) { s.Objective -= .1 }, "recomputed 2.375"},
		{"an objective that is no number", func(s *solver.Solution) { s.Objective = math.NaN() }, "recomputed"},
		{"a bound below", func(s *solver.Solution) { s.Bound = 2 }, "above its bound"},
		{"feasible and proven", func(s *solver.Solution) { s.Status = solver.Feasible }, "feasible, proven by"},
		{"optimal and not proven", func(s *solver.Solution) { s.Proven = solver.ByNothing }, "proven by nothing"},
		{"prices for no server", func(s *solver.Solution) { s.Multipliers = new(solver.Multipliers) }, "multipliers must"},
		{"infeasible with counts", func(s *solver.Solution) { s.Status = solver.Infeasible }, "and yet with counts"},
		{"infeasible with a bound", func(s *solver.Solution) { s.Status, s.Counts = solver.Infeasible, nil }, "infeasible with bound"},
		{"unknown below everything", func(s *solver.Solution) { *s = solver.Solution{Bound: math.Inf(-1)} }, "unknown with bound -Inf"},
		{"unknown", func(s *solver.Solution) { *s = solver.Solution{Bound: 3} }, ""},
		{"infeasible", func(s *solver.Solution) { *s = solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)} }, ""},
		{"a status that JSON refuses", func(s *solver.Solution) { *s = solver.Solution{Status: 9, Bound: 3} }, "no value 9"},
		{"a pointer to text that is none", func(s *solver.Solution) { s.By.Solver = "\xff" }, "JSON gives another"},
		{"prices that prove the bound", func(s *solver.Solution) { s.Certificate, s.Bound = theCap, 3 }, ""},
		{"prices that prove less", func(s *solver.Solution) { s.Certificate = theCap }, "without a search"},
		{"a search that proves more than prices", func(s *solver.Solution) { s.Certificate, s.Searched = theCap, true }, ""},
		{"no prices", func(s *solver.Solution) { s.Certificate = solver.Certificate{} }, ""},
	} {
		s := answerToTiny(t)
		c.change(s)
		if err := judge(Tiny(), s); !says(err, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	s := answerToTiny(t)
	s.Objective = 3.5 // no prices may prove less, whatever they are
	if err := certified(Tiny(), s); !says(err, "below the objective") {
		t.Errorf("an objective above what is proven: %v", err)
	}
}

// Against the truth, Relaxed excuses that nothing is found, and nothing else.
func TestCompare(t *testing.T) {
	best, _ := p2oracle.Best(Tiny())
	none := solver.Solution{Bound: 3}
	infeasible := solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}
	for _, c := range []struct {
		name            string
		s               *solver.Solution
		best            solver.Counts
		strict, relaxed string
	}{
		{"the answer", answerToTiny(t), best, "", ""},
		{"nothing found", &none, best, "unknown where there is a solution", ""},
		{"denied", &infeasible, best, "infeasible where there is a solution", "infeasible where there is a solution"},
		{"a bound below the optimum", &solver.Solution{Bound: 2}, best, "below the optimum", "below the optimum"},
		{"an answer where there is none", answerToTiny(t), nil, "optimal where there is no solution", "optimal where there is no solution"},
		{"unknown where there is none", &none, nil, "unknown where there is no solution", ""},
		{"infeasible where there is none", &infeasible, nil, "", ""},
	} {
		for relaxed, want := range map[bool]string{false: c.strict, true: c.relaxed} {
			opts := (&Options{Relaxed: relaxed}).complete()
			if err := opts.compare(Tiny(), c.s, c.best); !says(err, want) {
				t.Errorf("%s, relaxed %v: %v, want %q", c.name, relaxed, err, want)
			}
		}
	}
}

// An answer that claims to be optimal and is not is found out at the tolerance that was asked for.
func TestCompareTolerance(t *testing.T) {
	best, _ := p2oracle.Best(Tiny())
	s := answerToTiny(t)
	s.Counts, s.Certificate = solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 1}, {Server: 1, Count: 1}}, {{Server: 0, Count: 1}}}, solver.Certificate{}
	inst := Tiny()
	inst.AdjustBudget = 2
	s.Objective = inst.Objective(s.Counts) // a container of MF less: 5/16
	for tolerance, want := range map[float64]string{.1: "where 2.375 is attained", .4: ""} {
		opts := (&Options{Tolerance: tolerance}).complete()
		s.Proven = solver.ByUtilization
		if err := opts.compare(inst, s, best); !says(err, want) {
			t.Errorf("tolerance %g: %v, want %q", tolerance, err, want)
		}
	}
}

// Each level of the preference is held against the best answer as soon as it is claimed, not before; a better one may stand.
func TestRanked(t *testing.T) {
	at := func(server int, count int64) []apportion.Placement {
		return []apportion.Placement{{Server: server, Count: count}}
	}
	split := []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 1}}
	for _, c := range []struct {
		name      string
		got, best []apportion.Placement // of LR, which holds two on server 0
		from      solver.Rank           // the first level at which it is wrong
		want      string
	}{
		{"the same", at(0, 2), at(0, 2), solver.ByOrder + 1, ""},
		{"better", at(0, 2), at(1, 3), solver.ByOrder + 1, ""},
		{"more loss", nil, at(0, 2), solver.ByLoss, "with loss"},
		{"as much loss, elsewhere", at(1, 2), at(0, 2), solver.ByAdjusted, "1 adjusted, where 0"},
		{"two of two instead of one", at(1, 2), split, solver.ByMoved, "4 moved, where 2"},
	} {
		inst := Tiny()
		with := func(lr []apportion.Placement) solver.Counts { return solver.Counts{lr, inst.Apps[1].Previous, nil} }
		for rank := solver.ByNothing; rank <= solver.ByOrder; rank++ {
			want := ""
			if rank >= c.from {
				want = c.want
			}
			if err := ranked(inst, &solver.Solution{Counts: with(c.got), Proven: rank}, with(c.best)); !says(err, want) {
				t.Errorf("%s, proven by %s: %v, want %q", c.name, rank, err, want)
			}
		}
	}
}
