// This file checks figures with logarithmic axes.

package chart

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/internal/must"
)

// On logarithmic axes equal factors are equal lengths, marks name places, and what lies above the
// range makes room for itself.
func TestLogLog(t *testing.T) {
	f := New("loglog", "Time against size", "size", "seconds")
	f.LogLog(Range{10, 1000}, Range{0.001, 10}, []Mark{{10, "ten"}, {1000, "thousand"}})
	f.Line(0, "line", plotter.XYs{{X: 10, Y: 0.01}, {X: 1000, Y: 60}})
	f.Reference(80)
	if got := f.plot.X.Norm(100); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("100 is at %v of the way from 10 to 1000, want the middle", got)
	}
	must.Equal(t, labels(f.plot.X.Tick.Marker.Ticks(10, 1000)), "ten thousand", "marks")
	folder := t.TempDir()
	must.Have(Write(folder, []*Figure{f}))(t)
	if f.plot.Y.Max < 80 || f.plot.Y.Min != 0.001 {
		t.Errorf("y from %v to %v", f.plot.Y.Min, f.plot.Y.Max)
	}
	picture, err := os.ReadFile(filepath.Join(folder, "loglog.svg"))
	if err != nil || !bytes.Contains(picture, []byte(">thousand<")) {
		t.Errorf("%v; the picture has no mark", err)
	}
	f.Line(0, "s", plotter.XYs{{X: math.NaN(), Y: 1}})
	must.Fail(Write(folder, []*Figure{f}))(t, must.ErrAny, "no error for a point that is no number")
}
