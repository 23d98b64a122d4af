// This file measures the sharing overhead, [Dorm] Fig. 9(b): the same job undisturbed, and saved, killed
// and resumed twice, at several durations.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// moves is how often the disturbed job is moved, as in the paper.
const moves = 2

// pair are the two servers between which the job moves.
var pair = []apportion.Server{{ID: "left", Capacity: apportion.Resources{1, 1}}, {ID: "right", Capacity: apportion.Resources{1, 1}}}

// It takes twice the sum of the durations.
func overhead(flags *flag.FlagSet) command.Body {
	dir := cluster.Flag(flags, home)
	durations := []int64{5, 10, 20, 40}
	cluster.ResourcesFlag(flags, (*apportion.Resources)(&durations), "seconds", "durations of the job, instead of 5,10,20,40")
	out := flags.String("out", filepath.Join("inhouse", "out"), "folder for the figure")
	return func(ctx context.Context, stdout, stderr io.Writer) error {
		if len(durations) == 0 || slices.Min(durations) < 1 {
			return command.Misused("-seconds: each must be positive")
		}
		if err := os.RemoveAll(string(*dir)); err != nil { // the measurement begins anew
			return err
		}
		measured, err := measure(ctx, *dir, durations, stderr)
		if err != nil {
			return err
		}
		if err := printOverhead(stdout, measured); err != nil {
			return err
		}
		return chart.Publish(stdout, *out, drawOverhead(measured))
	}
}

// times are the completion times of a job, undisturbed and moved.
// Both are from the first step to the end, so that the first start does not count.
type times struct{ alone, moved time.Duration }

func (t times) each() time.Duration { return (t.moved - t.alone) / moves }

func measure(ctx context.Context, p cluster.Place, durations []int64, stderr io.Writer) (measured []times, err error) {
	c, err := cluster.Start(p, programs(p, pair))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if err := c.Await(ctx, pair); err != nil {
		return nil, err
	}
	tick := command.Progress(stderr, 2*len(durations), "jobs")
	for i, seconds := range durations {
		var t times
		if t.alone, err = playOnce(ctx, p, fmt.Sprintf("alone-%d", i), seconds, 0); err != nil {
			return nil, err
		}
		tick()
		if t.moved, err = playOnce(ctx, p, fmt.Sprintf("moved-%d", i), seconds, moves); err != nil {
			return nil, err
		}
		tick()
		measured = append(measured, t)
	}
	return measured, p.CheckWorkers(nil)
}

// playOnce runs a job of about the given duration, moves it a number of times at even steps, and returns
// the time from the first step to the end.
func playOnce(ctx context.Context, p cluster.Place, name string, seconds int64, moves int64) (time.Duration, error) {
	const cost, perStep = time.Millisecond / 2, 32 // a step has 64 samples
	steps := seconds * int64(time.Second) / int64(perStep*time.Millisecond)
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	argv := []string{program, "train", "-model", "network", "-steps", strconv.FormatInt(steps, 10), "-cost", cost.String()}
	app := alloc.Application{ID: name, Weight: 1, Form: alloc.Form{Min: 1, Max: 1, Demand: apportion.Resources{1, 1}}, Start: argv, Resume: argv}
	if err := p.Call(ctx, "/submit", app, &master.Nothing{}); err != nil {
		return 0, err
	}
	var began time.Time
	for moved := int64(0); ; {
		l, err := p.List(ctx)
		if err != nil {
			return 0, err
		}
		// Jobs are listed in the order of submission, and this one is the newest.
		v := l.Jobs[len(l.Jobs)-1]
		switch {
		case v.Job.Ending != "":
			return time.Since(began), nil
		case began.IsZero() && v.Progress.Step > 0:
			began = time.Now()
		case moved < moves && v.Job.Phase == checkpoint.Running && v.Progress.Step > steps*(moved+1)/(moves+1):
			other := pair[0].ID
			if v.Job.Containers[0] == other {
				other = pair[1].ID
			}
			if err := p.Call(ctx, "/move", master.Move{Job: name, Containers: []string{other}}, &master.Nothing{}); err != nil {
				return 0, err
			}
			moved++
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// The last column is what two adjustments of this length would be of a job of three hours, the paper's
// example.
func printOverhead(w io.Writer, measured []times) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "undisturbed (s)\tmoved twice (s)\toverhead (%)\tan adjustment (s)\tat 3 hours (%)\t")
	for _, t := range measured {
		fmt.Fprintf(table, "%.2f\t%.2f\t%.1f\t%.3f\t%.4f\t\n", t.alone.Seconds(), t.moved.Seconds(),
			100*(t.moved-t.alone).Seconds()/t.alone.Seconds(), t.each().Seconds(), 100*moves*t.each().Seconds()/(3*time.Hour).Seconds())
	}
	return table.Flush()
}

// drawOverhead draws a point for each duration.
func drawOverhead(measured []times) *chart.Figure {
	figure := chart.New("overhead", "Sharing overhead: saved, killed and resumed twice", "duration undisturbed (s)", "overhead (%)")
	var points plotter.XYs
	for _, t := range measured {
		points = append(points, plotter.XY{X: t.alone.Seconds(), Y: 100 * (t.moved - t.alone).Seconds() / t.alone.Seconds()})
	}
	figure.Points(0, "one job, two adjustments", points)
	return figure
}
