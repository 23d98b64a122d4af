package solver_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// tiny is Dorm's P2 on two servers, LR and MF running, NN new; LR holds (2, 0), MF (1, 2).
func tiny() *solver.Instance {
	return &solver.Instance{
		Capacity: []apportion.Resources{{4, 1, 16}, {4, 0, 16}},
		Total:    apportion.Resources{8, 1, 32},
		Apps: []solver.App{
			{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 6, Value: 3. / 16, Delta: 1. / 8, Share: 7. / 24,
				Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 2}}},
			{Demand: apportion.Resources{2, 0, 2}, Min: 1, Max: 4, Value: 5. / 16, Delta: 1. / 4, Share: 7. / 12,
				Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 2}}},
			{Demand: apportion.Resources{1, 1, 4}, Min: 1, Max: 1, Value: 5. / 4, Delta: 1, Share: 1},
		},
		LossBudget:   1,
		AdjustBudget: 1,
	}
}

// best is the optimum of tiny.
func best() solver.Counts {
	return solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 1}, {Server: 1, Count: 2}}, {{Server: 0, Count: 1}}}
}

func TestMetrics(t *testing.T) {
	inst, counts := tiny(), best()
	for _, m := range []struct {
		name      string
		got, want float64
	}{
		{"objective", inst.Objective(counts), 2.375},
		{"loss", inst.FairnessLoss(counts), 1. / 3},
		{"adjusted", float64(inst.AdjustedApps(counts)), 1},
		{"moved", float64(inst.Moved(counts)), 1},
	} {
		if math.Abs(m.got-m.want) > 1e-12 {
			t.Errorf("%s = %g, want %g", m.name, m.got, m.want)
		}
	}
}

func TestMoved(t *testing.T) {
	inst := tiny()
	for _, c := range []struct {
		name            string
		lr              []apportion.Placement
		moved, adjusted int64
	}{
		{"unchanged", []apportion.Placement{{Server: 0, Count: 2}}, 0, 0},
		{"one more beside", []apportion.Placement{{Server: 0, Count: 2}, {Server: 1, Count: 1}}, 1, 1},
		{"same number elsewhere", []apportion.Placement{{Server: 1, Count: 2}}, 4, 1},
		{"none left", nil, 2, 1},
	} {
		counts := best()
		counts[0] = c.lr
		if moved, adjusted := inst.Moved(counts), inst.AdjustedApps(counts); moved != c.moved || adjusted != c.adjusted {
			t.Errorf("%s: moved %d, adjusted %d; want %d, %d", c.name, moved, adjusted, c.moved, c.adjusted)
		}
	}
	inst.Apps[1].Displaced = true
	if adjusted := inst.AdjustedApps(best()); adjusted != 2 {
		t.Errorf("with MF displaced: %d adjusted, want 2", adjusted)
	}
}

func TestCheck(t *testing.T) {
	must.Do(t, tiny().Check(best()))
	for _, c := range []struct {
		name   string
		change func(*solver.Instance, solver.Counts) solver.Counts
		want   string
	}{
		{"an application missing", func(_ *solver.Instance, c solver.Counts) solver.Counts { return c[:2] }, "2 entries"},
		{"a server over its capacity", func(_ *solver.Instance, c solver.Counts) solver.Counts { c[1][0].Count = 2; return c }, "(6)"},
		{"above the maximum", func(i *solver.Instance, c solver.Counts) solver.Counts { i.Apps[1].Max = 2; return c }, "(7)"},
		{"below the minimum", func(_ *solver.Instance, c solver.Counts) solver.Counts { c[2] = nil; return c }, "(8)"},
		{"a count of zero", func(_ *solver.Instance, c solver.Counts) solver.Counts { c[0][0].Count = 0; return c }, "(9)"},
		{"a negative count", func(_ *solver.Instance, c solver.Counts) solver.Counts { c[1][1].Count = -1; return c }, "(9)"},
		{"servers out of order", func(_ *solver.Instance, c solver.Counts) solver.Counts { c[1][0], c[1][1] = c[1][1], c[1][0]; return c }, "(9)"},
		{"a server that is not there", func(_ *solver.Instance, c solver.Counts) solver.Counts { c[1][1].Server = 2; return c }, "(9)"},
		{"a server below zero", func(_ *solver.Instance, c solver.Counts) solver.Counts { c[1][0].Server = -1; return c }, "(9)"},
		{"counts that overflow", func(i *solver.Instance, c solver.Counts) solver.Counts {
			i.Apps[1].Max = math.MaxInt64
			c[1][0].Count, c[1][1].Count = math.MaxInt64, 1
			return c
		}, "overflows"},
		{"a demand that overflows", func(i *solver.Instance, c solver.Counts) solver.Counts {
			i.Apps[1].Max = math.MaxInt64
			c[1][0].Count = math.MaxInt64 - 2
			return c
		}, "overflows"},
		{"loss above its budget", func(i *solver.Instance, c solver.Counts) solver.Counts { i.LossBudget = .3; return c }, "(15)"},
		{"too many adjusted", func(i *solver.Instance, c solver.Counts) solver.Counts { i.AdjustBudget = 0; return c }, "(16)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inst := tiny()
			err := inst.Check(c.change(inst, best()))
			if !errors.Is(err, solver.ErrViolated) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Check() = %v, want a violation of %s", err, c.want)
			}
		})
	}
}

func TestSolutionGap(t *testing.T) {
	for _, c := range []struct {
		name string
		s    solver.Solution
		want float64
	}{
		{"optimal", solver.Solution{Status: solver.Optimal, Objective: 2, Bound: 2.0000000001}, 0},
		{"feasible", solver.Solution{Status: solver.Feasible, Objective: 1.5, Bound: 2}, .25},
		{"no bound", solver.Solution{Status: solver.Feasible, Objective: 1.5, Bound: math.Inf(1)}, math.Inf(1)},
		{"nothing", solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}, math.Inf(1)},
	} {
		if got := c.s.Gap(); got != c.want {
			t.Errorf("%s: gap %g, want %g", c.name, got, c.want)
		}
	}
}

func TestStrings(t *testing.T) {
	for value, want := range map[interface{ String() string }]string{
		solver.Unknown: "unknown", solver.Feasible: "feasible", solver.Optimal: "optimal", solver.Infeasible: "infeasible", solver.Status(9): "unknown 9",
		solver.ByNothing: "nothing", solver.ByUtilization: "utilization", solver.ByOrder: "order", solver.Rank(9): "unknown 9",
	} {
		if value.String() != want {
			t.Errorf("%#v prints as %q, want %q", value, value, want)
		}
	}
}
