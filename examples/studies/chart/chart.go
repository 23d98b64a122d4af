// This file implements figures: lines and bars under a title and a legend, as SVG and PNG.

// Package chart draws the figures of the examples.
package chart

import (
	"cmp"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette holds the colours of Okabe and Ito, which people with any colour vision can tell apart,
// without the yellow, which is faint on white. Beyond seven they repeat with dashes.
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{86, 180, 233, 255}, {230, 159, 0, 255}, {50, 50, 50, 255},
}

// The first seven series are drawn solid, the next dashed, then dotted.
var dashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(2)}, {vg.Points(1.5), vg.Points(2)}}

// style returns the style of the i-th thing in a figure.
func style(i int) draw.LineStyle {
	return draw.LineStyle{Color: palette[i%len(palette)], Width: vg.Points(1.7), Dashes: dashes[i/len(palette)%len(dashes)]}
}

// Figure is one picture.
type Figure struct {
	// Note stands below the legend, for instance to say what reference lines are; empty: none.
	Note string
	// Detail keeps the figure out of the summary.
	Detail bool

	name, title string
	plot        *plot.Plot
	entries     []entry
	rows        []string
	references  []float64
	err         error // the first of what could not be drawn
}

// New returns an empty figure; name is the file's, without ending. The axes start at 0. What cannot be drawn is an error of Write.
func New(name, title, x, y string) *Figure {
	f := &Figure{name: name, title: title, plot: plot.New()}
	f.plot.X.Label.Text, f.plot.Y.Label.Text = x, y
	f.plot.X.Tick.Marker, f.plot.Y.Tick.Marker = ticks{}, ticks{}
	f.plot.X.Min, f.plot.Y.Min, f.plot.X.Max, f.plot.Y.Max = 0, 0, 1, 1
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{238}, color.Gray{225}
	f.plot.Add(grid)
	return f
}

// Steps draws values that hold from their x to the next one's; the series number chooses colour and
// dashes.
// Points ascend in x.
func (f *Figure) Steps(series int, label string, points plotter.XYs) {
	line, err := plotter.NewLine(points)
	if f.failed(err) {
		return
	}
	line.StepStyle, line.LineStyle = plotter.PostStep, style(series)
	f.add(line)
	f.entries = append(f.entries, entry{label, line})
}

// failed keeps the first error for Write, and reports whether there is one.
func (f *Figure) failed(err error) bool {
	f.err = cmp.Or(f.err, err)
	return f.err != nil
}

// shapes tell the points of series apart, beside their colours.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.SquareGlyph{}}

// Points draws single values; the series number chooses the colour, and of the shapes the one for
// its place in the legend.
func (f *Figure) Points(series int, label string, points plotter.XYs) {
	scatter, err := plotter.NewScatter(points)
	if f.failed(err) {
		return
	}
	scatter.GlyphStyle = draw.GlyphStyle{Color: style(series).Color, Radius: vg.Points(2.4), Shape: shapes[len(f.entries)%len(shapes)]}
	f.add(scatter)
	f.entries = append(f.entries, entry{label, scatter})
}

// Reference draws a dotted grey line across the figure at y.
func (f *Figure) Reference(y float64) { f.references = append(f.references, y) }

// XRange and YRange set the range of an axis, whatever has been drawn.
func (f *Figure) XRange(low, high float64) { f.plot.X.Min, f.plot.X.Max = low, high }

// YRange is XRange for the other axis.
func (f *Figure) YRange(low, high float64) { f.plot.Y.Min, f.plot.Y.Max = low, high }

// Bars draws a value for each of the groups, beside those of the bars drawn before; the series number
// chooses the colour, of is how many bars each group will have.
// groups must be the same in every call, and not empty.
func (f *Figure) Bars(groups []string, series, of int, label string, values []float64) {
	width := vg.Length(float64(9*vg.Centimeter) / float64(len(groups)*of))
	bars, err := plotter.NewBarChart(plotter.Values(values), width)
	if f.failed(err) {
		return
	}
	bars.Color, bars.LineStyle.Width = palette[series%len(palette)], 0
	bars.Offset = width * vg.Length(float64(len(f.entries))-float64(of-1)/2)
	f.add(bars)
	f.plot.NominalX(groups...)
	f.plot.X.Min, f.plot.X.Max = -0.5, float64(len(groups))-0.5
	f.plot.X.Tick.Label.Rotation, f.plot.X.Tick.Label.XAlign = math.Pi/4, draw.XRight
	f.plot.X.Tick.Label.YAlign = draw.YCenter
	f.entries = append(f.entries, entry{label, bars})
}

