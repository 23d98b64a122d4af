// This file implements figures with logarithmic axes.

package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Range is a stretch of an axis.
type Range struct{ Low, High float64 }

// Mark is a named place on an axis.
type Mark struct {
	At    float64
	Label string
}

// LogLog makes both axes logarithmic. The ranges, and everything that is drawn, must be positive.
// marks take the place of the powers of ten on the x axis; nil: those.
// It is to be called before anything is drawn.
func (f *Figure) LogLog(x, y Range, marks []Mark) {
	f.plot.X.Scale, f.plot.Y.Scale = plot.LogScale{}, plot.LogScale{}
	f.plot.X.Tick.Marker, f.plot.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	f.XRange(x.Low, x.High)
	f.YRange(y.Low, y.High)
	if marks != nil {
		var ticks plot.ConstantTicks
		for _, m := range marks {
			ticks = append(ticks, plot.Tick{Value: m.At, Label: m.Label})
		}
		f.plot.X.Tick.Marker = ticks
	}
}

// Line joins points and marks each; the series number chooses colour and dashes, and of the shapes the
// one for its place in the legend.
// Points ascend in x.
func (f *Figure) Line(series int, label string, points plotter.XYs) {
	line, scatter, err := plotter.NewLinePoints(points)
	if f.failed(err) {
		return
	}
	line.LineStyle = style(series)
	scatter.GlyphStyle = draw.GlyphStyle{Color: line.Color, Radius: vg.Points(2.8), Shape: shapes[len(f.entries)%len(shapes)]}
	f.add(line)
	f.add(scatter)
	f.entries = append(f.entries, entry{label, marked{line, scatter}})
}

// marked is a line with its points in the legend.
type marked struct {
	*plotter.Line
	scatter *plotter.Scatter
}

// Thumbnail implements plot.Thumbnailer.
func (m marked) Thumbnail(c *draw.Canvas) {
	m.Line.Thumbnail(c)
	m.scatter.Thumbnail(c)
}
