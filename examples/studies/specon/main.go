// Command specon repeats the evaluation of SpeCon in its thesis: 20 VAE at a fixed interval, 20, 30
// and 50 random jobs on 4 and 8 workers, under the default scheduler (DS) and under SpeCon; tables
// beside the thesis' numbers, and its figures.
package main

import (
	"context"
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
)

func main() { command.Main("specon", run) }

// flags are what the flags say of themselves. By default a worker is shared without loss.
var flags = noisy.Usage{
	Seeds:        "how many runs of each schedule, with other random arrivals, models and placements",
	Noisy:        "instead: how many random schedules of twenty jobs to play under each noise of the readings",
	Interference: "loss of a worker's capacity for each job beside the first, in [0, 1]",
}

// run prints the tables to stdout and writes the figures.
// The context is not looked at: the whole of it takes seconds.
func run(_ context.Context, stdout, stderr io.Writer, args []string) error {
	o, err := flags.Parse("specon", args, stderr)
	if err != nil {
		return err
	}
	if o.Noisy > 0 {
		return reportNoisy(stdout, stderr, o.Noisy)
	}
	studies, err := playAll(o, stderr)
	if err != nil {
		return err
	}
	reportSchedules(stdout, o, studies)
	reportParameters(stdout, studies)
	reportJobs(stdout, studies)
	return chart.Publish(stdout, o.Out, figures(studies)...)
}
