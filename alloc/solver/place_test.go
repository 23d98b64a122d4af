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

// Classes say where containers may come anew; what is there may stay, and only all of it.
func TestOpen(t *testing.T) {
	inst := located()
	app := &inst.Apps[0]
	for name, c := range map[string]struct {
		classes []int
		open    [3]bool
	}{
		"all":       {nil, [3]bool{true, true, true}},
		"none":      {[]int{}, [3]bool{}},
		"the first": {[]int{0}, [3]bool{true, true, false}},
		"the last":  {[]int{1}, [3]bool{false, false, true}},
		"both":      {[]int{0, 1}, [3]bool{true, true, true}},
		"another":   {[]int{2}, [3]bool{}},
	} {
		app.Classes = c.classes
		for j, want := range c.open {
			if got := inst.Open(0, j); got != want {
				t.Errorf("%s: server %d is open %v", name, j, got)
			}
			alone := solver.Counts{{{Server: j, Count: 2}}}
			if err := inst.Check(alone); (err == nil) != want {
				t.Errorf("%s: on server %d: %v", name, j, err)
			}
		}
		if err := inst.Check(solver.Counts{app.Previous}); err != nil {
			t.Errorf("%s: it may not stay: %v", name, err)
		}
	}
	// Without classes all servers are of class 0.
	inst.Class, app.Classes = nil, []int{1}
	if inst.Open(0, 2) {
		t.Error("a server without a class is open to another class")
	}
}

// What differs in any container is an adjustment; whoever did not run is never adjusted.
func TestAdjusted(t *testing.T) {
	app := located().Apps[0]
	more := []apportion.Placement{{Server: 0, Count: 2}, {Server: 2, Count: 3}}
	for name, c := range map[string]struct {
		placed             []apportion.Placement
		running, displaced bool
		want               bool
	}{
		"as it was":                     {app.Previous, true, false, false},
		"as it was, but it cannot stay": {app.Previous, true, true, true},
		"one more":                      {more, true, false, true},
		"nothing":                       {nil, true, false, true},
		"elsewhere":                     {[]apportion.Placement{{Server: 1, Count: 2}, {Server: 2, Count: 2}}, true, false, true},
		"new":                           {more, false, false, false},
	} {
		app.Running, app.Displaced = c.running, c.displaced
		if got := app.Adjusted(c.placed); got != c.want {
			t.Errorf("%s: adjusted %v", name, got)
		}
	}
}
