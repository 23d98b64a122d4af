// This file tests what the figures and the sweep show, on runs that are made by hand.

package main

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// outcomes is a run in which application i ran for so many hours; 0: it never completed.
func outcomes(hours ...int) *played {
	r := &sim.Result{}
	for _, h := range hours {
		r.Jobs = append(r.Jobs, sim.Outcome{Completed: h > 0, Start: time.Hour, Completion: time.Duration(h+1) * time.Hour})
	}
	return &played{Result: r}
}

// groupStudy is one scenario of three applications, two of LR and one of MF, that ran 8, 6 and 9 hours under the baseline.
func groupStudy() *study {
	var jobs []sim.Job
	for i, name := range []string{"01-LR", "02-LR", "03-MF"} {
		jobs = append(jobs, sim.Job{Application: alloc.Application{ID: name}, Fixed: int64(i + 1)})
	}
	return &study{paper: true, policies: []string{"Swarm", "Dorm-1"}, measured: 2 * time.Hour,
		scenarios: []*sim.Scenario{{Jobs: jobs}}, runs: [][]*played{{outcomes(8, 6, 9), outcomes(4, 2, 3)}}}
}

// A group's speed-up is the mean of those of its applications that completed under both.
func TestGroupSpeedup(t *testing.T) {
	s := groupStudy()
	for group, want := range map[string]float64{"LR": 2.5, "MF": 3, everybody: (2 + 3 + 3) / 3.0, "VGG-16": 0} {
		if got := s.groupSpeedup(1, group); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s runs %v times as fast, want %v", group, got, want)
		}
	}
	s.runs[0][1].Jobs[1].Completed = false
	must.Equal(t, s.groupSpeedup(1, "LR"), 2, "with one that never completed")
	s.runs[0][0].Jobs[0].Completed = false
	must.Equal(t, s.groupSpeedup(1, "LR"), 0, "with one left in neither")
	// Of a trace the groups are the numbers of GPUs.
	s.paper = false
	if got := s.groupSpeedup(1, gpus(3)); got != 3 || !slices.Equal(s.groups(), []string{"1 GPU", "2 GPU", "4 GPU", "8 GPU", everybody}) {
		t.Errorf("%v times as fast on 3 GPUs, groups %q", got, s.groups())
	}
}

// Bars are by the models of Table II and of all; lines end with the period, and points are of the decisions within it.
func TestStudyFigures(t *testing.T) {
	s := groupStudy()
	for p, run := range s.runs[0] {
		for i, at := range []time.Duration{0, time.Hour, 3 * time.Hour} {
			run.Samples = append(run.Samples, sim.Sample{At: at, Total: float64(i + p), Adjusted: i})
		}
	}
	figures := s.figures()
	must.Equal(t, len(figures), 5, "figures")
	dir := t.TempDir()
	names, err := chart.Write(dir, figures)
	if err != nil || !slices.Equal(names, []string{"summary", "figure-6", "figure-7", "figure-8", "figure-8-total", "figure-9a"}) {
		t.Errorf("%q, %v", names, err)
	}
	for i := range figures {
		must.Equal(t, figures[i].Note != "", i > 0, "figure", i, "has the note", figures[i].Note)
	}
	// What is not the paper's workload has none of the paper's numbers.
	s.paper = false
	must.Equal(t, s.figures()[1].Note, "", "a note")
}
