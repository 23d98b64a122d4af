// This file checks the measures on runs small enough to count by hand.

package main

import (
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// twoRuns is a study of one scenario with two applications, of which the second never completes
// under the policy. The baseline uses nothing in the first hour.
func twoRuns() (s *study, run, base *played) {
	const h = time.Hour
	base = &played{Result: &sim.Result{
		Samples: []sim.Sample{
			{At: 1 * h, Total: 1, FairnessLoss: 0.5, RunningLoss: 0.4, Running: 1},
			{At: 3 * h, Total: 0.5, FairnessLoss: 1, RunningLoss: 0.2, Running: 2},
		},
		Jobs: []sim.Outcome{
			{Started: true, Completed: true, Arrival: 1 * h, Start: 2 * h, Completion: 6 * h},
			{Started: true, Completed: true, Arrival: 1 * h, Start: 1 * h, Completion: 9 * h},
		},
	}}
	run = &played{Result: &sim.Result{
		Samples: []sim.Sample{
			{At: 0, Total: 2, FairnessLoss: 0.25, RunningLoss: 0.25, Running: 1, Adjusted: 2},
			{At: 9 * h, Total: 9, FairnessLoss: 9, RunningLoss: 9, Running: 9, Adjusted: 9},
		},
		Jobs: []sim.Outcome{
			{Started: true, Completed: true, Arrival: 1 * h, Start: 1 * h, Completion: 2 * h},
			{Started: true, Arrival: 1 * h, Start: 1 * h},
		},
	}}
	s = &study{measured: 8 * h, policies: []string{"base", "run"}, runs: [][]*played{{base, run}}}
	return s, run, base
}

func TestMeasures(t *testing.T) {
	s, run, base := twoRuns()
	for _, test := range []struct {
		name string
		of   func(s *study, run, base *played) float64
		want float64
	}{
		{"mean utilization", meanUtilization, 2},
		{"factor of the 4 hours in which the baseline works", utilizationFactor, (2*2 + 2*4) / 4.},
		{"largest utilization", maxUtilization, 2},
		{"utilization of 8 hours", wholeUtilization, 2},
		{"mean loss", meanLoss, 0.25},
		{"loss factor", lossFactor, (2*0.5 + 5*1) / 8 / 0.25},
		{"largest loss", maxLoss, 0.25},
		{"largest loss factor", maxLossFactor, 0.25},
		{"running loss", meanRunningLoss, 0.25},
		{"most adjusted", mostAdjusted, 2},
		{"adjusted", totalAdjusted, 2},
		{"most running", mostRunning, 1},
		{"queueing", queueing, 0},
		{"running", running, 1},
		{"speed-up", speedup, 4},
		{"response", responseSpeedup, 5},
	} {
		if got := test.of(s, run, base); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, test := range []struct {
		values     []float64
		part, want float64
	}{
		{[]float64{3, 1, 2}, 0.5, 2}, {[]float64{4, 1}, 0.5, 1}, {[]float64{7}, 0.99, 7}, {[]float64{7}, 0, 7},
		{hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100},
	} {
		must.Equal(t, quantile(test.values, test.part), test.want, test.part, "of", test.values)
	}
	if got := quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("median of nothing %v", got)
	}
}

// A number that no run has is printed as a dash, and equal ones without a range.
func TestCells(t *testing.T) {
	s, run, _ := twoRuns()
	s.paper = true
	m := &measure{of: speedup, decimals: 1, paper: [4]string{"", "2.7"}}
	if got, want := s.cell(m, 1), "4.0 / 2.7"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run.Jobs[0].Completed = false
	if got, want := s.cell(m, 1), "- / 2.7"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.runs = append(s.runs, s.runs[0])
	m.of = func(s *study, run, _ *played) float64 { s.measured += time.Hour; return s.measured.Hours() }
	if got, want := s.cell(m, 0), "9.5 (9.0-10.0)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
