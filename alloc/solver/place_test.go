package solver_test

import (
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// located is one application that holds 2 containers on each of two servers of three, the last of which is of a class
// of its own.
func located() *solver.Instance {
	return &solver.Instance{
		Capacity: []apportion.Resources{{4}, {4}, {4}}, Total: apportion.Resources{12},
		Class: []int{0, 0, 1},
		Apps: []solver.App{{Demand: apportion.Resources{2}, Min: 1, Max: 6, Running: true, Cost: 1,
			Previous: []apportion.Placement{{Server: 0, Count: 2}, {Server: 2, Count: 2}}}},
		AdjustBudget: 1, LossBudget: 10,
	}
}

// An application may stay where it is as long as nothing that concerns it alone has changed.
// Reference: [Dorm (3), (6)-(8)], and beyond.
func TestMayStay(t *testing.T) {
	for name, c := range map[string]struct {
		change func(inst *solver.Instance, app *solver.App)
		want   bool
	}{
		"nothing has changed":                  {func(*solver.Instance, *solver.App) {}, true},
		"it does not run":                      {func(_ *solver.Instance, app *solver.App) { app.Running = false }, false},
		"a server is gone":                     {func(_ *solver.Instance, app *solver.App) { app.Displaced = true }, false},
		"a server has shrunk to what it holds": {func(inst *solver.Instance, _ *solver.App) { inst.Capacity[0][0] = 4 }, true},
		"a server has shrunk below that":       {func(inst *solver.Instance, _ *solver.App) { inst.Capacity[2][0] = 3 }, false},
		"another server has shrunk":            {func(inst *solver.Instance, _ *solver.App) { inst.Capacity[1][0] = 0 }, true},
		"its maximum is what it has":           {func(_ *solver.Instance, app *solver.App) { app.Max = 4 }, true},
		"its maximum is below that":            {func(_ *solver.Instance, app *solver.App) { app.Max = 3 }, false},
		"its minimum is above that":            {func(_ *solver.Instance, app *solver.App) { app.Min = 5 }, false},
		"its step does not fit":                {func(_ *solver.Instance, app *solver.App) { app.Step = 3 }, false},
		"2 on a server are allowed":            {func(_ *solver.Instance, app *solver.App) { app.PerServer = 2 }, true},
		"1 on a server is allowed":             {func(_ *solver.Instance, app *solver.App) { app.PerServer = 1 }, false},
		"2 servers are allowed":                {func(_ *solver.Instance, app *solver.App) { app.MaxServers = 2 }, true},
		"1 server is allowed":                  {func(_ *solver.Instance, app *solver.App) { app.MaxServers = 1 }, false},
		"nothing new may come to its servers":  {func(_ *solver.Instance, app *solver.App) { app.Classes = []int{} }, true},
	} {
		inst := located()
		c.change(inst, &inst.Apps[0])
		if got := inst.MayStay(0); got != c.want {
			t.Errorf("%s: may stay %v", name, got)
		}
		// Check says the same of an answer that leaves it where it is; one that does not run is new there.
		err := inst.Check(solver.Counts{inst.Apps[0].Previous})
		if inst.Apps[0].Running && !inst.Apps[0].Displaced && (err == nil) != c.want {
			t.Errorf("%s: staying is %v", name, err)
		}
	}
}
