// This file tells how a demonstration went: what changed while it ran, a table at the end, figures.

package main

import (
	"context"
	"fmt"
	"math"
	"text/tabwriter"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/examples/studies/inhouse/train"
)

// curveTolerance bounds what rounding may change in a loss. A step lost or done twice changes losses by
// more than a thousandth.
const curveTolerance = 1e-6

// outcome reads the curve of a job, compares it with an undisturbed one, and counts the runs.
func (d *drive) outcome(ctx context.Context, a *arrival) (*outcome, error) {
	name := a.app.ID
	if err := d.place.Twice(name); err != nil {
		return nil, err
	}
	points, err := master.Curve(d.place.Shared(), name)
	if err != nil {
		return nil, err
	}
	if int64(len(points)) != a.train.Steps {
		return nil, fmt.Errorf("job %q: its curve has %d of %d steps", name, len(points), a.train.Steps)
	}
	o := &outcome{name: name, points: points}
	alone := a.train
	alone.Size, alone.Cost = 1, 0
	alone.Save = func(int64, func(string) error) error { return nil }
	alone.Report = func(step int64, loss float64) error {
		if p := points[step-1]; p.Step != step {
			return fmt.Errorf("job %q: step %d in place of step %d", name, p.Step, step)
		}
		o.off = max(o.off, math.Abs(points[step-1].Value-loss))
		return nil
	}
	if err := train.Run(ctx, alone); err != nil {
		return nil, err
	}
	if !(o.off < curveTolerance) {
		return nil, fmt.Errorf("job %q: its losses differ by up to %g from those of an undisturbed run", name, o.off)
	}
	// An attempt that lived for less than a tenth of a second may not have been seen.
	attempts := map[int64]bool{}
	for _, s := range d.play.Samples {
		for _, v := range s.List.Jobs {
			if v.Job.Name == name && v.Job.Attempt > 0 {
				attempts[v.Job.Attempt] = true
			}
		}
	}
	o.runs = len(attempts)
	return o, nil
}

// report prints a line for each job. Work that was lost or done twice is an error, by the logs of the workers as well as by
// the curves.
func (d *drive) report(ctx context.Context) error {
	if err := d.place.CheckWorkers(d.play.Samples); err != nil {
		return err
	}
	fmt.Fprintln(d.stdout)
	table := tabwriter.NewWriter(d.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "job\tsteps\truns\tfirst loss\tlast loss\toff an undisturbed run by")
	for i := range d.arrivals {
		o, err := d.outcome(ctx, &d.arrivals[i])
		if err != nil {
			return err
		}
		d.outcomes = append(d.outcomes, o)
		fmt.Fprintf(table, "%s\t%d\t%d\t%.3f\t%.3f\t%.1g\n", o.name, len(o.points), o.runs, o.points[0].Value, o.points[len(o.points)-1].Value, o.off)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if d.killed > 0 {
		fmt.Fprintf(d.stdout, "%d programs and processes were killed; no step was lost for good and none counted twice.\n", d.killed)
	}
	return nil
}

func (d *drive) figures() []*chart.Figure {
	containers := chart.New("containers", "Containers of each job", "time (s)", "containers")
	loss := chart.New("loss", "Loss of each job, over all its runs", "step", "loss, mean of 10 steps")
	for i, o := range d.outcomes {
		var held plotter.XYs
		for _, s := range d.play.Samples {
			for _, v := range s.List.Jobs {
				if v.Job.Name == o.name {
					held = append(held, plotter.XY{X: s.At.Seconds(), Y: float64(len(v.Job.Containers))})
				}
			}
		}
		containers.Steps(i, o.name, held)
		loss.Steps(i, o.name, means(o.points, 10))
	}
	return []*chart.Figure{containers, loss}
}

func means(points []master.Point, n int) plotter.XYs {
	var joined plotter.XYs
	for ; len(points) >= n; points = points[n:] {
		sum := 0.0
		for _, p := range points[:n] {
			sum += p.Value
		}
		joined = append(joined, plotter.XY{X: float64(points[0].Step), Y: sum / float64(n)})
	}
	return joined
}
