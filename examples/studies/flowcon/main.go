// Command flowcon repeats the evaluation of FlowCon in its thesis: three jobs on a fixed schedule
// and 5, 10 and 15 random jobs on one worker, without limits (NA) and with FlowCon's, under the
// thesis' test of growth and under ours; tables beside the thesis' numbers, and its figures.
package main

import (
	"context"
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
)

func main() { command.Main("flowcon", run) }

// flags are what the flags say of themselves. By default jobs beside each other lose a twentieth of a worker each, where the tables ask for a loss.
var flags = noisy.Usage{
	Seeds:        "how many random schedules of each size",
	Noisy:        "instead: how many random schedules of ten jobs to play under each noise of the readings",
	Interference: "loss of capacity for each job beside the first, where the tables ask for one; in [0, 1]", Loss: 0.05,
}

// run prints the tables to stdout and writes the figures.
// The context is not looked at: the whole of it takes seconds.
func run(_ context.Context, stdout, stderr io.Writer, args []string) error {
	o, err := flags.Parse("flowcon", args, stderr)
	if err != nil {
		return err
	}
	if o.Noisy > 0 {
		return reportNoisy(stdout, stderr, o.Noisy)
	}
	if err := reportFixed(stdout); err != nil {
		return err
	}
	studies, err := playRandom(o, stderr)
	if err != nil {
		return err
	}
	reportRandom(stdout, o, studies)
	figures, err := figures(studies)
	if err != nil {
		return err
	}
	return chart.Publish(stdout, o.Out, figures...)
}
