// This file draws the thesis' figures 6.5-6.10 and 6.13-6.15.

package main

import (
	"fmt"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/placement/sim"
)

// figures returns CPU usage under FlowCon and under NA for the fixed schedule and for 5 and 10
// random jobs, and the completion times of random jobs.
// The fixed schedule is played once more here, with the setting of the thesis' figure alone.
func figures(studies []*study) ([]*chart.Figure, error) {
	scenario, err := fixedSchedule()
	if err != nil {
		return nil, err
	}
	p, err := playPair(scenario, []setting{drawnFixed})
	if err != nil {
		return nil, err
	}
	all := []*chart.Figure{usage("figure-6-5", "CPU usage under FlowCon (alpha 5 %, interval 20s), 3 jobs", scenario, p.with[0]),
		usage("figure-6-6", "CPU usage under NA, 3 jobs", scenario, p.na)}
	var last []*chart.Figure
	// Of fifteen jobs the thesis shows completion times only.
	numbers := map[int][3]string{5: {"figure-6-8", "figure-6-9", "figure-6-7"}, 10: {"figure-6-13", "figure-6-14", "figure-6-10"},
		15: {"", "", "figure-6-15"}}
	for _, s := range studies {
		all, last = append(all, s.usages(numbers[s.jobs])...), append(last, s.times(numbers[s.jobs][2]))
	}
	return append(all, last...), nil
}

// usages returns CPU usage under FlowCon and NA of the first schedule; none where the names are
// empty.
// names are the figures' under FlowCon and under NA, and that of the times.
func (s *study) usages(names [3]string) []*chart.Figure {
	if names[0] == "" {
		return nil
	}
	setting := s.settings[shown[0]]
	title := fmt.Sprintf("CPU usage under FlowCon (alpha %s, interval %v), %d jobs", alphaOf(setting), setting.interval, s.jobs)
	return []*chart.Figure{usage(names[0], title, s.scenarios[0], s.plain[0].with[shown[0]]),
		usage(names[1], fmt.Sprintf("CPU usage under NA, %d jobs", s.jobs), s.scenarios[0], s.plain[0].na)}
}

// times returns the completion times of the first schedule.
func (s *study) times(name string) *chart.Figure {
	f := chart.New(name, fmt.Sprintf("Completion time, %d random jobs", s.jobs), "", "Seconds")
	results := []*sim.Result{s.plain[0].na}
	labels := []string{"NA"}
	for _, i := range shown {
		results, labels = append(results, s.plain[0].with[i]), append(labels, s.settings[i].name)
	}
	var groups []string
	for _, job := range s.scenarios[0].Jobs {
		groups = append(groups, job.ID[len("Job-"):]+" "+job.Model)
	}
	for i, result := range results {
		var values []float64
		for j := range result.Jobs {
			values = append(values, result.Jobs[j].Response().Seconds())
		}
		f.Bars(groups, i, len(results), labels[i], values)
	}
	return f
}

// usage draws the share of the worker that each job uses over time.
// The line of a job begins at its start and falls to 0 at its end.
func usage(name, title string, scenario *sim.Scenario, result *sim.Result) *chart.Figure {
	f := chart.New(name, title, "Time (seconds)", "Share of the worker")
	for i, job := range scenario.Jobs {
		var points plotter.XYs
		for _, span := range result.Jobs[i].Spans {
			points = append(points, plotter.XY{X: span.From.Seconds(), Y: sim.Fraction(span.Rate)})
		}
		end := result.Jobs[i].Completion.Seconds()
		points = append(points, plotter.XY{X: end, Y: 0})
		label := job.Model
		// Random jobs may share a model, so that the number is needed.
		if len(scenario.Jobs) > len(fixedModels) {
			label = job.ID[len("Job-"):] + " " + job.Model
		}
		f.Steps(i, label, points)
	}
	return f
}
