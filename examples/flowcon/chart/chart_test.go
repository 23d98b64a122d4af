// This file checks what figures are made of.

package chart

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot/plotter"
)

func TestTicks(t *testing.T) {
	for _, test := range []struct{ low, high float64 }{{0, 1}, {0, 1400}, {-0.5, 4}} {
		marks := ticks{}.Ticks(test.low, test.high)
		if len(marks) < 3 || len(marks) > 10 {
			t.Fatalf("%v to %v: %d ticks", test.low, test.high, len(marks))
		}
		for i, mark := range marks {
			if mark.Value < test.low || mark.Value > test.high || i > 0 && mark.Value <= marks[i-1].Value {
				t.Errorf("%v to %v: tick at %v", test.low, test.high, mark.Value)
			}
		}
	}
	for _, bad := range [][2]float64{{1, 1}, {0, math.Inf(1)}, {math.NaN(), 1}} {
		if marks := (ticks{}).Ticks(bad[0], bad[1]); marks != nil {
			t.Errorf("%v: ticks %v", bad, marks)
		}
	}
}

// Rows have names, not all where they are many.
func TestRowTicks(t *testing.T) {
	for n, want := range map[int]int{3: 3, 16: 16, 30: 15, 50: 10, 160: 16} {
		f := &Figure{rows: make([]string, n)}
		if got := len(f.rowTicks()); got != want {
			t.Errorf("%d rows: %d names, want %d", n, got, want)
		}
	}
}

// Every sort of drawing makes a file of its own, in each format, and a summary.
func TestWrite(t *testing.T) {
	steps, bars, spans := New("steps", "Steps", "x", "y"), New("bars", "Bars", "x", "y"), New("spans", "Spans", "x", "y")
	for i := range 9 { // more than there are colours
		if err := steps.Steps(i, "s", plotter.XYs{{X: 0, Y: 1}, {X: 2, Y: 3}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := bars.Bars([]string{"a", "b"}, 0, 1, "s", []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := spans.Spans([]string{"r"}, []string{"s"}, []Span{{0, 0, 1, 2}, {0, 8, 2, 3}}); err != nil {
		t.Fatal(err)
	}
	if steps.plot.Y.Max < 3 || spans.plot.X.Max != 3 {
		t.Errorf("axes end at %v and %v, want room for 3", steps.plot.Y.Max, spans.plot.X.Max)
	}
	folder := filepath.Join(t.TempDir(), "new")
	names, err := Write(folder, []*Figure{steps, bars, spans})
	if err != nil || len(names) != 4 {
		t.Fatalf("%v, %v; want 4 names", names, err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 8 {
		t.Errorf("%d files (%v), want 8", len(files), err)
	}
	if err := New("f", "", "", "").Steps(0, "s", plotter.XYs{{X: math.NaN(), Y: 1}}); err == nil {
		t.Error("no error for a point that is no number")
	}
}
