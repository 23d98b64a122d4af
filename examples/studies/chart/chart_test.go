// This file checks what figures are made of.

package chart

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		want      string
	}{
		{0, 24, "0 4 8 12 16 20 24"}, {0, 2.36, "0 0.4 0.8 1.2 1.6 2"}, {-0.5, 8.5, "0 2 4 6 8"},
		{0, 189, "0 40 80 120 160"}, {0, 1.05, "0 0.2 0.4 0.6 0.8 1"}, {0, 8, "0 1 2 3 4 5 6 7 8"},
		{1, 1, ""}, {0, math.Inf(1), ""}, {math.NaN(), 1, ""},
	} {
		must.Equal(t, labels((ticks{}).Ticks(test.low, test.high)), test.want, test.low, "to", test.high)
	}
}

func labels(marks []plot.Tick) string {
	var all []string
	for _, tick := range marks {
		all = append(all, tick.Label)
	}
	return strings.Join(all, " ")
}

// Rows have names, not all where they are many.
func TestRowTicks(t *testing.T) {
	for n, want := range map[int]int{3: 3, 16: 16, 30: 15, 50: 10, 160: 16} {
		f := &Figure{rows: make([]string, n)}
		must.Equal(t, len(f.rowTicks()), want, n, "rows", "names")
	}
}

// Every sort of drawing makes a file of its own, in each format, and a summary.
func TestWrite(t *testing.T) {
	steps, bars, spans := New("steps", "Steps", "x", "y"), New("bars", "Bars", "x", "y"), New("spans", "Spans", "x", "y")
	for i := range 9 { // more than there are colours
		steps.Steps(i, "s", plotter.XYs{{X: 0, Y: 1}, {X: 2, Y: 3}})
	}
	bars.Bars([]string{"a", "b"}, 0, 1, "s", []float64{1, 2})
	points := New("points", "Points", "x", "y")
	points.Points(2, "s", plotter.XYs{{X: 1, Y: 2}})
	points.Note, points.Detail = "grey dots: what is usual", true
	points.XRange(0, 4)
	points.Reference(7)
	spans.Spans([]string{"r"}, []string{"s"}, []Span{{0, 0, 1, 2}, {0, 8, 2, 3}})
	if steps.plot.Y.Max < 3 || spans.plot.X.Max != 3 {
		t.Errorf("axes end at %v and %v, want room for 3", steps.plot.Y.Max, spans.plot.X.Max)
	}
	folder := filepath.Join(t.TempDir(), "new")
	names := must.Have(Write(folder, []*Figure{steps, bars, points, spans}))(t)
	must.Equal(t, len(names), 5, names)
	if points.plot.Y.Max < 7 || points.plot.X.Max != 4 {
		t.Errorf("axes end at %v and %v, want 4 and room for 7", points.plot.X.Max, points.plot.Y.Max)
	}
	files := must.Have(os.ReadDir(folder))(t)
	must.Equal(t, len(files), 10, "files (", ")")
	wrong := New("f", "", "", "")
	wrong.Steps(0, "s", plotter.XYs{{X: math.NaN(), Y: 1}})
	wrong.Steps(0, "s", plotter.XYs{{X: 0, Y: 1}})
	must.Fail(Write(folder, []*Figure{steps, wrong}))(t, must.ErrAny, "no error for a point that is no number")
	must.Err(t, Publish(io.Discard, filepath.Join(folder, "bars.svg"), bars), must.ErrAny, "a folder that is a file")
}
