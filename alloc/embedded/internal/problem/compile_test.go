package problem

import (
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// oneServer is a server of ten units and applications of one unit a container, up to four of them where they do not say otherwise.
func oneServer(apps ...solver.App) *solver.Instance {
	for i := range apps {
		apps[i].Demand = apportion.Resources{1}
		if apps[i].Max == 0 {
			apps[i].Max = 4
		}
	}
	return instancetest.Finish(&solver.Instance{Capacity: []apportion.Resources{{10}}, Apps: apps, LossBudget: 9, AdjustBudget: 9})
}

// running is an application that holds n containers, and costs that much to change.
func running(n, cost int64) solver.App {
	return solver.App{Running: true, Cost: cost, Previous: []apportion.Placement{{Server: 0, Count: n}}}
}

// The paper's P2 is told from all else: each thing that it does not have is enough, whichever application has it.
func TestPlain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(inst *solver.Instance, app *solver.App)
		plain  bool
	}{
		"nothing":            {func(*solver.Instance, *solver.App) {}, true},
		"a step of one":      {func(_ *solver.Instance, app *solver.App) { app.Step = 1 }, true},
		"a step of two":      {func(_ *solver.Instance, app *solver.App) { app.Step = 2 }, false},
		"a list of numbers":  {func(_ *solver.Instance, app *solver.App) { app.Counts = []int64{1, 3} }, false},
		"elective":           {func(_ *solver.Instance, app *solver.App) { app.Elective = true }, false},
		"few on a server":    {func(_ *solver.Instance, app *solver.App) { app.PerServer = 1 }, false},
		"few servers":        {func(_ *solver.Instance, app *solver.App) { app.MaxServers = 1 }, false},
		"worths":             {func(_ *solver.Instance, app *solver.App) { app.Worth = []float64{1, 2, 3, 4} }, false},
		"losses":             {func(_ *solver.Instance, app *solver.App) { app.Losses = []solver.LossPoint{{}} }, false},
		"worth its stay":     {func(_ *solver.Instance, app *solver.App) { app.Stay = 0.5 }, true},
		"classes of servers": {func(_ *solver.Instance, app *solver.App) { app.Classes = []int{0} }, false},
		"pinned":             {func(_ *solver.Instance, app *solver.App) { app.Pinned = true }, false},
		"dear":               {func(_ *solver.Instance, app *solver.App) { app.Cost = 2 }, false},
		"free of charge":     {func(_ *solver.Instance, app *solver.App) { app.Cost = 0 }, false},
		"dear, but new": {func(_ *solver.Instance, app *solver.App) {
			app.Cost, app.Running, app.Previous = 2, false, nil
		}, true},
		"a price on loss": {func(inst *solver.Instance, _ *solver.App) { inst.LossPrice = 0.1 }, false},
	} {
		for at := range 2 {
			inst := oneServer(running(1, 1), running(2, 1))
			c.change(inst, &inst.Apps[at])
			if got := New(inst).Plain; got != c.plain {
				t.Errorf("%s, application %d: plain %v, want %v", name, at, got, c.plain)
			}
		}
	}
}

// Costs are counted in the largest unit that divides all of them; how many may change follows from the cheapest.
func TestCompileBudget(t *testing.T) {
	for name, c := range map[string]struct {
		costs          []int64
		budget         int64
		weights        []int64
		spend, allowed int64
		freed          int64 // Budget: at most all that may be freed
	}{
		"the paper's":               {[]int64{1, 1, 1}, 2, []int64{1, 1, 1}, 2, 2, 2},
		"four and six, in twos":     {[]int64{4, 6, 6}, 13, []int64{2, 3, 3}, 6, 3, 3},
		"more budget than there is": {[]int64{3, 3, 3}, 100, []int64{1, 1, 1}, 33, 33, 3},
		"too little for any":        {[]int64{5, 7, 7}, 4, []int64{5, 7, 7}, 4, 0, 0},
	} {
		var apps []solver.App
		for _, cost := range c.costs {
			apps = append(apps, running(1, cost))
		}
		inst := oneServer(apps...)
		inst.AdjustBudget = c.budget
		p := New(inst)
		var weights []int64
		for i := range p.Apps {
			weights = append(weights, p.Apps[i].Weight)
		}
		spend := c.spend
		if p.Plain {
			spend = min(spend, c.freed)
		}
		if !slices.Equal(weights, c.weights) || p.Spend != spend || p.Allowed != c.allowed || p.Budget != c.freed {
			t.Errorf("%s: weights %v of %d, %d allowed, %d of them free; want %v of %d, %d, %d", name, weights, p.Spend, p.Allowed, p.Budget,
				c.weights, spend, c.allowed, c.freed)
		}
	}
}

