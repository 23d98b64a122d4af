//go:build linux

// This file tells what limits did to jobs that share a CPU: completion times side by side, CPU usage over
// time as in the thesis' figures 6.5 and 6.6.

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/nodeagent/node"
	"github.com/apportion/apportion/examples/studies/chart"
)

// report prints the completion times, each from the start of its job, and the makespans.
// Both makespans count from the first start.
func (w *worker) report(without, with []*trial) error {
	table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\njob\tframework\tsteps\tstarts\twithout limits\tFlowCon\tchange")
	var sums, last [2]time.Duration
	for i := range w.jobs {
		j := &w.jobs[i]
		times := [2]time.Duration{median(without, i), median(with, i)}
		row(table, fmt.Sprintf("%s\t%s\t%d\t%.0f s", j.Name, j.Framework, j.Steps, j.At.Seconds()), times)
		for k, t := range times {
			sums[k] += t
			last[k] = max(last[k], j.At+t)
		}
	}
	n := time.Duration(len(w.jobs))
	row(table, "mean\t\t\t", [2]time.Duration{sums[0] / n, sums[1] / n})
	row(table, "makespan\t\t\t", last)
	return table.Flush()
}

// median is that of a job's times over the runs.
// Of two it is the later one.
func median(trials []*trial, job int) time.Duration {
	var times []time.Duration
	for _, t := range trials {
		times = append(times, t.times[job])
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// row prints times without and with a policy, and the change.
func row(w io.Writer, title string, times [2]time.Duration) {
	fmt.Fprintf(w, "%s\t%.1f s\t%.1f s\t%+.1f %%\n", title, times[0].Seconds(), times[1].Seconds(),
		100*(times[1].Seconds()/times[0].Seconds()-1))
}

// figures draws the CPU usage of each job without and with limits, the limits, and the losses.
func (w *worker) figures(without, with *trial) ([]*chart.Figure, error) {
	before := chart.New("flowcon-usage-without", "CPU usage without limits", "time (s)", "share of the CPU")
	after := chart.New("flowcon-usage", "CPU usage under FlowCon", "time (s)", "share of the CPU")
	limits := chart.New("flowcon-limits", "Limits under FlowCon", "time (s)", "share of the CPU")
	var errs []error
	for i := range w.jobs {
		name := w.jobs[i].Name
		set := plotter.XYs{}
		for _, s := range of(with.samples, name) {
			set = append(set, plotter.XY{X: s.At.Seconds(), Y: s.Limit})
		}
		errs = append(errs, before.Steps(i, name, usage(of(without.samples, name))), after.Steps(i, name, usage(of(with.samples, name))),
			limits.Steps(i, name, set))
	}
	for _, f := range []*chart.Figure{before, after, limits} {
		f.YRange(0, 1.05)
	}
	return []*chart.Figure{before, after, limits}, errors.Join(errs...)
}

// of returns the samples of one job.
func of(samples []node.Sample, job string) []node.Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s node.Sample) bool { return s.Job != job })
}

// smoothing is the time over which usage is averaged in figures.
const smoothing = 2 * time.Second

// usage is the share of the CPU that a job used over time. It ends at zero.
// A point is the mean of the time until the next.
func usage(samples []node.Sample) plotter.XYs {
	var points plotter.XYs
	last := node.Sample{}
	for i, s := range samples {
		if i == 0 {
			last = s
			points = append(points, plotter.XY{X: s.At.Seconds()})
			continue
		}
		if s.At-last.At < smoothing {
			continue
		}
		points[len(points)-1].Y = float64(s.Used-last.Used) / float64(s.At-last.At)
		points = append(points, plotter.XY{X: s.At.Seconds()})
		last = s
	}
	return points
}
