package problem_test

import (
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// What is Impossible has no solution, with costs, limits, steps, lists and ceilings.
func TestImpossibleAgainstOracle(t *testing.T) {
	met := 0
	for seed := range uint64(3000) {
		for _, inst := range []*solver.Instance{solvertest.General(seed), solvertest.Grouped(solvertest.General(seed), seed)} {
			if !problem.New(inst).Impossible() {
				continue
			}
			met++
			if best, _ := p2oracle.Best(inst); best != nil {
				t.Errorf("General(%d) is called impossible, but %v is a solution", seed, best)
			}
		}
	}
	if met < 100 {
		t.Errorf("%d were impossible", met)
	}
}

// Each sum that is too large is seen, and what just fits is not impossible.
func TestImpossible(t *testing.T) {
	app := func(demand, least, most int64) solver.App {
		return solver.App{Demand: apportion.Resources{demand}, Min: least, Max: most, Share: 0.5}
	}
	for name, c := range map[string]struct {
		apps   []solver.App
		loss   float64
		change func(*solver.Instance)
		want   bool
	}{
		"all fit":                         {apps: []solver.App{app(1, 4, 4), app(2, 2, 2)}, loss: 1},
		"a container above every server":  {apps: []solver.App{app(5, 1, 1)}, loss: 1, want: true},
		"a minimum above the cluster":     {apps: []solver.App{app(3, 3, 3)}, loss: 1, want: true},
		"minima that are together":        {apps: []solver.App{app(1, 5, 5), app(2, 2, 2)}, loss: 1, want: true},
		"a loss above the budget":         {apps: []solver.App{app(1, 0, 1)}, loss: 0.3, want: true},
		"a loss within the budget":        {apps: []solver.App{app(1, 0, 1)}, loss: 0.4},
		"a minimum above a ceiling":       {apps: []solver.App{app(1, 4, 8)}, loss: 1, change: ceiling(3), want: true},
		"a minimum as much as it":         {apps: []solver.App{app(1, 4, 8)}, loss: 1, change: ceiling(4)},
		"a pinned one above the ceiling":  {apps: []solver.App{app(1, 0, 8)}, loss: 1, change: func(in *solver.Instance) { runs(in, true); ceiling(1)(in) }, want: true},
		"more must move than the budget":  {apps: []solver.App{app(1, 3, 8)}, loss: 1, change: func(in *solver.Instance) { runs(in, false) }, want: true},
		"as many must move as the budget": {apps: []solver.App{app(1, 3, 8)}, loss: 1, change: func(in *solver.Instance) { runs(in, false); in.AdjustBudget = 1 }},
	} {
		inst := &solver.Instance{Capacity: []apportion.Resources{{4}, {4}}, Apps: c.apps, LossBudget: c.loss}
		if c.change != nil {
			c.change(inst)
		}
		if got := problem.New(instancetest.Finish(inst)).Impossible(); got != c.want {
			t.Errorf("%s: impossible %v, want %v", name, got, c.want)
		}
	}
}

// ceiling limits the first application.
func ceiling(limit int64) func(*solver.Instance) {
	return func(in *solver.Instance) {
		in.Groups = []solver.Group{{Apps: []int{0}, Ceiling: []int64{limit}}}
	}
}

// runs lets the first application run with two containers.
func runs(in *solver.Instance, pinned bool) {
	app := &in.Apps[0]
	app.Running, app.Cost, app.Pinned, app.Previous = true, 1, pinned, []apportion.Placement{{Server: 0, Count: 2}}
}
