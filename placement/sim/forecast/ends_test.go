// This file tests what decisions in a replay are told of ends, and what starts between two of them.

package forecast

import (
	"strings"
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

// Room that is reserved is not filled between two decisions, and what does not fit for itself lets the next one by.
func TestFill(t *testing.T) {
	form := func(n int64) alloc.Form { return alloc.Form{Demand: apportion.Resources{1}, Min: n, Max: n} }
	s := &sim.Scenario{Kinds: apportion.Kinds{"gpu"}, Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{4}}, {ID: "t", Capacity: apportion.Resources{4}}}}
	p := &alloc.Problem{Kinds: s.Kinds, Servers: s.Servers}
	state := &sim.State{Scenario: s}
	for i, n := range []int64{7, 3, 3, 1} {
		app := alloc.Application{ID: string(rune('a' + i)), Weight: 1, Form: form(n)}
		p.Applications = append(p.Applications, app)
		s.Jobs = append(s.Jobs, sim.Job{Application: app, Fixed: n, Work: time.Second})
	}
	for i := range s.Jobs {
		state.Jobs = append(state.Jobs, sim.JobState{Job: &s.Jobs[i], Index: i})
	}
	for _, test := range []struct {
		reserved map[string]int64
		want     string
	}{{nil, "a,d"}, {map[string]int64{"s": 4, "t": 3}, "d"}, {map[string]int64{"s": 4, "t": 4}, ""}} {
		d := &Decisions{Problem: p, Taken: 1}
		d.open(state)
		if test.reserved != nil {
			d.reserved = []alloc.Reservation{{ID: "a", Servers: test.reserved}}
			state.Jobs[0].Fixed = 9 // it has no room yet
		}
		got := ""
		for _, place := range d.fill(state) {
			got += "," + place.Job
		}
		if got = strings.TrimPrefix(got, ","); got != test.want {
			t.Errorf("with %v reserved %q start, want %q", test.reserved, got, test.want)
		}
	}
}
