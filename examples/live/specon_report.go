//go:build linux

// This file tells what SpeCon's migrations did: completion times side by side, which job ran where and
// when, jobs on each node.

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/studies/chart"
)

// table prints the completion time of each job, from its arrival, under each scheduler, with the change
// against the first, the migrations, and the steps lost and done again.
// The plays have the same jobs in the same order.
func (c *contest) table() error {
	fmt.Fprintln(c.stdout, "\nCompletion times (s), and the change against DS:")
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "job\tframework\tsteps")
	for _, s := range c.plays {
		fmt.Fprint(table, "\t", s.name)
	}
	fmt.Fprintln(table)
	means, ends := make([]time.Duration, len(c.plays)), make([]time.Duration, len(c.plays))
	for i := range c.plays[0].record.Jobs {
		job := &c.plays[0].record.Jobs[i]
		times := make([]time.Duration, len(c.plays))
		for k, s := range c.plays {
			times[k] = s.ended[i] - job.At
			means[k] += times[k] / time.Duration(len(s.ended))
			ends[k] = max(ends[k], s.ended[i])
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", job.Name, job.Framework, job.Steps, against(times))
	}
	fmt.Fprintf(table, "mean\t\t\t%s\n", against(means))
	fmt.Fprintf(table, "makespan\t\t\t%s\n", against(ends))
	var migrations, lost, redone []string
	for _, s := range c.plays {
		planned, steps, again := 0, int64(0), int64(0)
		for i := range s.adjustments {
			a := &s.adjustments[i]
			if a.Planned {
				planned++
			}
			steps, again = steps+a.Lost, again+a.Redone
		}
		migrations, lost, redone = append(migrations, fmt.Sprint(planned)), append(lost, fmt.Sprint(steps)), append(redone, fmt.Sprint(again))
	}
	fmt.Fprintf(table, "migrations\t\t\t%s\n", strings.Join(migrations, "\t"))
	fmt.Fprintf(table, "steps done again\t\t\t%s\n", strings.Join(redone, "\t"))
	fmt.Fprintf(table, "steps lost\t\t\t%s\n", strings.Join(lost, "\t"))
	return table.Flush()
}

// against prints times with the change against the first.
// The first has no change beside it.
func against(times []time.Duration) string {
	cells := []string{fmt.Sprintf("%.1f", times[0].Seconds())}
	for _, t := range times[1:] {
		cells = append(cells, fmt.Sprintf("%.1f (%+.1f %%)", t.Seconds(), 100*(t.Seconds()/times[0].Seconds()-1)))
	}
	return strings.Join(cells, "\t")
}

// figures draws for each play which job ran where, and how many jobs each node had.
// All have the same axis, so that they can be laid over one another.
func (c *contest) figures() ([]*chart.Figure, error) {
	var figures []*chart.Figure
	var errs []error
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
		errs = append(errs, where.Spans(rows, labels, s.spans()))
		load := chart.New(file+"-load", "Jobs that run on each node: "+s.name, "time (s)", "jobs")
		for w := range nodes {
			errs = append(errs, load.Steps(w, nodes[w].ID, s.load(w)))
		}
		where.XRange(0, longest)
		load.XRange(0, longest)
		figures = append(figures, where, load)
	}
	return figures, errors.Join(errs...)
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

// load counts the jobs that run on a node over time.
// It is a count at each sample.
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
