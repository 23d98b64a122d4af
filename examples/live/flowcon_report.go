//go:build linux

// This file tells what limits did to jobs that share a CPU: completion times side by side, CPU usage over
// time as in the thesis' figures 6.5 and 6.6.

package main

import (
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/nodeagent/node"
	"github.com/apportion/apportion/examples/studies/chart"
)

// report prints the completion times, each from the start of its job, and the makespans.
func (w *worker) report(without, with []*trial) error {
	times := make([][]time.Duration, 2)
	for i := range w.jobs {
		times[0], times[1] = append(times[0], median(without, i)), append(times[1], median(with, i))
	}
	return harness.PrintTimes(w.stdout, w.jobs, []string{"without limits", "FlowCon"}, times)
}

func median(trials []*trial, job int) time.Duration {
	var times []time.Duration
	for _, t := range trials {
		times = append(times, t.times[job])
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// figures draws the CPU usage of each job without and with limits, the limits, and the losses.
func (w *worker) figures(without, with *trial) []*chart.Figure {
	before := chart.New("flowcon-usage-without", "CPU usage without limits", "time (s)", "share of the CPU")
	after := chart.New("flowcon-usage", "CPU usage under FlowCon", "time (s)", "share of the CPU")
	limits := chart.New("flowcon-limits", "Limits under FlowCon", "time (s)", "share of the CPU")
	for i := range w.jobs {
		name := w.jobs[i].Name
		set := plotter.XYs{}
		for _, s := range of(with.samples, name) {
			set = append(set, plotter.XY{X: s.At.Seconds(), Y: s.Limit})
		}
		before.Steps(i, name, usage(of(without.samples, name)))
		after.Steps(i, name, usage(of(with.samples, name)))
		limits.Steps(i, name, set)
	}
	for _, f := range []*chart.Figure{before, after, limits} {
		f.YRange(0, 1.05)
	}
	return []*chart.Figure{before, after, limits}
}

func of(samples []node.Sample, job string) []node.Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s node.Sample) bool { return s.Job != job })
}

// smoothing is the time over which usage is averaged in figures.
const smoothing = 2 * time.Second

// usage is the share of the CPU that a job used over time. It ends at zero.
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
