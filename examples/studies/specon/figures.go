// This file draws the thesis' figures 6.16, 6.19 to 6.22 and 6.25.

package main

import (
	"fmt"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/internal/nodesim"
)

// figures draws the first run of each study in which DS places jobs at random.
func figures(studies []*study) ([]*chart.Figure, error) {
	s := find(studies, detailed)
	var all []*chart.Figure
	for _, drawing := range []struct {
		name, policy string
		result       *nodesim.Result
	}{{"figure-6-21", "DS", s.ds[0]}, {"figure-6-22", "SpeCon", s.with[0][0]}} {
		spans, err := distribution(drawing.name, "Workload distribution under "+drawing.policy+", "+s.title, s.scenarios[0], drawing.result)
		if err != nil {
			return nil, err
		}
		all = append(all, spans)
	}
	for _, drawing := range []struct {
		name, policy string
		result       *nodesim.Result
	}{{"jobs-ds", "DS", s.ds[0]}, {"jobs-specon", "SpeCon", s.with[0][0]}} {
		counts, err := jobs(drawing.name, "Jobs on each worker under "+drawing.policy, s.workers, drawing.result)
		if err != nil {
			return nil, err
		}
		all = append(all, counts)
	}
	for _, bars := range [][2]string{{"figure-6-16", "fixed"}, {"figure-6-19", "random-20"}, {"figure-6-20", "random-30"}, {"figure-6-25", "random-50"}} {
		f, err := find(studies, bars[1]).times(bars[0])
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// workers names the workers as the thesis does, from 1.
func workers(n int) []string {
	names := make([]string, n)
	for w := range names {
		names[w] = fmt.Sprintf("Worker-%d", w+1)
	}
	return names
}

// distribution draws on which worker each job ran when.
func distribution(name, title string, scenario *nodesim.Scenario, result *nodesim.Result) (*chart.Figure, error) {
	rows := make([]string, len(scenario.Jobs))
	for i, job := range scenario.Jobs {
		rows[i] = job.ID
	}
	var spans []chart.Span
	open := map[int]int{} // from a job to the position of its last span
	for i, sample := range result.Samples {
		until := result.Makespan()
		if i+1 < len(result.Samples) {
			until = result.Samples[i+1].At
		}
		for _, r := range sample.Running {
			at, ok := open[r.Job]
			if !ok || spans[at].Series != r.Worker {
				at = len(spans)
				open[r.Job] = at
				spans = append(spans, chart.Span{Row: r.Job, Series: r.Worker, From: sample.At.Seconds()})
			}
			spans[at].Until = until.Seconds()
		}
	}
	f := chart.New(name, title, "Time (seconds)", "")
	return f, f.Spans(rows, workers(scenario.Workers), spans)
}

// jobs draws how many jobs each worker has over time.
func jobs(name, title string, n int, result *nodesim.Result) (*chart.Figure, error) {
	f := chart.New(name, title, "Time (seconds)", "Jobs")
	for w, worker := range workers(n) {
		var points plotter.XYs
		for _, sample := range result.Samples {
			count := 0.0
			for _, r := range sample.Running {
				if r.Worker == w {
					count++
				}
			}
			points = append(points, plotter.XY{X: sample.At.Seconds(), Y: count})
		}
		if err := f.Steps(w, worker, points); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// times draws the completion time of each job under DS and under SpeCon.
func (s *study) times(name string) (*chart.Figure, error) {
	f := chart.New(name, "Completion time, "+s.title, "", "Seconds")
	groups := make([]string, s.schedule.jobs)
	for i := range groups {
		if len(groups) <= 30 || i%5 == 4 { // more names than 30 overlap
			groups[i] = fmt.Sprint(i + 1)
		}
	}
	for i, result := range []*nodesim.Result{s.ds[0], s.with[0][0]} {
		values := make([]float64, len(result.Outcomes))
		for j, o := range result.Outcomes {
			values[j] = o.Time().Seconds()
		}
		if err := f.Bars(groups, i, 2, []string{"DS", "SpeCon"}[i], values); err != nil {
			return nil, err
		}
	}
	return f, nil
}
