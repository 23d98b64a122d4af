// This file shows how the embedded solver's time grows with each measure of a problem.

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

// axis is a measure of a problem that grows while the others stay.
type axis struct {
	name, title string
	values      []int
	draw        func(n int, full bool) *solver.Instance
}

var axes = []axis{
	{"servers", "Servers (applications: half as many), Table II", []int{20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000}, func(n int, full bool) *solver.Instance {
		return alloctest.Table2(1, n, n/2, full)
	}},
	{"applications", "Applications, 100 servers, Table II", []int{10, 20, 50, 100, 150, 200}, func(n int, full bool) *solver.Instance {
		return alloctest.Table2(1, 100, n, full)
	}},
	{"kinds", "Kinds, 50 servers, 50 applications, 6 demands", []int{2, 3, 4, 5, 6, 7, 8}, func(n int, full bool) *solver.Instance {
		return alloctest.Sized(1, alloctest.Size{Servers: 50, Apps: 50, Kinds: n, Demands: 6}, full)
	}},
	{"demands", "Different demands, 50 servers, 64 applications, 3 kinds", []int{1, 2, 4, 8, 16, 32, 64}, func(n int, full bool) *solver.Instance {
		return alloctest.Sized(1, alloctest.Size{Servers: 50, Apps: 64, Kinds: 3, Demands: n}, full)
	}},
}

// sample is how the embedded solver did on one instance: the median time of growthRuns, and what it
// allocated in one.
type sample struct {
	n         int
	took      time.Duration
	gap       float64
	megabytes float64
}

// The answer is the same each time; only the clock differs.
const growthRuns = 3

// curve is the samples along an axis, of clusters where nothing runs or of full ones.
type curve struct {
	axis    *axis
	full    bool
	samples []sample
}

// grow measures all curves; each ends with the first sample that takes longer than the limit.
// No curve goes on beyond its limit: the next value would take longer still.
func grow(ctx context.Context, stderr io.Writer, limit time.Duration) ([]curve, error) {
	tick := command.Progress(stderr, 2*len(axes), "solving")
	var all []curve
	for a := range axes {
		for _, full := range []bool{false, true} {
			c := curve{axis: &axes[a], full: full}
			for _, n := range axes[a].values {
				s, err := measureSample(ctx, n, axes[a].draw(n, full))
				if err != nil {
					return nil, err
				}
				if c.samples = append(c.samples, s); s.took > limit {
					break
				}
			}
			all = append(all, c)
			tick()
		}
	}
	return all, nil
}

// The first run warms the caches, and the median leaves it out.
func measureSample(ctx context.Context, n int, inst *solver.Instance) (sample, error) {
	s := sample{n: n}
	var took []time.Duration
	for range growthRuns {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		sol, err := embedded.New(nil).Solve(ctx, inst)
		took = append(took, time.Since(start))
		runtime.ReadMemStats(&after)
		if err != nil {
			return s, err
		}
		if sol.Interrupted {
			return s, context.Cause(ctx)
		}
		// The garbage collector does not lower TotalAlloc.
		s.gap, s.megabytes = sol.Gap(), float64(after.TotalAlloc-before.TotalAlloc)/1e6
	}
	slices.Sort(took)
	s.took = took[growthRuns/2]
	return s, nil
}

func (c *curve) name() string {
	if c.full {
		return "full cluster"
	}
	return "nothing runs yet"
}

// reportGrowth prints a table for each curve.
// A curve that ended early has fewer rows.
func reportGrowth(w io.Writer, curves []curve) error {
	fmt.Fprintf(w, "The embedded solver at its usual effort: median seconds of %d runs, its own gap, and MB allocated in one.\n", growthRuns)
	for i := range curves {
		c := &curves[i]
		fmt.Fprintf(w, "\n%s; %s\n", c.axis.title, c.name())
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, c.axis.name+"\tseconds\tgap\tMB")
		for _, s := range c.samples {
			fmt.Fprintf(table, "%d\t%.3g\t%s\t%.3g\n", s.n, s.took.Seconds(), percent(s.gap), s.megabytes)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// growthFigures returns a figure for each axis.
// Times beyond the axes are drawn at their ends.
func growthFigures(curves []curve) []*chart.Figure {
	var figures []*chart.Figure
	for a := range axes {
		x := &axes[a]
		f := chart.New("growth-"+x.name, x.title, x.name, "Seconds")
		var marks []chart.Mark
		for _, n := range x.values {
			marks = append(marks, chart.Mark{At: float64(n), Label: strconv.Itoa(n)})
		}
		last := marks[len(marks)-1].At
		f.LogLog(chart.Range{Low: 0.8 * marks[0].At, High: 1.3 * last}, chart.Range{Low: 1e-4, High: 10}, marks)
		for i := range curves {
			c := &curves[i]
			if c.axis != x {
				continue
			}
			series := 0
			if c.full {
				series = 1
			}
			var points plotter.XYs
			for _, s := range c.samples {
				points = append(points, plotter.XY{X: float64(s.n), Y: min(max(s.took.Seconds(), 1e-4), 10)})
			}
			f.Line(series, c.name(), points)
		}
		figures = append(figures, f)
	}
	return figures
}
