// This file tests what a controller tells of itself: numbers of the newest decision, and for each job why it is where it is.

package controller

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// Each job has its own progress, its own share and the reason that counts: the decision's, which is why nothing was asked for,
// before the protocol's, which is why what was asked for has not come about.
func TestReportOf(t *testing.T) {
	why := func(constraint, text string) apportion.Reason {
		return apportion.Reason{Constraint: constraint, Text: text}
	}
	state := driver.State{Silent: []string{"n2"}, Progress: map[string]runner.Progress{"a": {Step: 7, Running: true}},
		Jobs: []checkpoint.Job{
			{Name: "a", Phase: checkpoint.Running},
			{Name: "b", Reason: why("room", "no room on n1")},
			{Name: "c"},
			{Name: "d", Reason: why("failed", "it was killed")},
			{Name: "e", Reason: why("", "nothing is in the way")},
		}}
	view := View{Servers: []Server{{Server: apportion.Server{ID: "n1"}}, {Server: apportion.Server{ID: "n2"}, Down: "gone"}}, Rejected: map[string]string{"x": "no number"}}
	last := Taken{Decision: &alloc.Decision{Status: alloc.Decided, Objective: 0.5, Bound: 0.8, Gap: 0.375,
		Shares:    []alloc.Share{{ID: "c", Actual: 0.25}, {ID: "a", Actual: 0.5, Theoretical: 0.75}},
		Waiting:   []alloc.Waiting{{ID: "b", Reason: why("capacity (6)", "all gpus are taken")}},
		Suspended: []alloc.Waiting{{ID: "c", Reason: why("priority", "it makes room")}}}}
	want := Report{
		Servers: view.Servers, Silent: []string{"n2"}, Rejected: view.Rejected, Status: alloc.Decided, Objective: 0.5, Bound: 0.8, Gap: 0.375,
		Jobs: []JobReport{
			{Job: state.Jobs[0], Progress: runner.Progress{Step: 7, Running: true}, Share: alloc.Share{ID: "a", Actual: 0.5, Theoretical: 0.75}},
			{Job: state.Jobs[1], Why: "all gpus are taken"},
			{Job: state.Jobs[2], Share: alloc.Share{ID: "c", Actual: 0.25}, Why: "it makes room"},
			{Job: state.Jobs[3], Why: "failed: it was killed"},
			{Job: state.Jobs[4]},
		}}
	got := reportOf(&state, &view, &last)
	must.Equal(t, cmp.Diff(want, got), "")
	// The report is the caller's: what is done to it changes no look.
	got.Servers[0].ID = "another"
	must.Equal(t, view.Servers[0].ID, "n1", "the look has changed with the report")
}

// Before the first look and the first decision there is little to tell; lists are empty and not null. A bound that JSON cannot
// hold is left out with its gap, and a fault is told beside nothing else.
func TestReportOfLittle(t *testing.T) {
	state := driver.State{Silent: []string{}}
	want := Report{Servers: []Server{}, Silent: []string{}, Jobs: []JobReport{}}
	must.Equal(t, cmp.Diff(want, reportOf(&state, nil, &Taken{})), "")
	want.Objective = 0.5
	endless := Taken{Decision: &alloc.Decision{Objective: 0.5, Bound: math.Inf(1), Gap: math.Inf(1)}}
	must.Equal(t, cmp.Diff(want, reportOf(&state, nil, &endless)), "")
	want.Objective, want.Fault = 0, "a bad mood"
	must.Equal(t, cmp.Diff(want, reportOf(&state, nil, &Taken{Fault: "a bad mood"})), "")
}

// Why there is no decision is no error, and a decision that is not one on its problem is.
func TestExplainTaken(t *testing.T) {
	for text, taken := range map[string]Taken{
		"Nothing was decided yet.\n":                       {},
		"No decision could be taken: nobody answers\n":     {Fault: "nobody answers"},
		"No decision could be taken: the newest problem\n": {Fault: "the newest problem", Problem: &alloc.Problem{}},
	} {
		must.Equal(t, must.Have(taken.explain())(t), text)
	}
	wrong := Taken{Problem: &alloc.Problem{}, Decision: &alloc.Decision{Shares: []alloc.Share{{ID: "a"}}}}
	if text, err := wrong.explain(); err == nil {
		t.Errorf("%q", text)
	}
}

// A zero stands for its default, and whatever is given counts.
func TestFilled(t *testing.T) {
	d := Config{}.filled()
	if d.Lease != DefaultLease || d.Look != DefaultLook || d.Missing != DefaultMissing || d.Settle != DefaultSettle {
		t.Errorf("%v, %v, %v, %v", d.Lease, d.Look, d.Missing, d.Settle)
	}
	d.Report(errors.New("nobody hears this"))
	given := Config{Lease: 1, Look: 2, Missing: 3, Settle: 4}.filled()
	if given.Lease != 1 || given.Look != 2 || given.Missing != 3 || given.Settle != 4 {
		t.Errorf("%v, %v, %v, %v", given.Lease, given.Look, given.Missing, given.Settle)
	}
	p := alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Servers: []apportion.Server{{ID: "n1", Capacity: apportion.Resources{4}}},
		Applications: []alloc.Application{{ID: "a", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 3}}}}
	if decision, err := d.Decide(t.Context(), &p); err != nil || decision.Allocation.Containers("a") != 3 {
		t.Errorf("%+v, %v", decision, err)
	}
}

// Every duration that is negative is a fault, by its name, and no other.
func TestNegative(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"Lease": func(c *Config) { c.Lease = -1 }, "Look": func(c *Config) { c.Look = -1 },
		"Missing": func(c *Config) { c.Missing = -1 }, "Settle": func(c *Config) { c.Settle = -time.Hour },
	} {
		var c Config
		change(&c)
		var faults apportion.Faults
		if err := c.Validate(); !errors.As(err, &faults) {
			t.Fatal(err)
		}
		var negative []string
		for _, f := range faults {
			if errors.Is(f.Err, apportion.ErrNegative) {
				negative = append(negative, f.Field)
			}
		}
		must.Equal(t, cmp.Diff([]string{name}, negative), "")
	}
}
