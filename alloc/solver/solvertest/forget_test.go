package solvertest

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// twin is enumeration as a solver of the whole program. What it is told to forget it does not see.
type twin struct {
	forget func(inst *solver.Instance, app *solver.App)
}

func (w twin) Solve(_ context.Context, inst *solver.Instance) (*solver.Solution, error) {
	seen := clone(inst)
	for i := range seen.Apps {
		w.forget(seen, &seen.Apps[i])
	}
	best, _ := p2oracle.Best(seen)
	if best == nil {
		return &solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}, nil
	}
	objective := inst.Objective(best)
	return &solver.Solution{Status: solver.Optimal, Proven: solver.ByMoved, Counts: best, Objective: objective, Bound: objective,
		Certificate: solver.Certificate{Searched: true}}, nil
}

// features are what a solver may forget, by the random instances that must tell.
var features = []struct {
	draw, name string
	forget     func(inst *solver.Instance, app *solver.App)
}{
	{"General", "classes of servers", func(inst *solver.Instance, _ *solver.App) { inst.Class = nil }},
	{"General", "classes", func(_ *solver.Instance, app *solver.App) { app.Classes = nil }},
	{"General", "step", func(_ *solver.Instance, app *solver.App) { app.Step = 0 }},
	{"General", "counts", func(_ *solver.Instance, app *solver.App) { app.Counts = nil }},
	{"General", "elective", func(_ *solver.Instance, app *solver.App) { app.Elective = false }},
	{"General", "by server", func(_ *solver.Instance, app *solver.App) { app.PerServer = 0 }},
	{"General", "servers", func(_ *solver.Instance, app *solver.App) { app.MaxServers = 0 }},
	{"General", "pinned", func(_ *solver.Instance, app *solver.App) { app.Pinned = false }},
	{"General", "cost", func(_ *solver.Instance, app *solver.App) { app.Cost = 1 }},
	{"General", "price of loss", func(inst *solver.Instance, _ *solver.App) { inst.LossPrice = 0 }},
	{"General", "what it may keep", func(inst *solver.Instance, app *solver.App) {
		for i := range inst.Apps {
			if app == &inst.Apps[i] && slices.ContainsFunc(app.Previous, func(p apportion.Placement) bool { return !inst.Open(i, p.Server) }) {
				app.Displaced, app.Pinned = true, false
			}
		}
	}},
	{"Worth", "worths", func(_ *solver.Instance, app *solver.App) { app.Worth, app.Idle = nil, 0 }},
	{"Worth", "none", func(_ *solver.Instance, app *solver.App) { app.Idle = 0 }},
	{"Worth", "stay", func(_ *solver.Instance, app *solver.App) { app.Stay = 0 }},
	{"Worth", "values", func(_ *solver.Instance, app *solver.App) {
		if app.Worth != nil {
			app.Value = 0
		}
	}},
	{"Worth", "all worths but the ends", func(_ *solver.Instance, app *solver.App) {
		for at := range app.Worth {
			last := len(app.Worth) - 1
			app.Worth[at] = app.Worth[last] * float64(at+1) / float64(last+1)
		}
	}},
	{"Loss", "losses", func(_ *solver.Instance, app *solver.App) { app.Losses = nil }},
	{"Loss", "all losses but the ends", func(_ *solver.Instance, app *solver.App) {
		if last := len(app.Losses) - 1; last > 1 {
			app.Losses = []solver.LossPoint{app.Losses[0], app.Losses[last]}
		}
	}},
	{"Spread", "spread", func(_ *solver.Instance, app *solver.App) { app.Spread = nil }},
	{"Spread", "growth for nothing", func(_ *solver.Instance, app *solver.App) { app.FreeAbove = 0 }},
	{"Spread", "the fewest servers", func(_ *solver.Instance, app *solver.App) { change(app, func(s *solver.Spread) { s.Rooms = nil }) }},
	{"Spread", "the least of it", func(_ *solver.Instance, app *solver.App) { change(app, func(s *solver.Spread) { s.Least = 0 }) }},
	{"Spread", "the part of it", func(_ *solver.Instance, app *solver.App) { change(app, func(s *solver.Spread) { s.Part = 0 }) }},
	{"Spread", "lists of it", func(_ *solver.Instance, app *solver.App) { change(app, func(s *solver.Spread) { s.Lost = nil }) }},
	{"Choices", "options", func(inst *solver.Instance, _ *solver.App) { inst.Choices = nil }},
	{"Choices", "that an option must run", func(inst *solver.Instance, _ *solver.App) {
		for c := range inst.Choices {
			inst.Choices[c].Required = false
		}
	}},
	{"Choices", "the last option", func(inst *solver.Instance, app *solver.App) {
		for c := range inst.Choices {
			apps := inst.Choices[c].Apps
			if last := &inst.Apps[apps[len(apps)-1]]; app == last {
				*last = solver.App{Demand: last.Demand, Max: 1, Share: last.Share, Delta: last.Delta, Idle: last.Idle, Worth: []float64{0}, Classes: []int{}}
				if last.Idle == 0 {
					last.Worth = nil
				}
			}
		}
	}},
	{"Choices", "that having nothing counts once", func(inst *solver.Instance, app *solver.App) {
		if len(inst.Choices) > 0 {
			inst.LossBudget -= app.Share
		}
	}},
}

// change changes the spread of an application, if it has one, in a copy.
func change(app *solver.App, to func(s *solver.Spread)) {
	if app.Spread != nil {
		other := *app.Spread
		to(&other)
		app.Spread = &other
	}
}

// randomCheck and knownCheck name the checks that must notice what is forgotten, by the random instances.
var (
	randomCheck = map[string]string{"General": "general against enumeration", "Worth": "worths against enumeration",
		"Loss": "losses against enumeration", "Spread": "spread against enumeration", "Choices": "options against enumeration"}
	knownCheck = map[string]string{"General": "known answers of the whole program", "Worth": "known worths", "Choices": "known options"}
)

// A solver that forgets a feature is caught by random instances alone, and by the known answers, apart from losses and
// from values beside worths.
func TestForgottenIsCaught(t *testing.T) {
	opts := (&Options{General: defaultGeneral}).complete()
	for _, f := range features {
		if err := named(t, randomCheck[f.draw]).within(opts, twin{f.forget}); err == nil || !strings.HasPrefix(err.Error(), "solvertest."+f.draw+"(") {
			t.Errorf("a solver that forgets %s: %v", f.name, err)
		}
		if known := knownCheck[f.draw]; known != "" && f.name != "values" && named(t, known).within(opts, twin{f.forget}) == nil {
			t.Errorf("a solver that forgets %s knows all answers", f.name)
		}
	}
}
