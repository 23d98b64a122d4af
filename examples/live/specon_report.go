//go:build linux

// This file tells what SpeCon's migrations did: completion times side by side, which job ran where and
// when, jobs on each node.

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/chart"
)

// table prints the completion time of each job under each scheduler, the migrations, and the steps lost and done again.
func (c *contest) table() error {
	var names []string
	var took [][]time.Duration
	migrations, redone, lost := []string{"migrations"}, []string{"steps done again"}, []string{"steps lost"}
	for _, s := range c.plays {
		planned, steps, again := 0, int64(0), int64(0)
		for i := range s.adjustments {
			a := &s.adjustments[i]
			if a.Planned {
				planned++
			}
			steps, again = steps+a.Lost, again+a.Redone
		}
		names, took = append(names, s.name), append(took, s.took)
		migrations, redone, lost = append(migrations, fmt.Sprint(planned)), append(redone, fmt.Sprint(again)), append(lost, fmt.Sprint(steps))
	}
	return harness.PrintTimes(c.stdout, c.jobs, names, took, migrations, redone, lost)
}

// figures draws for each play which job ran where, and how many jobs each node had.
func (c *contest) figures() []*chart.Figure {
	var figures []*chart.Figure
	longest := 0.0
	for _, s := range c.plays {
		longest = max(longest, s.record.Samples[len(s.record.Samples)-1].At.Seconds())
	}
	for _, s := range c.plays {
		file := "specon-" + strings.ReplaceAll(strings.ToLower(s.name), ", ", "-")
		where := chart.New(file+"-where", "Which job ran where: "+s.name, "time (s)", "")
		var rows, labels []string
		for i := range s.record.Jobs {
			rows = append(rows, s.record.Jobs[i].Name)
		}
		for _, n := range nodes {
			labels = append(labels, n.ID)
		}
		where.Spans(rows, labels, s.spans())
		load := chart.New(file+"-load", "Jobs that run on each node: "+s.name, "time (s)", "jobs")
		for w := range nodes {
			load.Steps(w, nodes[w].ID, s.load(w))
		}
		where.XRange(0, longest)
		load.XRange(0, longest)
		figures = append(figures, where, load)
	}
	return figures
}

// on returns the node where a job's processes may run in a sample, -1 if on none.
// A job that is on its way is nowhere.
func on(job *checkpoint.Job) int {
	live := []checkpoint.Phase{checkpoint.Confirming, checkpoint.Running, checkpoint.Saving, checkpoint.Verifying}
	if len(job.Containers) == 0 || !slices.Contains(live, job.Phase) {
		return -1
	}
	return slices.IndexFunc(nodes, func(n apportion.Server) bool { return n.ID == job.Containers[0] })
}

// spans are the stretches of time that each job ran on a node.
// A span ends with the sample in which the job was seen elsewhere, or nowhere.
func (s *show) spans() []chart.Span {
	var spans []chart.Span
	open := map[int]int{} // the last span of each row
	for _, sample := range s.record.Samples {
		at := sample.At.Seconds()
		for row := range sample.List.Jobs {
			where := on(&sample.List.Jobs[row].Job)
			last, ok := open[row]
			if ok {
				spans[last].Until = at
			}
			if ok && spans[last].Series == where {
				continue
			}
			delete(open, row)
			if where >= 0 {
				open[row] = len(spans)
				spans = append(spans, chart.Span{Row: row, Series: where, From: at, Until: at})
			}
		}
	}
	return spans
}

func (s *show) load(node int) plotter.XYs {
	var points plotter.XYs
	for _, sample := range s.record.Samples {
		n := 0
		for i := range sample.List.Jobs {
			if on(&sample.List.Jobs[i].Job) == node {
				n++
			}
		}
		points = append(points, plotter.XY{X: sample.At.Seconds(), Y: float64(n)})
	}
	return points
}
