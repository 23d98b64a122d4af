// This file draws figures 6, 7, 8 and 9(a) of the paper from the runs of a study.

package main

import (
	"fmt"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/placement/sim"
)

// series says how each of policyNames is drawn: in colours of their own, Dorm-2 dashed and Dorm-3
// dotted, because their lines often cover those of Dorm-1.
var series = []int{1, 0, 9, 20}

// figures returns the study's figures. Those over time show its first scenario.
func (s *study) figures() []*chart.Figure {
	six := chart.New("figure-6", "Resource utilization", "Time (hours)", "Sum over the kinds (1 = all of one kind)")
	seven := chart.New("figure-7", "Fairness loss", "Time (hours)", "Sum of |share - fair share|")
	eight := chart.New("figure-8", "Resource adjustment", "Time (hours)", "Applications adjusted at once")
	sum := chart.New("figure-8-total", "Resource adjustment, added up", "Time (hours)", "Applications adjusted so far")
	nine := chart.New("figure-9a", "Speed-up, all workloads", "", "Times faster than under Swarm")
	// Points of several policies lie over one another, which a small picture cannot show.
	eight.Detail = true
	for policy := range s.policies {
		s.addSteps(six, policy, total)
		s.addSteps(seven, policy, loss)
		if policy == 0 {
			continue // the baseline adjusts nobody
		}
		s.addPoints(eight, policy)
		sofar := 0.0
		s.addSteps(sum, policy, func(sample *sim.Sample) float64 { sofar += adjusted(sample); return sofar })
		s.addBars(nine, policy)
	}
	for _, f := range []*chart.Figure{six, seven, eight, sum} {
		f.XRange(0, s.measured.Hours())
	}
	if s.paper {
		addReferences(seven, eight, sum, nine)
	}
	return []*chart.Figure{six, seven, eight, sum, nine}
}

// addReferences draws the paper's numbers.
// The numbers are read off the paper's text, or off its figures where that does not say.
func addReferences(seven, eight, sum, nine *chart.Figure) {
	seven.Note = "Grey dots: the paper's largest loss, Dorm-1 1.5 and Dorm-3 0.6"
	eight.Note = "Grey dots: the paper's most, 2 under Dorm-2 and Dorm-3"
	sum.Note = "Grey dots: the paper's totals, Dorm-2 80 and Dorm-3 76"
	nine.Note = "Grey dots: the paper's means over all, 2.72 to 2.79"
	for _, reference := range []struct {
		figure *chart.Figure
		y      float64
	}{{seven, 1.5}, {seven, 0.6}, {eight, 2}, {sum, 80}, {sum, 76}, {nine, 2.72}, {nine, 2.79}} {
		reference.figure.Reference(reference.y)
	}
}

// addSteps draws a value of a policy's samples in the first scenario as steps.
func (s *study) addSteps(f *chart.Figure, policy int, value func(*sim.Sample) float64) {
	points := plotter.XYs{{X: 0, Y: 0}}
	samples := s.runs[0][policy].Samples
	for i := range samples {
		if samples[i].At < s.measured {
			points = append(points, plotter.XY{X: samples[i].At.Hours(), Y: value(&samples[i])})
		}
	}
	points = append(points, plotter.XY{X: s.measured.Hours(), Y: points[len(points)-1].Y})
	f.Steps(series[policy], s.policies[policy], points)
}

// pointOffset sets the points of the policies apart, so that equal counts do not hide one another.
const pointOffset = 0.16

// addPoints draws how many applications each decision of a policy adjusted.
func (s *study) addPoints(f *chart.Figure, policy int) {
	var points plotter.XYs
	for i := range s.runs[0][policy].Samples {
		sample := &s.runs[0][policy].Samples[i]
		if sample.At < s.measured {
			points = append(points, plotter.XY{X: sample.At.Hours(), Y: adjusted(sample) + float64(pointOffset*float64(policy-2))})
		}
	}
	if len(points) > 0 {
		f.Points(series[policy], s.policies[policy], points)
	}
}

// addBars draws, for each group of applications, how many times faster a policy ran them than the
// baseline: the mean over all scenarios.
// The baseline has no bar: it would be 1 everywhere.
func (s *study) addBars(f *chart.Figure, policy int) {
	groups := s.groups()
	values := make([]float64, len(groups))
	for g, group := range groups {
		values[g] = s.groupSpeedup(policy, group)
	}
	f.Bars(groups, series[policy], len(s.policies)-1, s.policies[policy], values)
}

// everybody is the group of all applications.
const everybody = "all"

// groups names the groups of applications: the models of Table II or, in a trace, the number of
// containers under the baseline; and all of them.
func (s *study) groups() []string {
	if !s.paper {
		return []string{gpus(1), gpus(2), gpus(4), gpus(8), everybody}
	}
	var names []string
	for i := range tableII {
		names = append(names, tableII[i].name)
	}
	return append(names, everybody)
}

func gpus(n int64) string { return fmt.Sprintf("%d GPU", n) }

// An application of the trace whose number is none of the four belongs to no bar but that of all.
func (s *study) groupOf(app *sim.Job) string {
	if !s.paper {
		return gpus(app.Fixed)
	}
	return modelOf(app)
}

// groupSpeedup returns the mean speed-up of a group, 0 for a group without applications.
func (s *study) groupSpeedup(policy int, group string) float64 {
	var values []float64
	for i, runs := range s.runs {
		for a := range runs[policy].Jobs {
			o, base := &runs[policy].Jobs[a], &runs[0].Jobs[a]
			if o.Completed && base.Completed && (group == everybody || group == s.groupOf(&s.scenarios[i].Jobs[a])) {
				values = append(values, appSpeedup(o, base))
			}
		}
	}
	if len(values) == 0 {
		return 0
	}
	return mean(values)
}
