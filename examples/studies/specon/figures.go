// This file draws the thesis' figures 6.16, 6.19 to 6.22 and 6.25.

package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/placement/sim"
)

// figures draws the first run of each study in which DS places jobs at random.
func figures(studies []*study) []*chart.Figure {
	s := find(studies, detailed)
	var all []*chart.Figure
	for _, drawing := range []struct {
		name, policy string
		result       *sim.Result
	}{{"figure-6-21", "DS", s.ds[0]}, {"figure-6-22", "SpeCon", s.with[0][0]}} {
		all = append(all, distribution(drawing.name, "Workload distribution under "+drawing.policy+", "+s.title, s.scenarios[0], drawing.result))
	}
	for _, drawing := range []struct {
		name, policy string
		result       *sim.Result
	}{{"jobs-ds", "DS", s.ds[0]}, {"jobs-specon", "SpeCon", s.with[0][0]}} {
		all = append(all, jobs(drawing.name, "Jobs on each worker under "+drawing.policy, s.workers, drawing.result))
	}
	for _, bars := range [][2]string{{"figure-6-16", "fixed"}, {"figure-6-19", "random-20"}, {"figure-6-20", "random-30"}, {"figure-6-25", "random-50"}} {
		all = append(all, find(studies, bars[1]).times(bars[0]))
	}
	return all
}

// distribution draws on which worker each job ran when.
func distribution(name, title string, scenario *sim.Scenario, result *sim.Result) *chart.Figure {
	rows := make([]string, len(scenario.Jobs))
	for i, job := range scenario.Jobs {
		rows[i] = job.ID
	}
	var spans []chart.Span
	for i := range result.Jobs {
		for s, span := range result.Jobs[i].Spans {
			worker := span.Places[0].Server
			// Spans of one worker are joined: a change of rate is no move.
			if s == 0 || spans[len(spans)-1].Series != worker {
				spans = append(spans, chart.Span{Row: i, Series: worker, From: span.From.Seconds()})
			}
			spans[len(spans)-1].Until = span.Until.Seconds()
		}
	}
	slices.SortStableFunc(spans, func(a, b chart.Span) int { return cmp.Compare(a.From, b.From) })
	f := chart.New(name, title, "Time (seconds)", "")
	f.Spans(rows, workers(len(scenario.Servers)), spans)
	return f
}

// jobs draws how many jobs each worker has over time.
func jobs(name, title string, n int, result *sim.Result) *chart.Figure {
	f := chart.New(name, title, "Time (seconds)", "Jobs")
	at, counts := load(n, result)
	for w, worker := range workers(n) {
		points := make(plotter.XYs, len(at))
		for i, t := range at {
			points[i] = plotter.XY{X: t.Seconds(), Y: counts[w][i]}
		}
		f.Steps(w, worker, points)
	}
	return f
}

// load returns the instants at which anything changes, and how many jobs each worker has from each on.
// counts[w][i] holds from at[i] to at[i+1].
func load(n int, result *sim.Result) (at []time.Duration, counts [][]float64) {
	for i := range result.Jobs {
		for _, span := range result.Jobs[i].Spans {
			at = append(at, span.From, span.Until)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	counts = make([][]float64, n)
	for w := range counts {
		counts[w] = make([]float64, len(at))
	}
	for i := range result.Jobs {
		for _, span := range result.Jobs[i].Spans {
			from, _ := slices.BinarySearch(at, span.From)
			until, _ := slices.BinarySearch(at, span.Until)
			for t := from; t < until; t++ {
				counts[span.Places[0].Server][t]++
			}
		}
	}
	return at, counts
}

// times draws the completion time of each job under DS and under SpeCon.
func (s *study) times(name string) *chart.Figure {
	f := chart.New(name, "Completion time, "+s.title, "", "Seconds")
	groups := make([]string, s.schedule.jobs)
	for i := range groups {
		if len(groups) <= 30 || i%5 == 4 { // more names than 30 overlap
			groups[i] = fmt.Sprint(i + 1)
		}
	}
	for i, result := range []*sim.Result{s.ds[0], s.with[0][0]} {
		values := make([]float64, len(result.Jobs))
		for j := range result.Jobs {
			values[j] = result.Jobs[j].Response().Seconds()
		}
		f.Bars(groups, i, 2, []string{"DS", "SpeCon"}[i], values)
	}
	return f
}
