// This file tests weights by growth: who weighs what, who is asked when, and that the study adds up.

package main

import (
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/elastic/schedulers"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// two returns two jobs on one server of 8 GPUs: each is worth its GPUs, the first one's loss falls at once and then
// stands nearly still, the second one's falls all the time.
func two(t *testing.T) *sim.Scenario {
	t.Helper()
	s := &sim.Scenario{Kinds: apportion.Kinds{"gpu"}, Servers: []apportion.Server{{ID: "n0", Capacity: apportion.Resources{8}}}, AdjustCost: time.Second}
	for i, id := range []string{"early", "steady", "late"} {
		job := sim.Job{Arrival: time.Duration(i) * time.Second, Work: 40000 * time.Second, Fixed: 4}
		job.ID, job.Demand, job.Weight, job.Min, job.Max = id, apportion.Resources{1}, 1, 1, 8
		if id == "late" {
			job.Arrival, job.Work = 4000*time.Second, 8000*time.Second
		}
		job.SpeedOn = func(on []apportion.Placement) float64 { return float64(on[0].Count) }
		var steps, values []float64
		for k := range 200 {
			x := float64(k) / 199
			steps = append(steps, x)
			if i == 0 {
				values = append(values, 1+math.Exp(-x/0.01)+1e-6*(1-x))
			} else {
				values = append(values, 2-x)
			}
		}
		curve := must.Have(sim.NewCurve(steps, values))(t)
		job.Curve = curve
		s.Jobs = append(s.Jobs, job)
	}
	return s
}

// given plays two jobs and returns what the first two have of the GPUs when the third has come.
func given(t *testing.T, knows knowledge) (early, steady int64, p *watcher) {
	t.Helper()
	s := two(t)
	p = &watcher{Worth: schedulers.Worth{Price: schedulers.Free}, knows: knows, learned: map[string]float64{"early": 0.05, "steady": 0.95, "late": 0.95}}
	result := must.Have(sim.Run(t.Context(), s, p))(t)
	held := func(job *sim.Outcome) (n int64) {
		for _, span := range job.Spans {
			if span.From <= 4100*time.Second && 4100*time.Second < span.Until {
				n = span.Places[0].Count
			}
		}
		return n
	}
	return held(&result.Jobs[0]), held(&result.Jobs[1]), p
}

// One that has converged gives containers to one that has not, by whatever that is known; nothing known, all are equal.
func TestConvergedGives(t *testing.T) {
	for _, knows := range []knowledge{nothing, category, share, truth} {
		early, steady, p := given(t, knows)
		if knows == nothing && early != steady && early+1 != steady && early != steady+1 {
			t.Errorf("%s: %d and %d GPUs", knowledges[knows], early, steady)
		}
		if knows != nothing && early >= steady {
			t.Errorf("%s: one that has converged has %d GPUs, one that has not %d", knowledges[knows], early, steady)
		}
		if p.observed < 500 {
			t.Errorf("%s: %d readings", knowledges[knows], p.observed)
		}
	}
}

// Weights are in [leastWeight, 1], and 1 while nothing is known.
func TestWeigh(t *testing.T) {
	p := &watcher{jobs: map[string]*watched{"a": {category: growth.Progressing}}, learned: map[string]float64{"a": 0.5}}
	job := &sim.JobState{Job: &sim.Job{Work: 100 * time.Second}, Left: 60 * time.Second}
	job.ID = "a"
	for _, test := range []struct {
		knows    knowledge
		category growth.Category
		left     time.Duration
		want     float64
	}{
		{nothing, growth.Converged, 0, 1}, {category, growth.Progressing, 60 * time.Second, 1}, {category, growth.Watching, 60 * time.Second, 1},
		{category, growth.Converged, 60 * time.Second, leastWeight}, {share, growth.Converged, 60 * time.Second, 1},
		{truth, growth.Progressing, 51 * time.Second, 1}, {truth, growth.Progressing, 50 * time.Second, leastWeight},
	} {
		p.knows, p.jobs["a"].category, job.Left = test.knows, test.category, test.left
		must.Equal(t, p.weigh(job), test.want, knowledges[test.knows], test.category, test.left, "left")
	}
}

// Nothing known changes nothing, the same draws give the same times, and each quality comes after that below it.
func TestQualityOf(t *testing.T) {
	w, loads := read(t)
	loads[2].jobs = loads[2].jobs[:10]
	all := must.Have(readRecordings())(t)
	first := must.Have(w.qualityOf(t.Context(), all, trial{load: loads[2], seed: 1}))(t)
	again := must.Have(w.qualityOf(t.Context(), all, trial{load: loads[2], seed: 1, noise: noisy.Noise{Share: 0.3}}))(t)
	must.Equal(t, again, first)
	for k := 1; k <= endColumn; k++ {
		if first[k] <= first[k-1] {
			t.Errorf("times %v do not rise", first)
		}
	}
	if rest := first[endColumn] - first[endColumn-1]; rest != first[restColumn] {
		t.Errorf("%v after 95 %%, want %v", first[restColumn], rest)
	}
}

func TestWithError(t *testing.T) {
	must.Equal(t, withError([]float64{1, 3, 1, 3}), "+2.0 (0.6)")
}
