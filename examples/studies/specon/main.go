// Command specon repeats the evaluation of SpeCon in its thesis: 20 VAE at a fixed interval, 20, 30
// and 50 random jobs on 4 and 8 workers, under the default scheduler (DS) and under SpeCon; tables
// beside the thesis' numbers, and its figures.
package main

import (
	"context"
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
)

func main() { command.Main("specon", run) }

// options are the flags.
type options struct {
	seeds, noisy int
	interference float64
	out          string
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := command.Flags("specon", stderr)
	flags.IntVar(&o.seeds, "seeds", 50, "how many runs of each schedule, with other random arrivals, models and placements")
	flags.Float64Var(&o.interference, "interference", 0, "loss of a worker's capacity for each job beside the first, in [0, 1]")
	flags.IntVar(&o.noisy, "noisy", 0, "instead: how many random schedules of twenty jobs to play under each noise of the readings")
	command.Out(flags, &o.out)
	if err := command.Parse(flags, args); err != nil {
		return nil, err
	}
	if o.noisy < 0 {
		return nil, command.Misused(flags, "-noisy must not be negative")
	}
	if o.seeds < 1 || !(o.interference >= 0 && o.interference <= 1) {
		return nil, command.Misused(flags, "-seeds must be positive, -interference in [0, 1]")
	}
	return o, nil
}

// run prints the tables to stdout and writes the figures.
func run(_ context.Context, stdout, stderr io.Writer, args []string) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.noisy > 0 {
		return reportNoisy(stdout, stderr, o.noisy)
	}
	studies, err := playAll(o, stderr)
	if err != nil {
		return err
	}
	if err := reportSchedules(stdout, o, studies); err != nil {
		return err
	}
	if err := reportParameters(stdout, studies); err != nil {
		return err
	}
	if err := reportJobs(stdout, studies); err != nil {
		return err
	}
	figures, err := figures(studies)
	if err != nil {
		return err
	}
	return chart.Publish(stdout, o.out, figures)
}
