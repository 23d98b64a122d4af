// This file draws figures 6, 7, 8 and 9(a) of the paper from the runs of a study.

package main

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/apportion/apportion/internal/sim"
)

// The colours of Okabe and Ito, which people with any colour vision can tell apart; lines and
// points also differ in dashes and shape. One for each of policyNames.
var (
	lineStyles = []draw.LineStyle{
		{Color: color.RGBA{213, 94, 0, 255}, Width: vg.Points(2)},
		{Color: color.RGBA{0, 114, 178, 255}, Width: vg.Points(1.5)},
		{Color: color.RGBA{0, 158, 115, 255}, Width: vg.Points(1.5), Dashes: []vg.Length{vg.Points(7), vg.Points(2)}},
		{Color: color.RGBA{50, 50, 50, 255}, Width: vg.Points(1.5), Dashes: []vg.Length{vg.Points(2), vg.Points(2)}},
	}
	shapes         = []draw.GlyphDrawer{nil, draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}}
	referenceStyle = draw.LineStyle{Color: color.Gray{120}, Width: vg.Points(1.1), Dashes: []vg.Length{vg.Points(1), vg.Points(2)}}
)

// figure is one picture: a plot, and what stands above it.
type figure struct {
	name, title string
	// note explains the dotted reference lines; empty: there are none.
	note    string
	plot    *plot.Plot
	entries []entry
}

// entry is a policy in a legend.
type entry struct {
	name  string
	thumb plot.Thumbnailer
}

func newFigure(name, title, x, y string) *figure {
	f := &figure{name: name, title: title, plot: plot.New()}
	f.plot.X.Label.Text, f.plot.Y.Label.Text = x, y
	f.plot.Y.Min, f.plot.Y.Max = 0, 1
	f.plot.Y.Tick.Marker, f.plot.X.Tick.Marker = roundTicks{}, roundTicks{}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{238}, color.Gray{225}
	f.plot.Add(grid)
	return f
}

// figures returns the study's figures. Those over time show its first scenario.
func (s *study) figures() ([]*figure, error) {
	six := newFigure("figure-6", "Resource utilization", "Time (hours)", "Sum over the kinds (1 = all of one kind)")
	seven := newFigure("figure-7", "Fairness loss", "Time (hours)", "Sum of |share - fair share|")
	eight := newFigure("figure-8", "Resource adjustment", "Time (hours)", "Applications adjusted at once")
	sum := newFigure("figure-8-total", "Resource adjustment, added up", "Time (hours)", "Applications adjusted so far")
	nine := newFigure("figure-9a", "Speed-up, all workloads", "", "Times faster than under Swarm")
	for policy := range s.policies {
		if err := s.addSteps(six, policy, total); err != nil {
			return nil, err
		}
		if err := s.addSteps(seven, policy, loss); err != nil {
			return nil, err
		}
		if policy == 0 {
			continue // the baseline adjusts nobody
		}
		if err := s.addPoints(eight, policy); err != nil {
			return nil, err
		}
		sofar := 0.0
		if err := s.addSteps(sum, policy, func(sample *sim.Sample) float64 { sofar += adjusted(sample); return sofar }); err != nil {
			return nil, err
		}
		if err := s.addBars(nine, policy); err != nil {
			return nil, err
		}
	}
	all := []*figure{six, seven, eight, sum, nine}
	for _, f := range []*figure{six, seven, eight, sum} {
		f.plot.X.Min, f.plot.X.Max = 0, s.measured.Hours()
	}
	eight.plot.Y.Min, eight.plot.Y.Max = -0.5, eight.plot.Y.Max+0.5
	nine.plot.NominalX(s.groups()...)
	nine.plot.X.Min, nine.plot.X.Max = -0.5, float64(len(s.groups()))-0.5
	return all, s.addReferences(seven, eight, sum, nine)
}

// addReferences draws the paper's numbers.
func (s *study) addReferences(seven, eight, sum, nine *figure) error {
	if !s.paper {
		return nil
	}
	seven.note = "Grey dots: the paper's largest loss, Dorm-1 1.5 and Dorm-3 0.6"
	eight.note = "Grey dots: the paper's most, 2 under Dorm-2 and Dorm-3"
	sum.note = "Grey dots: the paper's totals, Dorm-2 80 and Dorm-3 76"
	nine.note = "Grey dots: the paper's means over all, 2.72 to 2.79"
	for _, reference := range []struct {
		figure *figure
		y      float64
	}{{seven, 1.5}, {seven, 0.6}, {eight, 2}, {sum, 80}, {sum, 76}, {nine, 2.72}, {nine, 2.79}} {
		p := reference.figure.plot
		line, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: reference.y}, {X: p.X.Max, Y: reference.y}})
		if err != nil {
			return err
		}
		line.LineStyle = referenceStyle
		p.Add(line)
	}
	return nil
}

