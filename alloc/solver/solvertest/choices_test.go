package solvertest

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// choiceFeatures are what a solver may forget of options.
var choiceFeatures = map[string]func(inst *solver.Instance, app *solver.App){
	"options": func(inst *solver.Instance, _ *solver.App) { inst.Choices = nil },
	"that one must be used": func(inst *solver.Instance, _ *solver.App) {
		for c := range inst.Choices {
			inst.Choices[c].Required = false
		}
	},
	"the last option": func(inst *solver.Instance, app *solver.App) {
		for c := range inst.Choices {
			apps := inst.Choices[c].Apps
			if last := &inst.Apps[apps[len(apps)-1]]; app == last {
				*last = solver.App{Demand: last.Demand, Max: 1, Share: last.Share, Delta: last.Delta, Idle: last.Idle, Worth: []float64{0}, Classes: []int{}}
				if last.Idle == 0 {
					last.Worth = nil
				}
			}
		}
	},
	"that having nothing counts once": func(inst *solver.Instance, app *solver.App) {
		if len(inst.Choices) > 0 {
			inst.LossBudget -= app.Share
		}
	},
}

// A solver that forgets one of these is caught by random instances, and by the known answers.
func TestForgottenOptionIsCaught(t *testing.T) {
	for name, forget := range choiceFeatures {
		p := &probe{Solver: &twin{forget: forget}, opts: Options{General: defaultGeneral}, ctx: context.Background()}
		if err := choices(p); err == nil || !strings.HasPrefix(err.Error(), "solvertest.Choices(") {
			t.Errorf("a solver that forgets %s: %v", name, err)
		}
		if err := knownChoices(p); err == nil {
			t.Errorf("a solver that forgets %s knows all answers", name)
		}
	}
}

// Enumeration knows the answers, and is asked with instances that can be drawn again.
func TestChoices(t *testing.T) {
	p := &probe{Solver: &twin{}, opts: (&Options{General: 50}).complete(), ctx: context.Background()}
	if err := choices(p); err != nil {
		t.Error(err)
	}
	if err := knownChoices(p); err != nil {
		t.Error(err)
	}
	seen := map[string]int{}
	note := func(shape string, is bool) {
		if is {
			seen[shape]++
		}
	}
	for seed := range uint64(400) {
		inst := Choices(seed)
		if err := inst.Validate(); err != nil || !reflect.DeepEqual(inst, Choices(seed)) {
			t.Fatalf("Choices(%d): %v", seed, err)
		}
		choice := &inst.Choices[0]
		best, _ := p2oracle.Best(inst)
		note("required", choice.Required)
		note("three options", len(choice.Apps) == 3)
		note("beside others", len(inst.Apps) > len(choice.Apps))
		note("no solution", best == nil)
		for at, i := range choice.Apps {
			app := &inst.Apps[i]
			note("runs", app.Running)
			note("pinned", app.Pinned)
			note("worth of having nothing", app.Idle != 0)
			note("the first in use", best != nil && at == 0 && len(best[i]) > 0)
			note("another in use", best != nil && at > 0 && len(best[i]) > 0)
			note("changes", best != nil && !app.Running && at > 0 && len(best[i]) > 0 && inst.Apps[choice.Apps[0]].Running)
		}
	}
	for _, shape := range []string{"required", "three options", "beside others", "no solution", "runs", "pinned", "worth of having nothing",
		"the first in use", "another in use", "changes"} {
		if seen[shape] < 10 {
			t.Errorf("%d of 400 have %s", seen[shape], shape)
		}
	}
}
