package solver_test

import (
	"errors"
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// worthy is an application of 2, 4 or 6 containers, or none, that holds four.
func worthy() solver.App {
	return solver.App{
		Demand: apportion.Resources{1}, Max: 7, Step: 2, Value: 10, Worth: []float64{1, -2, 3}, Idle: -5, Stay: .5,
		Running: true, Previous: []apportion.Placement{{Server: 0, Count: 4}},
	}
}

// Each number has its own worth, in the order of the numbers that are allowed.
func TestWorthOf(t *testing.T) {
	app := worthy()
	listed := solver.App{Counts: []int64{1, 4, 9}, Min: 2, Max: 8, Worth: []float64{100, 7, 100}, Elective: true, Idle: -1}
	for _, c := range []struct {
		name   string
		app    solver.App
		placed []apportion.Placement
		want   float64
	}{
		{"none", app, nil, -5},
		{"the first", app, []apportion.Placement{{Server: 0, Count: 2}}, 20 + 1},
		{"elsewhere", app, []apportion.Placement{{Server: 1, Count: 4}}, 40 - 2},
		{"as it is", app, []apportion.Placement{{Server: 0, Count: 4}}, 40 - 2 + .5},
		{"on two servers", app, []apportion.Placement{{Server: 0, Count: 4}, {Server: 1, Count: 2}}, 60 + 3},
		{"a number that it may not have", app, []apportion.Placement{{Server: 1, Count: 3}}, 30},
		{"of a list", listed, []apportion.Placement{{Server: 1, Count: 4}}, 7},
		{"of a list, beyond the bounds", listed, []apportion.Placement{{Server: 1, Count: 9}}, 0},
		{"of a list, none", listed, nil, -1},
	} {
		if got := c.app.WorthOf(c.placed); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
	app.Displaced = true
	if got := app.WorthOf(app.Previous); got != 38 {
		t.Errorf("one that cannot stay: %g", got)
	}
	app.Running, app.Displaced = false, false
	if got := app.WorthOf(app.Previous); got != 38 {
		t.Errorf("one that does not run: %g", got)
	}
}

// Bad worths are refused, each by its own fault.
func TestBadWorth(t *testing.T) {
	for name, c := range map[string]struct {
		change func(app *solver.App)
		field  string
		want   error
	}{
		"too few":          {func(app *solver.App) { app.Worth = app.Worth[:2] }, "Worth", apportion.ErrLength},
		"too many":         {func(app *solver.App) { app.Worth = append(app.Worth, 1) }, "Worth", apportion.ErrLength},
		"none of several":  {func(app *solver.App) { app.Worth = []float64{} }, "Worth", apportion.ErrLength},
		"not of the list":  {func(app *solver.App) { app.Counts = []int64{2, 4} }, "Worth", apportion.ErrLength},
		"no number":        {func(app *solver.App) { app.Worth[1] = math.NaN() }, "Worth[1]", apportion.ErrNotFinite},
		"infinite":         {func(app *solver.App) { app.Worth[2] = math.Inf(-1) }, "Worth[2]", apportion.ErrNotFinite},
		"too large":        {func(app *solver.App) { app.Worth[0] = 2e6 }, "Worth[0]", apportion.ErrRange},
		"idle, no number":  {func(app *solver.App) { app.Idle = math.NaN() }, "Idle", apportion.ErrNotFinite},
		"idle alone":       {func(app *solver.App) { app.Worth = nil }, "Idle", apportion.ErrConflict},
		"stay, infinite":   {func(app *solver.App) { app.Stay = math.Inf(1) }, "Stay", apportion.ErrNotFinite},
		"stay, below zero": {func(app *solver.App) { app.Stay = -.1 }, "Stay", apportion.ErrNegative},
	} {
		app := worthy()
		c.change(&app)
		inst := &solver.Instance{Capacity: []apportion.Resources{{8}}, Total: apportion.Resources{8}, Apps: []solver.App{app}}
		err := inst.Validate()
		var fault *apportion.FieldError
		if !errors.As(err, &fault) || fault.Field != c.field || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v of %s", name, err, c.want, c.field)
		}
	}
	app := worthy()
	inst := &solver.Instance{Capacity: []apportion.Resources{{8}}, Total: apportion.Resources{8}, Apps: []solver.App{app}}
	if err := inst.Validate(); err != nil {
		t.Error(err)
	}
}
