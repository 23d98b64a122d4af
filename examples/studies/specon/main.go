// Command specon repeats the evaluation of SpeCon in its thesis: 20 VAE at a fixed interval, 20, 30
// and 50 random jobs on 4 and 8 workers, under the default scheduler (DS) and under SpeCon; tables
// beside the thesis' numbers, and its figures.
package main

import (
	"io"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
)

func main() { command.Main("specon", run) }

// run says what the flags are for. By default a worker is shared without loss.
var run = noisy.Usage{
	Seeds:        "how many runs of each schedule, with other random arrivals, models and placements",
	Noisy:        "instead: how many random schedules of twenty jobs to play under each noise of the readings",
	Interference: "loss of a worker's capacity for each job beside the first, in [0, 1]",
}.Study("specon", play)

// play prints the tables to stdout and writes the figures.
// The whole of it takes seconds.
func play(o *noisy.Options, stdout, stderr io.Writer) error {
	if o.Noisy > 0 {
		return contest(o.Noisy).Report(stdout, stderr)
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
