package mip

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/program"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// overfull is two equal servers, of which the first has shrunk and holds one container too many: one of two
// applications must move, which a pool of both servers does not see.
func overfull() *solver.Instance {
	app := solver.App{Demand: apportion.Resources{2}, Min: 1, Max: 1, Value: 1. / 3, Delta: 1. / 3, Share: 1. / 3,
		Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 1}}}
	return &solver.Instance{Capacity: []apportion.Resources{{3}, {3}}, Total: apportion.Resources{6}, LossBudget: 2, AdjustBudget: 2,
		Apps: []solver.App{app, app}}
}

// What a relaxed program reaches and its answer misses is not proven.
func TestRelaxedProvesLess(t *testing.T) {
	for form, want := range map[Form]solver.Rank{Class: solver.ByLoss, Verbatim: solver.ByMoved, Disjunctive: solver.ByMoved} {
		s, err := New(bb.Solver{}, form, &Options{Preference: solver.ByOrder}).Solve(context.Background(), overfull())
		if err != nil || s.Status != solver.Optimal || s.Proven != want {
			t.Errorf("%s: %+v, %v; want it proven by %s", form, s, err, want)
		}
	}
}

// unhinted is branch and bound that takes no hint.
type unhinted struct{ bb.Solver }

func (unhinted) Capabilities() milp.Capability { return bb.Solver{}.Capabilities() &^ milp.CanHint }

// climbing returns a preference that has adopted what runs in an instance of one server with room for six, and is
// at the level after those reached.
func climbing(t *testing.T, reached ...float64) *preference {
	t.Helper()
	app := solver.App{Demand: apportion.Resources{1}, Max: 4, Value: .25, Delta: .25, Share: .5,
		Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 2}}}
	inst := &solver.Instance{Capacity: []apportion.Resources{{4}, {2}}, Total: apportion.Resources{6}, LossBudget: 9, AdjustBudget: 2, Apps: []solver.App{app, app}}
	model := must.Have(Build(inst, Verbatim))(t)
	p := &preference{inst: inst, model: model, solution: &solver.Solution{Bound: 1}}
	// The first has one and the second three: as good, but of more loss, and both are adjusted.
	p.adopt(pointOf(model, solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 3}}}))
	if p.solution.Status != solver.Optimal || p.solution.Proven != solver.ByUtilization {
		t.Fatalf("%+v", p.solution)
	}
	p.reached = reached
	return p
}

// pointOf sets the cells of counts in the verbatim form.
func pointOf(m *Model, counts solver.Counts) []float64 {
	values := make([]float64, m.MILP.Variables())
	for j := range values {
		for a := range counts {
			for _, p := range counts[a] {
				if m.MILP.VariableName(j) == fmt.Sprintf("x_a%d_s%d", a, p.Server) {
					values[j] = float64(p.Count)
				}
			}
		}
	}
	return values
}

