// This file runs the command as a user does, and checks what forecasts must come to.

package main

import (
	"io"
	"testing"

	"github.com/apportion/apportion/examples/studies/chart/charttest"
	"github.com/apportion/apportion/examples/studies/command/commandtest"
	"github.com/apportion/apportion/internal/must"
)

func TestCases(t *testing.T) { commandtest.Cases(t, run) }

func TestFigures(t *testing.T) {
	charttest.Twice(t, func(out string) error {
		return run(t.Context(), io.Discard, io.Discard, []string{"-samples", "5", "-out", out})
	}, 2, "as it is", "limits alone")
}

// A moment knows what had been submitted by then, in its order, what is left of limits, and no length.
func TestMoment(t *testing.T) {
	o := &options{servers: 2, size: 4}
	jobs := []job{
		{id: "over", submit: 0, length: 10, limit: 20, units: 4},
		{id: "runs", submit: 5, length: 100, limit: 150, units: 6},
		{id: "waits", submit: 6, wait: 999, length: 7, limit: 70, units: 3},
		{id: "asked", submit: 40, wait: 60, length: 8, limit: 80, units: 5},
		{id: "later", submit: 41, length: 9, limit: 90, units: 1},
	}
	m := o.moment(jobs, []float64{0, 10, 1005, 100, 41}, 3)
	if p := m.problem; len(p.Applications) != 3 || p.Applications[0].ID != "runs" || *p.Applications[0].Ends != 120 || *p.Applications[1].Ends != 70 || p.Previous.Containers("runs") != 6 {
		t.Errorf("%+v", p)
	}
	if m.start != 60 || m.known[0].Ran != 30 || m.waited["waits"] != 34 || m.waited["asked"] != 0 || m.problem.Validate() != nil {
		t.Errorf("%+v", m)
	}
	runs, arrivals := history(jobs, m.at)
	if len(runs) != 1 || runs[0].Length != 10 || len(arrivals) != 3 {
		t.Errorf("%+v, %+v", runs, arrivals)
	}
}

// What a scheduler hands from one decision to the next a forecast is told too: how much was let in past those that wait. What runs is where it is.
func TestHandOn(t *testing.T) {
	o := &options{policy: "decisions", servers: 4, size: 8, days: 12, samples: 300}
	jobs := must.Have(readJobs(o))(t)
	moments, _, err := watch(t.Context(), o, jobs)
	must.Do(t, err)
	passed := 0
	for _, m := range moments {
		must.Do(t, m.problem.Validate())
		for _, app := range m.problem.Applications {
			if app.Passed > 0 {
				passed++
			}
			if n := m.problem.Previous.Containers(app.ID); n != 0 && n != app.Max {
				t.Errorf("%s has %d of %d", app.ID, n, app.Max)
			}
		}
	}
	if passed == 0 || len(moments) < 10 {
		t.Errorf("at %d moments nobody has been passed", len(moments))
	}
}