// addSteps draws a value of a policy's samples in the first scenario as steps.
func (s *study) addSteps(f *figure, policy int, value func(*sim.Sample) float64) error {
	points := plotter.XYs{{X: 0, Y: 0}}
	samples := s.runs[0][policy].Samples
	for i := range samples {
		if samples[i].At < s.measured {
			points = append(points, plotter.XY{X: samples[i].At.Hours(), Y: value(&samples[i])})
		}
	}
	points = append(points, plotter.XY{X: s.measured.Hours(), Y: points[len(points)-1].Y})
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.StepStyle, line.LineStyle = plotter.PostStep, lineStyles[policy]
	f.plot.Add(line)
	f.plot.Y.Max = max(f.plot.Y.Max, 1.05*highest(points))
	f.entries = append(f.entries, entry{s.policies[policy], line})
	return nil
}

func highest(points plotter.XYs) float64 {
	var y float64
	for _, p := range points {
		y = max(y, p.Y)
	}
	return y
}

// pointOffset sets the points of the policies apart, so that equal counts do not hide one another.
const pointOffset = 0.16

// addPoints draws how many applications each decision of a policy adjusted.
func (s *study) addPoints(f *figure, policy int) error {
	var points plotter.XYs
	for i := range s.runs[0][policy].Samples {
		sample := &s.runs[0][policy].Samples[i]
		if sample.At < s.measured {
			points = append(points, plotter.XY{X: sample.At.Hours(), Y: adjusted(sample) + float64(pointOffset*float64(policy-2))})
		}
	}
	if len(points) == 0 {
		return nil
	}
	scatter, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	scatter.GlyphStyle = draw.GlyphStyle{Color: lineStyles[policy].Color, Radius: vg.Points(2.4), Shape: shapes[policy]}
	f.plot.Add(scatter)
	f.entries = append(f.entries, entry{s.policies[policy], scatter})
	return nil
}

// addBars draws, for each group of applications, how many times faster a policy ran them than the
// baseline: the mean over all scenarios.
func (s *study) addBars(f *figure, policy int) error {
	groups := s.groups()
	values := make(plotter.Values, len(groups))
	for g, group := range groups {
		values[g] = s.groupSpeedup(policy, group)
		f.plot.Y.Max = max(f.plot.Y.Max, 1.05*values[g])
	}
	width := vg.Points(10)
	bars, err := plotter.NewBarChart(values, width)
	if err != nil {
		return err
	}
	bars.Color, bars.LineStyle.Width = lineStyles[policy].Color, 0
	bars.Offset = width * vg.Length(policy-2)
	f.plot.Add(bars)
	f.entries = append(f.entries, entry{s.policies[policy], bars})
	return nil
}

// roundTicks labels multiples of 1, 2, 4 or 5 times a power of ten, at most eight of them.
type roundTicks struct{}

// Ticks implements plot.Ticker.
func (roundTicks) Ticks(low, high float64) []plot.Tick {
	if !(high > low) || math.IsInf(high-low, 0) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/8)))
	for _, factor := range []float64{1, 2, 4, 5, 10} {
		if (high-low)/(factor*step) <= 8 {
			step *= factor
			break
		}
	}
	var ticks []plot.Tick
	for n := math.Ceil(low / step); n*step <= high; n++ {
		at := math.Round(n*step*1e9)/1e9 + 0 // without the dust of binary fractions, and without -0
		ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'f', -1, 64)})
	}
	return ticks
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

func (s *study) groupOf(app *sim.App) string {
	if !s.paper {
		return gpus(app.Fixed)
	}
	return modelOf(app)
}

// groupSpeedup returns the mean speed-up of a group, 0 for a group without applications.
func (s *study) groupSpeedup(policy int, group string) float64 {
	var values []float64
	for i, runs := range s.runs {
		for a := range runs[policy].Outcomes {
			o, base := &runs[policy].Outcomes[a], &runs[0].Outcomes[a]
			if o.Completed && base.Completed && (group == everybody || group == s.groupOf(&s.scenarios[i].Apps[a])) {
				values = append(values, appSpeedup(o, base))
			}
		}
	}
	if len(values) == 0 {
		return 0
	}
	return mean(values)
}