// A lower level takes over what is better there and no worse above; anything else leaves the answer as it was.
func TestAdopt(t *testing.T) {
	held := solver.Counts{{{Server: 0, Count: 2}}, {{Server: 0, Count: 2}}}
	for _, c := range []struct {
		name    string
		reached []float64
		counts  solver.Counts
		want    bool
	}{
		{"less loss", []float64{0}, held, true},
		{"less loss than before, and not as little as was reached", []float64{-1}, held, false},
		{"as much loss", []float64{.5}, solver.Counts{{{Server: 0, Count: 3}}, {{Server: 0, Count: 1}}}, false},
		{"fewer adjusted", []float64{.5, 1}, held, true},
		{"fewer adjusted, with more loss than was reached", []float64{.4, 1}, solver.Counts{{{Server: 0, Count: 2}}, {{Server: 1, Count: 2}}}, true},
		{"fewer adjusted, less is reached", []float64{.5, 0}, solver.Counts{{{Server: 0, Count: 2}}, {{Server: 1, Count: 2}}}, false},
		{"less utilization", []float64{.5}, solver.Counts{{{Server: 0, Count: 2}}, {{Server: 0, Count: 1}}}, false},
		{"no solution", []float64{0}, solver.Counts{{{Server: 1, Count: 2}}, {{Server: 1, Count: 2}}}, false},
	} {
		p := climbing(t, c.reached...)
		want := p.solution.Counts
		if c.want {
			want = c.counts
		}
		p.adopt(pointOf(p.model, c.counts))
		if diff := cmp.Diff(want, p.solution.Counts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if p.solution.Objective != 1 || p.solution.Status != solver.Optimal {
			t.Errorf("%s: %+v", c.name, p.solution)
		}
	}
}

// The program of each level holds those above it, in rows named after their equations, and minimizes the next.
func TestFixed(t *testing.T) {
	for _, c := range []struct {
		reached []float64
		rows    []string
	}{{nil, []string{"c10"}}, {[]float64{.5}, []string{"c10", "c2"}}, {[]float64{.5, 2}, []string{"c10", "c2", "c4", "moved_0", "moved_0_less", "moved_1", "moved_1_less"}}} {
		p := climbing(t, c.reached...)
		p.answer.Values = pointOf(p.model, p.solution.Counts)
		next := must.Have(p.model.program.Next(p.answer.Values, p.reached))(t)
		first := p.model.MILP.Rows()
		if next.Rows() != first+len(c.rows) || next.Sense() != milp.Minimize {
			t.Fatalf("%d rows, %s", next.Rows()-first, next.Sense())
		}
		for k, want := range c.rows {
			if got := next.RowName(first + k); got != want {
				t.Errorf("row %d is %s, want %s", k, got, want)
			}
		}
		p.backend = unhinted{}
		if hint := p.options(next).Hint; hint != nil {
			t.Errorf("a hint for nobody: %v", hint)
		}
		p.backend = bb.Solver{}
		hint := p.options(next).Hint
		if len(hint) != next.Variables() {
			t.Fatalf("a hint of %d for %d variables", len(hint), next.Variables())
		}
		for j := range hint {
			if (j >= p.model.MILP.Variables()) != math.IsNaN(hint[j]) {
				t.Errorf("the hint of variable %d is %g", j, hint[j])
			}
		}
	}
}

// What was reached is just held, in every form and in both ways to write the losses: constants are not lost.
func TestFixedHolds(t *testing.T) {
	for _, form := range []Form{Verbatim, Disjunctive} {
		for _, whole := range []bool{false, true} {
			p := climbing(t)
			p.inst.Apps[0].Share = .4 // between one container and two
			var err error
			if p.model, err = model(program.Build(p.inst, form, whole)); err != nil {
				t.Fatal(err)
			}
			p.answer = answerTo(t, p.model.MILP)
			for k := range 3 {
				next := must.Have(p.model.program.Next(p.answer.Values, p.reached))(t)
				p.answer = answerTo(t, next)
				p.reached = append(p.reached, p.model.program.Level(k, p.answer.Values))
				if math.Abs(p.reached[k]-p.answer.Objective) > 1e-9 {
					t.Errorf("%s, whole %v: level %d is %g, the program says %g", form, whole, k, p.reached[k], p.answer.Objective)
				}
				for i := range next.Rows() {
					row, sum := next.Row(i), next.Activity(i, p.answer.Values)
					slack := map[string]float64{"c10": sum - row.Lower, "c2": row.Upper - sum, "c4": row.Upper - sum}[next.RowName(i)]
					if math.Abs(slack) > 2*solver.LossTolerance {
						t.Errorf("%s, whole %v: at level %d row %s has a slack of %g", form, whole, k, next.RowName(i), slack)
					}
				}
			}
		}
	}
}

// answerTo is the proven answer of branch and bound.
func answerTo(t *testing.T, m *milp.Model) milp.Solution {
	t.Helper()
	answer, err := milp.Solve(context.Background(), bb.Solver{}, m, nil)
	if err != nil || answer.Status != milp.Optimal {
		t.Fatalf("%+v, %v", answer, err)
	}
	return answer
}

// An application that has more on a server than it may cannot stay, which a pool of equal servers does not see by
// itself.
func TestCrowdedMustMove(t *testing.T) {
	for _, form := range Forms() {
		inst := overfull()
		inst.Capacity = []apportion.Resources{{4}, {4}}
		inst.Total, inst.Apps, inst.AdjustBudget = apportion.Resources{8}, inst.Apps[:1], 0
		inst.Apps[0].PerServer, inst.Apps[0].Max, inst.Apps[0].Previous[0].Count = 1, 2, 2
		s, err := New(bb.Solver{}, form, nil).Solve(context.Background(), inst)
		if err != nil || s.Status != solver.Infeasible {
			t.Errorf("%s: %+v, %v", form, s, err)
		}
	}
}
