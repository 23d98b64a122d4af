// This file tests what decisions in a replay are told of ends.

package forecast

import (
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/placement/sim"
)

// Decisions know what is left of limits then, and not the lengths that were drawn; what waits has all of its limit left. The order is that of
// the problem, also where the simulation has what runs first.
func TestEnds(t *testing.T) {
	limit := 100.0
	var p alloc.Problem
	state := &sim.State{Scenario: &sim.Scenario{}, Now: 30 * time.Second}
	for _, id := range []string{"late", "waiting", "running"} {
		app := alloc.Application{ID: id, Ends: &limit}
		p.Applications = append(p.Applications, app)
		job := sim.JobState{Job: &sim.Job{Application: app, Work: time.Second}}
		if id != "waiting" {
			job.Containers, job.Places = 1, []apportion.Placement{{Server: 0, Count: 1}}
		}
		state.Jobs = append([]sim.JobState{job}, state.Jobs...)
	}
	p.Servers = []apportion.Server{{ID: "s"}}
	d := &Decisions{Problem: &p, Taken: 1}
	d.open(state)
	d.begun = map[string]time.Duration{"late": -time.Minute * 2, "running": 10 * time.Second}
	for i, want := range []float64{0, 100, 80} {
		if app := d.problem(state).Applications[i]; app.ID != p.Applications[i].ID || *app.Ends != want {
			t.Errorf("%s has %g s left, want %g of %s", app.ID, *app.Ends, want, p.Applications[i].ID)
		}
	}
	if held := d.problem(state).Previous; len(held) != 2 || held["late"]["s"] != 1 || limit != 100 {
		t.Errorf("%v runs", held)
	}
}