// Span is a stretch of time of a row in the colour of a series.
type Span struct {
	Row, Series int
	From, Until float64
}

// Spans draws rows of stretches of time, the first row on top, with a legend entry for each label
// by the number of its series.
// More series than colours are drawn in grey.
func (f *Figure) Spans(rows, labels []string, spans []Span) {
	f.rows = rows
	thick := vg.Length(float64(6*vg.Centimeter) / float64(len(rows)))
	for _, s := range spans {
		y := float64(len(rows) - 1 - s.Row)
		line, err := plotter.NewLine(plotter.XYs{{X: s.From, Y: y}, {X: s.Until, Y: y}})
		if f.failed(err) {
			return
		}
		line.LineStyle = draw.LineStyle{Color: palette[s.Series%len(palette)], Width: thick}
		if s.Series >= len(palette) {
			line.LineStyle.Color = color.Gray{170}
		}
		f.add(line)
	}
	for i, label := range labels {
		swatch := &plotter.Line{LineStyle: style(i)}
		swatch.LineStyle.Width, swatch.LineStyle.Dashes = vg.Points(6), nil
		if i >= len(palette) {
			swatch.LineStyle.Color = color.Gray{170}
		}
		f.entries = append(f.entries, entry{label, swatch})
	}
	f.plot.Y.Min, f.plot.Y.Max = -0.6, float64(len(rows))-0.4
	f.plot.Y.Tick.Marker = plot.ConstantTicks(f.rowTicks())
}

// rowTicks names every row, or every second, fifth or tenth where there are many.
func (f *Figure) rowTicks() []plot.Tick {
	every := 1
	for _, step := range []int{2, 5, 10} {
		if len(f.rows)/every > 16 {
			every = step
		}
	}
	var marks []plot.Tick
	for i := 0; i < len(f.rows); i += every {
		marks = append(marks, plot.Tick{Value: float64(len(f.rows) - 1 - i), Label: f.rows[i]})
	}
	return marks
}

// drawReferences adds the reference lines, once the axes are final.
func (f *Figure) drawReferences() {
	for _, y := range f.references {
		line, err := plotter.NewLine(plotter.XYs{{X: f.plot.X.Min, Y: y}, {X: f.plot.X.Max, Y: y}})
		if f.failed(err) {
			return
		}
		line.LineStyle = draw.LineStyle{Color: color.Gray{120}, Width: vg.Points(1.1), Dashes: []vg.Length{vg.Points(1), vg.Points(2)}}
		f.plot.Add(line)
		f.plot.Y.Max = max(f.plot.Y.Max, 1.05*y)
	}
	f.references = nil
}

// add adds a plotter and makes room for it.
func (f *Figure) add(p plot.Plotter) {
	f.plot.Add(p)
	if ranger, ok := p.(plot.DataRanger); ok {
		_, x, _, y := ranger.DataRange()
		f.plot.X.Max, f.plot.Y.Max = max(f.plot.X.Max, x), max(f.plot.Y.Max, 1.05*y)
	}
}

// ticks labels multiples of 1, 2, 4 or 5 times a power of ten, at most eight of them.
// The library's own ticks are uneven where the range is.
type ticks struct{}

// Ticks implements plot.Ticker.
func (ticks) Ticks(low, high float64) []plot.Tick {
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
	var marks []plot.Tick
	for n := math.Ceil(low / step); n*step <= high; n++ {
		at := math.Round(n*step*1e9)/1e9 + 0 // without the dust of binary fractions, and without -0
		marks = append(marks, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'f', -1, 64)})
	}
	return marks
}