// Whoever cannot stay is charged at once, and whoever may change for nothing counts as new unless staying is worth
// something or it must.
func TestWhoMayStay(t *testing.T) {
	type want struct {
		pinnable, fixed bool
		weight          int64
	}
	displaced, short := running(1, 2), running(1, 2)
	displaced.Displaced = true
	short.Min = 2
	worth, pinned, pinnedForNothing := running(1, 0), running(1, 2), running(1, 0)
	worth.Stay, pinned.Pinned, pinnedForNothing.Pinned = 1, true, true
	for name, c := range map[string]struct {
		app    solver.App
		want   want
		moves  bool
		budget int64 // of a budget of 9, beside another one that costs 2
	}{
		"it may":                        {running(1, 2), want{true, false, 1}, false, 2},
		"its server is lost":            {displaced, want{}, true, 1},
		"it holds too few":              {short, want{}, true, 1},
		"a change costs nothing":        {running(1, 0), want{}, false, 1},
		"worth something, for nothing":  {worth, want{true, false, 0}, false, 2},
		"it must":                       {pinned, want{true, true, 1}, false, 2},
		"it must, and it costs nothing": {pinnedForNothing, want{true, true, 0}, false, 2},
	} {
		p := New(oneServer(c.app, running(2, 2)))
		a := p.Apps[0]
		if got := (want{a.Pinnable, a.Fixed, a.Weight}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if moves := slices.Equal(p.MustMove, []int{0}); moves != c.moves {
			t.Errorf("%s: %v must move", name, p.MustMove)
		}
		if p.Budget != c.budget {
			t.Errorf("%s: %d may be freed, want %d", name, p.Budget, c.budget)
		}
		spend := int64(4) // 9 in units of 2
		if c.moves {
			spend--
		}
		if p.Spend != spend {
			t.Errorf("%s: %d to spend, want %d", name, p.Spend, spend)
		}
		if holds := len(p.Residents[0]) == 2; holds != c.want.pinnable {
			t.Errorf("%s: residents %v", name, p.Residents[0])
		}
		if worth := c.app.Stay > 0; p.Stays != worth || p.Worthy != worth {
			t.Errorf("%s: staying counts: %v, something does beside the value: %v", name, p.Stays, p.Worthy)
		}
	}
}

// An application may have what its own bounds and the empty cluster allow, what it holds in any case, and its fair number is
// the whole part of its share.
func TestBoundsOfApplications(t *testing.T) {
	for name, c := range map[string]struct {
		app            solver.App
		min, max, fair int64
	}{
		"its own":              {solver.App{Min: 1, Max: 6, Share: 0.35}, 1, 6, 3},
		"the cluster's":        {solver.App{Min: 1, Max: 60, Share: 0.35}, 1, 10, 3},
		"what it holds":        {solver.App{Min: 1, Max: 60, Share: 0.35, Running: true, Cost: 1, Previous: []apportion.Placement{{Server: 0, Count: 8}}}, 1, 10, 3},
		"none, if it may":      {solver.App{Min: 3, Max: 6, Elective: true, Share: 0.35}, 0, 6, 3},
		"a share beyond":       {solver.App{Min: 1, Max: 6, Share: 0.9}, 1, 6, 6},
		"a share out of range": {solver.App{Min: 1, Max: 6, Share: 1e300}, 1, 6, 6},
		"no share":             {solver.App{Min: 1, Max: 6}, 1, 6, 0},
	} {
		p := New(oneServer(c.app))
		if a := p.Apps[0]; a.Min != c.min || a.Max != c.max || a.Fair != c.fair {
			t.Errorf("%s: %d to %d, fair %d; want %d to %d, fair %d", name, a.Min, a.Max, a.Fair, c.min, c.max, c.fair)
		}
	}
}

// There is a lattice where the utilization is all that counts.
func TestStepOfWhat(t *testing.T) {
	inst := oneServer(running(1, 1), running(2, 1))
	if step := New(inst).Step; math.Abs(step-0.1) > 1e-15 {
		t.Errorf("a step of %g, want a tenth", step)
	}
	priced := *inst
	priced.LossPrice = 0.1
	worthy := oneServer(running(1, 1), running(2, 1))
	worthy.Apps[0].Stay = 0.25
	for name, other := range map[string]*solver.Instance{"a price on loss": &priced, "worths": worthy} {
		if step := New(other).Step; step != 0 {
			t.Errorf("%s: a step of %g", name, step)
		}
	}
}

// With the largest maximum there is float64(Max) is 2^63, which is no int64: a share of more containers is that maximum.
func TestFairOfLargestMaximum(t *testing.T) {
	inst := &solver.Instance{
		Capacity: []apportion.Resources{{math.MaxInt64}}, Total: apportion.Resources{math.MaxInt64},
		Apps: []solver.App{{Demand: apportion.Resources{1}, Max: math.MaxInt64, Delta: 1e-19, Share: 1}},
	}
	if a := New(inst).Apps[0]; a.Fair != math.MaxInt64 || a.Max != math.MaxInt64 {
		t.Errorf("fair %d of %d, want all", a.Fair, a.Max)
	}
}
