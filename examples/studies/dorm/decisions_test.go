// This file checks what is noted of decisions, and the table of it.

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// ticking returns a clock on which each look takes a second.
func ticking() func() time.Time {
	var at time.Time
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

// answering is a solver with one answer.
type answering struct {
	answer solver.Solution
	err    error
}

// Solve implements solver.Solver.
func (a answering) Solve(context.Context, *solver.Instance) (*solver.Solution, error) {
	return &a.answer, a.err
}

// A decision is noted with its time and what the clock says; an error is handed on.
func TestNoted(t *testing.T) {
	before := now
	defer func() { now = before }()
	now = ticking()
	job := sim.Job{Application: alloc.Application{ID: "a", Weight: 1, Form: alloc.Form{Demand: []int64{1, 0, 1}, Max: 2, Min: 1}}, Fixed: 1}
	state := func() *sim.State {
		return &sim.State{Now: time.Hour, Jobs: []sim.JobState{{Job: &job, New: true}},
			Scenario: &sim.Scenario{Kinds: paperKinds, Servers: testbed()[:1], Jobs: []sim.Job{job}}}
	}
	for _, test := range []struct {
		solver answering
		want   decision
	}{
		{answering{answer: solver.Solution{Status: solver.Unknown}}, decision{kept: true}},
		// The bound is cut to what two containers are worth.
		{answering{answer: solver.Solution{Status: solver.Feasible, Counts: solver.Counts{{{Server: 0, Count: 1}}}, Bound: 1,
			Objective: 1./12 + 1./128}}, decision{gap: .5}},
		{answering{answer: solver.Solution{Status: solver.Optimal, Counts: solver.Counts{{{Server: 0, Count: 2}}}, Bound: 2./12 + 2./128,
			Objective: 2./12 + 2./128, Proven: solver.ByUtilization}}, decision{proven: true}},
	} {
		run := &played{}
		must.Have(noted{&policies.Dorm{Theta1: 1, Theta2: 1, Options: alloc.Options{Rule: alloc.Rule{Paper: true}}, Solver: test.solver}, run}.Decide(t.Context(), state()))(t)
		test.want.at, test.want.took = time.Hour, time.Second
		must.Equal(t, cmp.Diff([]decision{test.want}, run.decisions, cmp.AllowUnexported(decision{})), "", test.solver)
	}
	run, broken := &played{}, errors.New("broken")
	if _, err := (noted{&policies.Dorm{Solver: answering{err: broken}}, run}).Decide(t.Context(), state()); !errors.Is(err, broken) || len(run.decisions) > 0 {
		t.Errorf("error %v, want %v; noted %v", err, broken, run.decisions)
	}
}

func TestMoved(t *testing.T) {
	before := alloc.Allocation{"stays": {"x": 2}, "moves": {"x": 3, "y": 1}, "suspended": {"y": 4}}
	after := alloc.Allocation{"stays": {"x": 2}, "moves": {"x": 1, "z": 2}, "new": {"y": 5}}
	must.Equal(t, moved(before, after), 2+1+2+4, "containers moved")
}

// Decisions behind the period do not count, a setting without any has no line, and one that never
// decided anything has no gap.
func TestReportDecisions(t *testing.T) {
	const ms = time.Millisecond
	many := []decision{{at: 8 * time.Hour, took: time.Hour, gap: 1}, {took: 500 * ms, kept: true}}
	for i := range 99 {
		many = append(many, decision{took: time.Duration(i+1) * ms, proven: i < 33, gap: 0.001 * float64(i/33), moved: int64(i % 3)})
	}
	s := &study{measured: 8 * time.Hour, policies: policyNames, solver: backend.Backend{Name: "simple"},
		runs: [][]*played{{{}, {decisions: many[:60]}, {decisions: many[1:2]}, {}}, {{}, {decisions: many[60:]}, {}, {}}}}
	var text strings.Builder
	s.reportDecisions(&text)
	want := `Decisions in the period, by solver simple. Proven, gap: of those that did not keep the allocation.
Seconds: on this machine, with a run on every processor.
        decisions  kept  proven  gap: median  largest  moved: mean  most  seconds: median  99 %   longest
Dorm-1  100        1     33.3 %  0.100 %      0.200 %  1.0          2     0.05             0.099  0.5
Dorm-2  1          1     -       -            -        0.0          0     0.5              0.5    0.5
`
	must.Equal(t, cmp.Diff(want, text.String()), "")
}
