// This file answers: why, what would be, and what is free in pieces.

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

// table writes rows whose cells are separated by tabs, aligned, and without spaces at their ends.
func table(w io.Writer, rows ...string) error {
	var text strings.Builder
	aligned := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(aligned, row)
	}
	_ = aligned.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// where says how many pods are on each node.
func where(on map[string]int64) string {
	if len(on) == 0 {
		return "-"
	}
	var parts []string
	for _, node := range slices.Sorted(maps.Keys(on)) {
		parts = append(parts, fmt.Sprintf("%s:%d", node, on[node]))
	}
	return strings.Join(parts, " ")
}

// plan prints what a decision would give everybody.
func (q *query) plan(ctx context.Context, c *cluster, _ string, w io.Writer) error {
	d, err := q.decide(ctx, c)
	if err != nil {
		return err
	}
	rows := []string{"JOB\tHAS\tGETS\tMOST\tWHERE\tWHY NOT MORE"}
	for i := range d.Applications {
		app := &d.Applications[i]
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%s\t%s", app.ID, d.Previous.Containers(app.ID), d.Allocation.Containers(app.ID), app.Max,
			where(d.Allocation[app.ID]), d.why(app.ID)))
	}
	if err := table(w, rows...); err != nil {
		return err
	}
	return d.summary(w)
}

// summary prints how good a decision is, and who is left alone.
func (d *decided) summary(w io.Writer) error {
	for _, id := range slices.Sorted(maps.Keys(d.rejected)) {
		if _, err := fmt.Fprintf(w, "%s is left alone: %s\n", id, d.rejected[id]); err != nil {
			return err
		}
	}
	if d.Reason != nil {
		_, err := fmt.Fprintln(w, "everything stays:", d.Reason.Text)
		return err
	}
	_, err := fmt.Fprintf(w, "objective %.4g of at most %.4g (within %.2g%%), unfairness %.3g of %.3g, %d of %d adjusted\n", d.Objective, d.Bound,
		max(0, 100*d.Gap), d.Metrics.FairnessLoss, d.Metrics.LossBudget, d.Metrics.Adjusted, len(d.Previous))
	return err
}

// explain prints why a Job has what it has.
func (q *query) explain(ctx context.Context, c *cluster, name string, w io.Writer) error {
	id := q.id(name)
	j := c.job(id)
	switch {
	case name == "":
		return fmt.Errorf("explain which Job?")
	case j == nil:
		return fmt.Errorf("there is no Job %s", id)
	case !snapshot.IsElastic(j):
		return fmt.Errorf("job %s is not the controller's: its spec.managedBy is not %s", id, snapshot.Manager)
	}
	d, err := q.decide(ctx, c)
	if err != nil {
		return err
	}
	rows := []string{"job\t" + id, "has\t" + amount(d.Previous, id)}
	for i := range j.Status.Conditions {
		if one := &j.Status.Conditions[i]; one.Type == snapshot.Placed {
			age := c.Now.Sub(one.LastProbeTime.Time).Round(time.Second)
			rows = append(rows, fmt.Sprintf("controller\t%s, %s ago: %s", one.Reason, age, one.Message))
		}
	}
	return table(w, append(rows, d.rowsOf(j, id)...)...)
}

// rowsOf is what a decision says of a Job.
func (d *decided) rowsOf(j *batchv1.Job, id string) []string {
	if text := d.rejected[id]; text != "" {
		return []string{"decision\tit is left alone: " + text}
	}
	at := slices.IndexFunc(d.Applications, func(a alloc.Application) bool { return a.ID == id })
	if at < 0 {
		text := "it is over"
		if j.DeletionTimestamp != nil {
			text = "it is being deleted"
		}
		return []string{"decision\t" + text}
	}
	app, share := &d.Applications[at], &d.Shares[at]
	rows := []string{"decision\t" + amount(d.Allocation, id), fmt.Sprintf("asks for\t%d to %d, weight %.4g, priority %d, queue %s", app.Min, app.Max, app.Weight, app.Priority, app.Queue),
		fmt.Sprintf("share\t%.4g, due %.4g", share.Actual, share.Theoretical)}
	if text := d.why(id); text != "" {
		rows = append(rows, "not more\t"+text)
	}
	return rows
}

// amount is how many pods a job has, and where.
func amount(a alloc.Allocation, id string) string {
	if n := a.Containers(id); n > 0 {
		return fmt.Sprintf("%d: %s", n, where(a[id]))
	}
	return "0"
}

// job finds a Job; nil: there is none.
func (c *cluster) job(id string) *batchv1.Job {
	for _, j := range c.Jobs {
		if snapshot.ID(j.Namespace, j.Name) == id {
			return j
		}
	}
	return nil
}

// gpus is the kind that fragmentation is about unless another is named, and the cluster has any.
const gpus = "nvidia.com/gpu"

// fragmentation prints what is free in pieces, size by size, as far as the size matters.
func (q *query) fragmentation(ctx context.Context, c *cluster, kind string, w io.Writer) error {
	d, err := q.decide(ctx, c)
	if err != nil {
		return err
	}
	if kind == "" {
		kind = d.scarce()
	}
	f, err := alloc.NewFragmentation(d.Problem, kind, d.Previous)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%d of %s are free on open nodes\n", f.Free, kind); err != nil {
		return err
	}
	rows := []string{"SIZE OF A POD\tFIT\tAFTER MOVES\tIN ONE PIECE"}
	for _, one := range f.Fragments {
		if one.Fit < one.Most {
			rows = append(rows, fmt.Sprintf("%d\t%d\t%d\t%d", one.Size, one.Fit, one.Consolidated, one.Most))
		}
	}
	if len(rows) == 1 {
		rows = []string{"pods of every size find all of it"}
	}
	if err := table(w, rows...); err != nil || len(f.Moves) == 0 {
		return err
	}
	_, err = fmt.Fprintln(w, "the moves:", strings.Join(f.Moves, ", "))
	return err
}

// scarce is the kind to ask about: GPUs where there are any, the first one otherwise.
func (d *decided) scarce() string {
	at := slices.Index(d.Kinds, gpus)
	for i := range d.Servers {
		if at >= 0 && d.Servers[i].Capacity[at] > 0 {
			return gpus
		}
	}
	return d.Kinds[0]
}
